// Where Deepgram is reached, what both live protocols want of their time, and how words are read.
import type { Utterance, Word } from '../../../machines/events.ts';
import { keyCheck, providerApi } from '../kit/api.ts';
import { fractionIn, listIn, objectIn, textIn, timeIn } from '../kit/json.ts';
import { oneSpeaker, utteranceOf, wordOf } from '../kit/words.ts';

export const api = providerApi({
  url: 'https://api.deepgram.com',
  headers: (credential) => ({ authorization: `Token ${credential}` }),
});

/** It tells what a key is to whoever has it: https://developers.deepgram.com/guides/fundamentals/authenticating */
export const credentialCheck = keyCheck(api, '/v1/auth/token');

/** What Flux documents nothing of its own for is taken from `/v1/listen`. */
export const TIMING = {
  // https://developers.deepgram.com/docs/stt-troubleshooting-websocket-data-and-net-errors: 1.25 times real time.
  speedMax: 1.25,
  drainMs: 8_000,
} as const;

/** A time of the provider as the reader wants it; the number of a word's speaker, where the word names one. */
type Place = (seconds: number) => number;
type SpeakerOf = (label: unknown) => number | undefined;

/** The words of a list, formatted where there is a formatted version; undefined when there are none or one has no times. */
export function wordsIn(value: unknown, place: Place, speakerOf: SpeakerOf = () => undefined): Word[] | undefined {
  const words: Word[] = [];
  for (const item of listIn(value)) {
    const members = objectIn(item);
    const text = textIn(members.punctuated_word) ?? textIn(members.word);
    const start = timeIn(members.start);
    const end = timeIn(members.end);
    if (text === undefined || start === undefined || end === undefined) return undefined;
    const confidence = fractionIn(members.confidence);
    words.push(wordOf(text, place(start), place(Math.max(start, end)), confidence, speakerOf(members.speaker)));
  }
  return words.length === 0 ? undefined : words;
}

/** An utterance begins with its first word, where words have times; it has a speaker where all its words have the same. */
export const heardOf = (
  text: string,
  { start, end }: { start: number; end: number },
  words: Word[] | undefined,
  { confidence, language }: { confidence?: number | undefined; language?: string | undefined },
): Utterance =>
  utteranceOf(text, Math.min(end, Math.max(start, words?.[0]?.start ?? start)), end, {
    confidence,
    language,
    words,
    speaker: oneSpeaker(words),
  });
