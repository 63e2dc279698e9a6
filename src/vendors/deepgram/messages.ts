// What Deepgram's service sends, by HTTP and on its sockets: built here for the gateway's own clients of Deepgram, and for the simulator.
// https://developers.deepgram.com/reference
import type { Word } from '../../../machines/events.ts';
import { bareWord } from '../kit/words.ts';

/** A word; `word` is bare, `punctuated_word` as it is written. */
const wordOf = ({ word, start, end, confidence = 1, speaker }: Word) => ({
  word: bareWord(word),
  start,
  end,
  confidence,
  punctuated_word: word,
  ...(speaker === undefined ? {} : { speaker }),
});

export const alternativeOf = (transcript: string, confidence: number, words: readonly Word[]) => ({
  transcript,
  confidence: transcript === '' ? 0 : confidence,
  words: words.map(wordOf),
});

/** No checksum is made of the audio. */
export const metadataOf = (requestId: string, at: Date, seconds: number, channels = 1) => ({
  transaction_key: 'deprecated',
  request_id: requestId,
  sha256: '',
  created: at.toISOString(),
  duration: seconds,
  channels,
});

type ChannelIndex = readonly [channel: number, channels: number];

/** A window of text of `/v1/listen`. */
export const resultsMessage = (
  { requestId, name, arch }: { requestId: string; name: string; arch: string },
  channelIndex: ChannelIndex,
  { start, duration }: { start: number; duration: number },
  flags: object,
  alternative: object,
) => ({
  type: 'Results',
  channel_index: channelIndex,
  start,
  duration,
  is_final: false,
  speech_final: false,
  from_finalize: false,
  ...flags,
  channel: { alternatives: [alternative] },
  metadata: { request_id: requestId, model_uuid: name, model_info: { name, version: '', arch } },
});

export const speechStarted = (channel: ChannelIndex, timestamp: number) => ({
  type: 'SpeechStarted',
  channel,
  timestamp,
});

export const utteranceEnd = (channel: ChannelIndex, lastWordEnd: number) => ({
  type: 'UtteranceEnd',
  channel,
  last_word_end: lastWordEnd,
});

/** An event of a turn of Flux. */
export const turnInfo = (
  event: string,
  turn: number,
  window: { start: number; end: number },
  { transcript, words }: { transcript: string; words: readonly Word[] },
  endConfidence: number,
  more: object,
) => ({
  type: 'TurnInfo',
  event,
  turn_index: turn,
  audio_window_start: window.start,
  audio_window_end: window.end,
  transcript,
  words: words.map(({ word, start, end, confidence = 1 }) => ({ word, confidence, start, end })),
  end_of_turn_confidence: endConfidence,
  ...more,
});

/** Messages of Flux are numbered. */
export const numbered = (message: object, requestId: string, sequence: number) => ({
  ...message,
  request_id: requestId,
  sequence_id: sequence,
});

/** A turn of a file. */
export const utteranceOf = (
  id: string,
  { start, end, speaker }: { start: number; end: number; speaker?: number },
  { transcript, confidence, words }: ReturnType<typeof alternativeOf>,
) => ({
  ...{ start, end, confidence, channel: 0, transcript, words },
  ...(speaker === undefined ? {} : { speaker }),
  id,
});

/** The transcript of a file. */
export const fileAnswer = (
  metadata: ReturnType<typeof metadataOf>,
  model: string,
  channel: object,
  more: { metadata?: object; results?: object } = {},
) => ({
  metadata: {
    ...metadata,
    models: [model],
    model_info: { [model]: { name: model, version: '', arch: model } },
    ...more.metadata,
  },
  results: { channels: [channel], ...more.results },
});

/** By status; requests that are refused with another one are answered in Deepgram's older form. */
const CATEGORIES: Readonly<Record<number, string>> = {
  401: 'INVALID_AUTH',
  402: 'ASR_PAYMENT_REQUIRED',
  403: 'INSUFFICIENT_PERMISSIONS',
  429: 'TOO_MANY_REQUESTS',
};
const NAMES: Readonly<Record<number, string>> = { 400: 'Bad Request', 404: 'Not Found', 413: 'Payload Too Large' };

/** @param code in the place of a name of the status; a status without both is answered in plain text */
export function refusalOf(status: number, message: string, requestId: string, code?: string) {
  const category = CATEGORIES[status];
  const errCode = NAMES[status] ?? code;
  const body =
    category !== undefined
      ? { category, message, details: message, request_id: requestId }
      : errCode !== undefined
        ? { err_code: errCode, err_msg: message, request_id: requestId }
        : message;
  const dgError = message.replace(/[^\x20-\x7e]/g, '?').slice(0, 256);
  return { status, headers: { 'dg-request-id': requestId, 'dg-error': dgError }, body };
}
