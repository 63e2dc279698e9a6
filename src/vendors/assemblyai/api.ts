// How AssemblyAI is reached, and how it writes languages and words, live and in files.
import type { Word } from '../../../machines/events.ts';
import type { Mode } from '../../api/models.ts';
import { keyCheck, providerApi } from '../kit/api.ts';
import { fractionIn, listIn, objectIn, secondsIn, textIn } from '../kit/json.ts';
import { Speakers, wordOf } from '../kit/words.ts';
import { hasLive } from './models.ts';

/**
 * They take every key; files go to the US where nothing is said, live audio to the nearest:
 * https://www.assemblyai.com/docs/streaming/endpoints-and-data-zones
 */
export const ENDPOINTS = { names: ['us', 'eu'], oneKey: true } as const;

export const api = providerApi({
  url: ({ fields }) => `https://api.${fields?.region === 'eu' ? 'eu.' : ''}assemblyai.com`,
  liveUrl: ({ fields }) => `wss://streaming.${fields?.region === undefined ? '' : `${fields.region}.`}assemblyai.com`,
  // The bare key: with `Bearer` before it, it is refused.
  headers: (credential) => ({ authorization: credential }),
});

/**
 * It lists the newest transcript of the account to whoever has the key:
 * https://www.assemblyai.com/docs/api-reference/transcripts/list
 */
export const credentialCheck = keyCheck(api, '/v2/transcript', { limit: 1 });

const ENGLISH: Readonly<Record<string, string>> = { us: 'en_us', gb: 'en_uk', au: 'en_au' };

/** The base of a BCP-47 language: what a live session is steered by. */
export const baseOf = (language: string): string => (language.toLowerCase().split('-')[0] as string).trim();

/** The `language_code` of a BCP-47 language. Only English has regions. */
export function codeOf(language: string): string {
  const [base, ...rest] = language.toLowerCase().split('-');
  const region = rest.find((part) => Object.hasOwn(ENGLISH, part));
  return base === 'en' && region !== undefined ? (ENGLISH[region] as string) : baseOf(language);
}

/** The BCP-47 language of a `language_code`; undefined for what is none. */
export function languageOf(code: unknown): string | undefined {
  if (typeof code !== 'string' || !/^[a-z]{2,3}([_-][a-z]{2,4})?$/i.test(code)) return undefined;
  const [base, region] = code.toLowerCase().split(/[_-]/) as [string, string | undefined];
  if (region === undefined) return base;
  return `${base}-${base === 'en' && region === 'uk' ? 'GB' : region.toUpperCase()}`;
}

/** What a session or a file is told of a language: regions of English for files alone, also where those are of a live session. */
export const heardAs = (language: string, model: string, mode: Mode): string =>
  mode === 'live' && hasLive(model) ? baseOf(language) : (languageOf(codeOf(language)) ?? baseOf(language));

/** AssemblyAI knows at most 10 live. `PENDING` is said of words whose speaker a `SpeakerRevision` is to tell. */
export const newSpeakers = (): Speakers => new Speakers(['UNKNOWN', 'PENDING'], 64);

/**
 * The words of a message; what is not a word is left out, and one without times stands where the one before it ended.
 *
 * @param secondsMax nothing was heard beyond it
 */
export function wordsOf(raw: unknown, speakers: Speakers, secondsMax = Number.POSITIVE_INFINITY): Word[] {
  const words: Word[] = [];
  for (const each of listIn(raw)) {
    const { text, start, end, confidence, speaker } = objectIn(each);
    const word = textIn(text)?.trim() ?? '';
    if (word === '') continue;
    const from = Math.min(secondsMax, secondsIn(start) ?? words.at(-1)?.end ?? 0);
    const until = Math.min(secondsMax, secondsIn(end) ?? from);
    // Zero stands for what is not known: a word of which nothing is believed would not be said.
    words.push(wordOf(word, from, until, fractionIn(confidence) || undefined, speakers.numberOf(speaker)));
  }
  return words;
}

/** The number of words at the beginning that the provider will not change any more. */
export function settledCount(raw: unknown): number {
  const words = spokenIn(raw);
  const open = words.findIndex(({ word_is_final }) => word_is_final !== true);
  return open < 0 ? words.length : open;
}

/** Whether the provider will change none of the words any more. */
export const areSettled = (raw: unknown): boolean => settledCount(raw) === spokenIn(raw).length;

const spokenIn = (raw: unknown) =>
  listIn(raw)
    .map(objectIn)
    .filter(({ text }) => (textIn(text)?.trim() ?? '') !== '');
