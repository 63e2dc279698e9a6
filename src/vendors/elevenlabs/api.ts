// Where ElevenLabs is reached, and how words are read, live and for files.
import type { Word } from '../../../machines/events.ts';
import { keyCheck, providerApi } from '../kit/api.ts';
import { type JsonObject, listIn, objectIn, textIn, timeOr } from '../kit/json.ts';
import { wordOf } from '../kit/words.ts';

/** https://elevenlabs.io/docs/overview/administration/data-residency */
export const ENDPOINTS = { names: ['us', 'eu', 'in', 'sg'], oneKey: false } as const;

export const api = providerApi({
  url: ({ fields }) => {
    const region = fields?.region;
    if (region === undefined) return 'https://api.elevenlabs.io';
    return region === 'us' ? 'https://api.us.elevenlabs.io' : `https://api.${region}.residency.elevenlabs.io`;
  },
  headers: (credential) => ({ 'xi-api-key': credential }),
});

/**
 * It lists the models to whoever has the key: https://elevenlabs.io/docs/api-reference/models/list. A restricted key that may
 * transcribe, and not do this, is refused with the same status.
 */
export const credentialCheck = keyCheck(api, '/v1/models', {}, ({ body }) => !/missing_permissions/i.test(body));

/** It answers with codes of three letters (`eng`) as well; the same as a BCP-47 tag. */
export function languageTag(told: unknown): string | undefined {
  if (typeof told !== 'string') return undefined;
  try {
    return new Intl.Locale(told).language;
  } catch {
    return undefined;
  }
}

/** Words with their times; what stands between them is left out. Undefined where there are none, or one has no times. */
export function wordsIn(
  value: unknown,
  place: (seconds: number) => number,
  speakerOf: (word: JsonObject) => number | undefined = () => undefined,
): Word[] | undefined {
  const words: Word[] = [];
  let lastEnd = 0;
  for (const word of listIn(value).map(objectIn)) {
    const text = textIn(word.text)?.trim() ?? '';
    if (word.type === 'spacing' || text === '') continue;
    const start = timeOr(word.start, lastEnd);
    const end = timeOr(word.end, start ?? lastEnd);
    if (start === undefined || end === undefined) return undefined;
    lastEnd = Math.max(start, end);
    words.push(wordOf(text, place(start), place(lastEnd), confidenceOf(word.logprob), speakerOf(word)));
  }
  return words.length === 0 ? undefined : words;
}

const confidenceOf = (logprob: unknown): number | undefined =>
  typeof logprob === 'number' && logprob <= 0 ? Math.exp(logprob) : undefined;
