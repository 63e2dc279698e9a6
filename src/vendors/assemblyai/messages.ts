// What AssemblyAI's service sends, by HTTP and on its sockets: built here for the gateway's own clients of AssemblyAI, and for the
// simulator. https://www.assemblyai.com/docs/api-reference/streaming-api/streaming-api
import { speakerLetter } from '../../api/transcriptions.ts';
import type { JsonObject } from '../kit/json.ts';

export const letterOf = (speaker: number | undefined): string | undefined =>
  speaker === undefined ? undefined : speakerLetter(speaker);

/** A word, or a part of a transcript. Times are milliseconds. */
export interface Placed {
  text: string;
  start: number;
  end: number;
  confidence: number;
  speaker?: string | null;
}

export const begin = (id: string, openedMs: number, limitSeconds: number, model: string) => ({
  type: 'Begin',
  id,
  expires_at: Math.floor(openedMs / 1_000 + limitSeconds),
  configuration: { model },
});

export const speechStarted = (timestamp: number) => ({ type: 'SpeechStarted', timestamp });

/** @param words with `word_is_final` */
export const turnMessage = (
  order: number,
  transcript: string,
  words: readonly (Placed & { word_is_final: boolean })[],
  { isEnd, isFormatted, endConfidence }: { isEnd: boolean; isFormatted: boolean; endConfidence: number },
  more: object,
) => ({
  type: 'Turn',
  turn_order: order,
  turn_is_formatted: isFormatted,
  end_of_turn: isEnd,
  transcript,
  utterance: isEnd ? transcript : '',
  end_of_turn_confidence: endConfidence,
  words,
  ...more,
});

export const termination = (audioSeconds: number, openMs: number) => ({
  type: 'Termination',
  audio_duration_seconds: Math.round(audioSeconds),
  session_duration_seconds: Math.round(openMs / 1_000),
});

export const errorMessage = (error_code: number, error: string) => ({ type: 'Error', error_code, error });

/** A transcript that was requested. Its members are there from the beginning: clients read them. */
export const transcriptMessage = (id: string, asked: JsonObject, status: string, more: JsonObject): JsonObject => ({
  ...asked,
  id,
  status,
  ...{ text: null, words: null, utterances: null, confidence: null, audio_duration: null },
  ...more,
});

export const deleted = (transcript: JsonObject): JsonObject => ({
  ...transcript,
  text: 'Deleted by user.',
  words: null,
  utterances: null,
});

/** What a completed transcript has: words, and utterances where speakers were requested. */
export const completed = (
  { text, words, confidence, seconds }: { text: string; words: readonly Placed[]; confidence: number; seconds: number },
  utterances: readonly (Placed & { words: readonly Placed[] })[] | undefined,
) => ({
  text,
  words,
  utterances: utterances ?? null,
  confidence,
  audio_duration: Math.round(seconds),
});
