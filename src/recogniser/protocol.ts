// The messages of a stream, as the codec of `vendors/local` and the speech gate read them, and of the worker that runs it: a thread for
// grammars, a child process for dictation and for voices.

/** A language of the grammar models inside the package. */
export type Language = 'en' | 'fr';

/** Samples a second of every stream: 16-bit linear, mono, little-endian. */
export const SAMPLE_RATE = 16_000;

/** What may be said on a stream: what a JSGF grammar allows, or a known text word for word. */
export interface Task {
  kind: 'grammar' | 'align';
  text: string;
  /** One of the gateway's own grammars, which need no check. */
  builtIn: boolean;
}

/** Anything may be said. */
interface DictationTask {
  kind: 'dictation';
  /** The name of the model: `dictation-en`, or a folder of the operator's. */
  model: string;
  /** Silence that ends a turn. */
  endpointingMs: number;
  /** For a model that knows several languages: the one that is spoken, where it is known. */
  language: string | undefined;
}

/** Reports where voices are, and no words. `finalize` requests a report at once. */
interface VoiceTask {
  kind: 'voice';
}

/** What a stream of grammars is opened with. */
export interface GrammarQuery {
  language: Language;
  task: Task;
  interims: boolean;
}

/** What a stream of dictation is opened with. */
export interface DictationQuery {
  task: DictationTask;
  interims: boolean;
  /** Of the audio, where it is not `SAMPLE_RATE`. */
  sampleRate?: number;
}

/** What a stream of voices is opened with. */
export interface VoiceQuery {
  task: VoiceTask;
}

export type StreamQuery = GrammarQuery | DictationQuery | VoiceQuery;

/** A text command on a stream. `finalize` ends the turn now; `finish` ends the stream once all is said. */
export interface StreamCommand {
  type: 'finalize' | 'finish';
}

/** One word with its times in seconds and how well the sound fits it, 0 to 1, where the engine says so. */
export interface HeardWord {
  word: string;
  start: number;
  end: number;
  confidence?: number;
}

/**
 * Where voices are: `until` is the position up to which the audio was processed, `ranges` are those found since the last message. Sent
 * when a voice begins or ends, after each half second of audio, on `finalize`, and at the end.
 */
export interface VoiceMessage {
  type: 'voice';
  until: number;
  ranges: [start: number, end: number][];
}

/**
 * What a stream says. Times are seconds from its first sample. Per turn: any number of `interim`, then one `final`, or one
 * `no_match` where nothing that was allowed was heard. `finished` is the last message. `estimated`: the times of the words are.
 */
export type StreamMessage =
  | { type: 'ready' }
  | { type: 'speech_started'; start: number }
  | { type: 'interim'; turn: number; text: string; start: number; end: number }
  | {
      type: 'final';
      turn: number;
      text: string;
      start: number;
      end: number;
      confidence?: number;
      words: HeardWord[];
      estimated?: true;
    }
  | { type: 'no_match'; turn: number; start: number; end: number }
  | { type: 'finished' }
  | VoiceMessage
  | { type: 'warning'; code: 'recogniser_slowed'; message: string }
  | { type: 'error'; code: StreamErrorCode; message: string };

export type StreamErrorCode =
  | 'invalid_query'
  | 'invalid_grammar'
  | 'invalid_align_text'
  | 'recogniser_overloaded'
  | 'recogniser_share_used'
  | 'recogniser_queue_full'
  | 'model_unavailable'
  | 'recogniser_failed';

/** What is wrong with a task: the member of `provider_params` at fault and a sentence. */
export interface QueryFault {
  param: 'grammar' | 'align_text';
  message: string;
}

/** To a worker. Each but `drop` is answered once, by `opened`, `worked` or `checked`, however it ended. */
export type WorkerRequest =
  | { type: 'open'; stream: number; query: StreamQuery; organisation: string | undefined }
  | { type: 'audio'; stream: number; bytes: Uint8Array<ArrayBuffer> }
  | { type: 'command'; stream: number; command: StreamCommand }
  | { type: 'drop'; stream: number }
  | { type: 'check'; check: number; query: StreamQuery };

/**
 * From a worker. `worked` gives back what the request took of the stream's queue; `ended` or `failed` is the last of a stream. `ms` is
 * how long the worker was busy with the request. `memoryBytes` is the most that a process has had. While a stream is `held`, it is sent no more audio.
 */
export type WorkerReply =
  | { type: 'said'; stream: number; message: StreamMessage }
  | { type: 'held'; stream: number; held: boolean }
  | { type: 'opened'; stream: number; ms: number }
  | { type: 'worked'; stream: number; bytes: number; ms: number }
  | { type: 'ended'; stream: number; memoryBytes?: number }
  | { type: 'failed'; stream: number; message: string }
  | { type: 'checked'; check: number; fault: QueryFault | undefined; ms: number };

/** What a command takes of a stream's queue, so that commands are bounded with the audio. */
export const COMMAND_BYTES = 64;

/** Audio that is worked on in one piece: half a second. Between two pieces it may be another's turn. */
export const PIECE_BYTES = 16_000;

/** Whether a frame is a command of a stream. */
export function isCommand(frame: unknown): frame is StreamCommand {
  if (typeof frame !== 'object' || frame === null) return false;
  const { type } = frame as Readonly<Record<string, unknown>>;
  return type === 'finalize' || type === 'finish';
}

/** The member of `provider_params` that a task came from. */
export function paramOf({ kind }: StreamQuery['task']): QueryFault['param'] {
  return kind === 'align' ? 'align_text' : 'grammar';
}

/** Reads what `connect` and `check` of an engine are given. Undefined where it is not a query of this recogniser. */
export function readQuery(query: Readonly<Record<string, unknown>>): StreamQuery | undefined {
  const { language, interims, task, sampleRate } = query;
  if (typeof task !== 'object' || task === null) return undefined;
  if ((task as Readonly<Record<string, unknown>>).kind === 'voice') return { task: { kind: 'voice' } };
  if (typeof interims !== 'boolean') return undefined;
  const dictation = readDictation(task);
  if (dictation !== undefined) {
    return { task: dictation, interims, ...(typeof sampleRate === 'number' ? { sampleRate } : {}) };
  }
  const grammar = readTask(task);
  if (grammar === undefined || (language !== 'en' && language !== 'fr')) return undefined;
  return { language, task: grammar, interims };
}

function readDictation(value: object): DictationTask | undefined {
  const { kind, model, endpointingMs, language } = value as Readonly<Record<string, unknown>>;
  if (kind !== 'dictation' || typeof model !== 'string' || typeof endpointingMs !== 'number') return undefined;
  return { kind, model, endpointingMs, language: typeof language === 'string' ? language : undefined };
}

function readTask(value: object): Task | undefined {
  const { kind, text, builtIn } = value as Readonly<Record<string, unknown>>;
  if ((kind !== 'grammar' && kind !== 'align') || typeof text !== 'string' || typeof builtIn !== 'boolean') {
    return undefined;
  }
  return { kind, text, builtIn };
}
