// Where Cartesia is reached, and how words are read, live and for files.
import type { Word } from '../../../machines/events.ts';
import { keyCheck, providerApi } from '../kit/api.ts';
import { listIn, objectIn, textIn, timeIn } from '../kit/json.ts';
import { wordOf } from '../kit/words.ts';

/** Its errors are JSON from this version on: https://docs.cartesia.ai/use-the-api/api-errors */
const VERSION = '2026-03-01';

export const api = providerApi({
  url: 'https://api.cartesia.ai',
  headers: (credential) => ({ authorization: `Bearer ${credential}`, 'cartesia-version': VERSION }),
});

/** It lists the voices to whoever has the key: https://docs.cartesia.ai/api-reference/voices/list */
export const credentialCheck = keyCheck(api, '/voices', { limit: 1 });

/** Words without spaces; undefined where there are none, or one has no times. */
export function wordsIn(value: unknown, place: (seconds: number) => number): Word[] | undefined {
  const words: Word[] = [];
  for (const item of listIn(value)) {
    const { word, start: from, end: until } = objectIn(item);
    const [text, start, end] = [textIn(word)?.trim(), timeIn(from), timeIn(until)];
    if (text === undefined || start === undefined || end === undefined) return undefined;
    words.push(wordOf(text, place(start), place(Math.max(start, end))));
  }
  return words.length === 0 ? undefined : words;
}
