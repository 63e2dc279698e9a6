// What is said to the recogniser and what it says: per stream (as the codec of providers/local reads it) and per thread.

/** A language of the models inside the package. */
export type Language = 'en' | 'fr';

/** Samples a second of every stream: 16-bit linear, mono, little-endian. */
export const SAMPLE_RATE = 16_000;

/** What a stream is opened with: what may be said, either by a JSGF grammar or word for word. */
export interface StreamQuery {
  language: Language;
  task: { kind: 'grammar' | 'align'; text: string };
  interims: boolean;
}

/** A text command on a stream. `finalize` ends the turn now; `finish` ends the stream once all is said. */
export type StreamCommand = { type: 'finalize' } | { type: 'finish' };

/** One word with its times in seconds and how well the sound fits it, 0 to 1. */
export interface HeardWord {
  word: string;
  start: number;
  end: number;
  confidence: number;
}

/**
 * What a stream says. Times are seconds from its first sample. Per turn: any number of `interim`, then one `final`, or one
 * `no_match` where nothing that was allowed was heard. `finished` is the last message.
 */
export type StreamMessage =
  | { type: 'ready' }
  | { type: 'speech_started'; start: number }
  | { type: 'interim'; turn: number; text: string; start: number; end: number }
  | { type: 'final'; turn: number; text: string; start: number; end: number; confidence: number; words: HeardWord[] }
  | { type: 'no_match'; turn: number; start: number; end: number }
  | { type: 'finished' }
  | { type: 'error'; code: StreamErrorCode; message: string };

export type StreamErrorCode =
  | 'invalid_query'
  | 'invalid_grammar'
  | 'invalid_align_text'
  | 'recogniser_overloaded'
  | 'recogniser_queue_full'
  | 'recogniser_failed';

/** What is wrong with a query: the member of `provider_params` at fault and a sentence. */
export interface QueryFault {
  param: string;
  message: string;
}

/** To a worker thread. */
export type WorkerRequest =
  | { type: 'open'; stream: number; query: StreamQuery }
  | { type: 'audio'; stream: number; bytes: Uint8Array }
  | { type: 'command'; stream: number; command: StreamCommand }
  | { type: 'drop'; stream: number }
  | { type: 'check'; check: number; query: StreamQuery };

/** From a worker thread. `worked` returns the bytes that were decoded; `ended` is the last of a stream. */
export type WorkerReply =
  | { type: 'said'; stream: number; message: StreamMessage }
  | { type: 'worked'; stream: number; bytes: number }
  | { type: 'ended'; stream: number }
  | { type: 'checked'; check: number; fault: QueryFault | undefined };
