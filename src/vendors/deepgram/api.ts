// Where Deepgram is reached, what both live protocols want of their time, and how words are read.
import type { Utterance, Word } from '../../../machines/events.ts';
import { keyCheck, providerApi } from '../kit/api.ts';
import { fractionIn, type JsonObject, listIn, objectIn, textIn, timeOr } from '../kit/json.ts';
import { oneSpeaker, utteranceOf, wordOf } from '../kit/words.ts';

/** They take every key: https://developers.deepgram.com/reference/regional-endpoints */
export const ENDPOINTS = { names: ['eu', 'au', 'in'], oneKey: true } as const;

export const api = providerApi({
  url: ({ fields }) => `https://api.${fields?.region === undefined ? '' : `${fields.region}.`}deepgram.com`,
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

/**
 * The words of a list, formatted where there is a formatted version; undefined when there are none or one has no times. One whose
 * times are no numbers stands where the one before it ended.
 */
export function wordsIn(value: unknown, place: Place, speakerOf: SpeakerOf = () => undefined): Word[] | undefined {
  const words: Word[] = [];
  let lastEnd = 0;
  for (const item of listIn(value)) {
    const members = objectIn(item);
    const text = textIn(members.punctuated_word) ?? textIn(members.word);
    const start = timeOr(members.start, lastEnd);
    const end = timeOr(members.end, start ?? lastEnd);
    if (text === undefined || start === undefined || end === undefined) return undefined;
    const confidence = fractionIn(members.confidence);
    lastEnd = Math.max(start, end);
    words.push(wordOf(text, place(start), place(lastEnd), confidence, speakerOf(members.speaker)));
  }
  return words.length === 0 ? undefined : words;
}

/** The language of most of the words; the list of all that were heard is in no order that can be relied on. */
export function languageOf({ words, languages }: JsonObject): string | undefined {
  const counts = new Map<string, number>();
  for (const word of listIn(words)) {
    const language = textIn(objectIn(word).language);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0] ?? textIn(listIn(languages)[0]);
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
