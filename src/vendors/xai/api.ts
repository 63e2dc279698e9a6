// Where xAI is reached, and how languages and words are read, live and for files.
import type { Word } from '../../../machines/events.ts';
import { bearer, keyCheck, providerApi } from '../kit/api.ts';
import { fractionIn, listIn, objectIn, objectOf, textIn, timeIn } from '../kit/json.ts';
import type { CredentialCheck } from '../kit/provider.ts';
import { type Speakers, wordOf } from '../kit/words.ts';
import { LANGUAGES } from './models.ts';

export const api = providerApi({ url: 'https://api.x.ai', headers: bearer });

export const WRONG_KEY = /incorrect api key/i;
const BLOCKS = ['team_blocked', 'api_key_blocked', 'api_key_disabled'];
const byKey = keyCheck(api, '/v1/api-key');

/**
 * It tells what a key is to whoever has it, blocked or not; a wrong one is answered with 400:
 * https://github.com/api-evangelist/xai/blob/main/openapi/xai-api-key-api-openapi.yml, a copy of its description.
 */
export const credentialCheck: CredentialCheck = {
  ...byKey,
  verdict: (answer) => {
    const body = objectOf(answer.body);
    const isWrong = answer.status === 400 && WRONG_KEY.test(textIn(body.error) ?? '');
    const isBlocked = answer.status === 200 && BLOCKS.some((member) => body[member] === true);
    return isWrong || isBlocked ? 'refused' : byKey.verdict(answer);
  },
};

/** A language is not asked for to be heard, but to have its numbers and units written as such. */
export function writtenLanguage(language: string | undefined): string | undefined {
  const base = language?.split('-')[0]?.toLowerCase();
  return base !== undefined && LANGUAGES.includes(base) ? base : undefined;
}

/** Undefined where there are none, or one has no times. */
export function wordsIn(value: unknown, place: (seconds: number) => number, speakers: Speakers): Word[] | undefined {
  const words: Word[] = [];
  for (const item of listIn(value)) {
    const { text, start: from, end: until, confidence, speaker } = objectIn(item);
    const [word, start, end] = [textIn(text)?.trim(), timeIn(from), timeIn(until)];
    if (word === undefined || start === undefined || end === undefined) return undefined;
    words.push(wordOf(word, place(start), place(end), fractionIn(confidence), speakers.numberOf(speaker)));
  }
  return words.length === 0 ? undefined : words;
}
