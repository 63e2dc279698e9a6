// What Gladia's service sends, by HTTP and on its sockets: built here for the gateway's own clients of Gladia, and for the simulator.
// https://docs.gladia.io/api-reference/v2/live/init
import type { Word } from '../../../machines/events.ts';
import type { JsonObject } from '../kit/json.ts';

export interface Utterance {
  text: string;
  language: string;
}

/** Words bring their own spaces. */
export const utteranceMessage = (
  { text, start, end, language }: Utterance & { start: number; end: number },
  confidence: number,
  channel: number,
  words: readonly Word[],
  speaker: number | undefined,
) => ({
  ...{ text, start, end, language, confidence, channel },
  ...(speaker === undefined ? {} : { speaker }),
  words: words.map(({ word, start, end, confidence = 1 }, index) => ({
    ...{ word: index === 0 ? word : ` ${word}`, start, end, confidence },
  })),
});

/** A message of a live session. */
export const message = (
  { id, createdAt }: { id: string; createdAt: string },
  type: string,
  data?: object,
  more: object = {},
) => ({
  ...{ session_id: id, created_at: createdAt, type },
  ...more,
  ...(data === undefined ? {} : { data }),
});

/** What stands beside the type of a message that was taken. */
export const ACKNOWLEDGED = { acknowledged: true, error: null };

/** Where a chunk of audio lies. @param rate bytes of a second */
export const chunkData = (from: number, until: number, rate: number) => ({
  byte_range: [from, until],
  time_range: [from / rate, until / rate],
});

export const stopData = (seconds: number) => ({ recording_duration: seconds, recording_left_to_process: 0 });

export const transcriptData = (channel: number, turn: number, isFinal: boolean, utterance: object) => ({
  id: `${String(channel).padStart(2, '0')}_${String(turn).padStart(8, '0')}`,
  is_final: isFinal,
  utterance,
});

export const metadataMessage = (seconds: number, channels: number, billed: number, transcriptionSeconds: number) => ({
  audio_duration: seconds,
  number_of_distinct_channels: channels,
  billing_time: billed,
  transcription_time: transcriptionSeconds,
});

export const transcriptionMessage = <Told extends Utterance>(text: string, utterances: readonly Told[]) => ({
  full_transcript: text,
  languages: [...new Set(utterances.map(({ language }) => language))].filter((each) => each !== ''),
  utterances,
});

/** A file that was uploaded. Clients require all members. */
export const fileMessage = (id: string, filename: string, size: number, seconds: number, channels: number) => ({
  ...{ id, filename, extension: /\.(\w{1,8})$/.exec(filename)?.[1] ?? '', size },
  ...{ audio_duration: seconds, number_of_channels: channels },
});

/** A job for a file, or a live session, that is requested later. */
export const jobMessage = (
  { id, kind, status }: { id: string; kind: 'pre-recorded' | 'live'; status: string },
  { createdAt, endedAt }: { createdAt: Date; endedAt: Date | undefined },
  file: object | null,
  { request_params, ...more }: { request_params: JsonObject; custom_metadata?: unknown },
  failure: { status: number; message: string } | undefined,
  result: object | null,
): JsonObject => ({
  ...{ id, request_id: id, version: 2, kind, status, file },
  ...{ created_at: createdAt.toISOString(), completed_at: endedAt?.toISOString() ?? null, request_params },
  ...more,
  error_code: failure?.status ?? null,
  ...(failure === undefined ? {} : { error_message: failure.message }),
  result,
});

/** The answer to a request that is refused. */
export const refusalBody = (status: number, message: string, requestId: string, more: object = {}) => ({
  ...{ statusCode: status, message, request_id: requestId },
  ...more,
});

/** A member of a request that is wrong. */
export const validationError = (member: string, fault: string) => ({ validation_errors: [`${member}: ${fault}`] });
