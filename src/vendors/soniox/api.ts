// Where Soniox is reached, and how tokens are read: parts of words, which bring their own spaces, live and for files.
import type { Utterance } from '../../../machines/events.ts';
import { bearer, keyCheck, providerApi } from '../kit/api.ts';
import { fractionIn, type JsonObject, secondsIn, textIn } from '../kit/json.ts';
import { baseLanguage } from '../kit/languages/whisper-languages.ts';
import type { ProviderAccess } from '../kit/provider.ts';
import { meanConfidence, oneSpeaker, type Speakers, utteranceOf, wordOf } from '../kit/words.ts';

/** A key belongs to a project, and that to a region: https://soniox.com/docs/stt/data-residency */
export const ENDPOINTS = { names: ['us', 'eu', 'jp', 'in'], usual: 'us', oneKey: false } as const;

const placeOf = ({ fields: { region = 'us' } = {} }: ProviderAccess): string => (region === 'us' ? '' : `${region}.`);

export const api = providerApi({
  url: (access) => `https://api.${placeOf(access)}soniox.com`,
  liveUrl: (access) => `wss://stt-rt.${placeOf(access)}soniox.com`,
  // On the upgrade as well: https://soniox.com/docs/guides/migrate-websocket-authentication
  headers: bearer,
});

/** It lists the models to whoever has the key: https://soniox.com/docs/stt/api-reference/models/get_models */
export const credentialCheck = keyCheck(api, '/v1/models');

/** What a session and a job are asked about languages. */
export function languagesOf(language: string | undefined): JsonObject {
  const named = baseLanguage(language);
  if (language === 'auto') return { enable_language_identification: true };
  return named === undefined ? {} : { language_hints: [named] };
}

/** Texts that are said in the client's words alone: translations come between them. */
export const isSpoken = ({ text, translation_status }: JsonObject): boolean =>
  textIn(text) !== undefined && translation_status !== 'translation';

/** Tokens that stand together, with their parts as words. One whose times cannot be read stands where the one before it ended. */
export function utteranceOfTokens(
  tokens: readonly JsonObject[],
  speakers: Speakers,
  place: (seconds: number) => number,
  fromSeconds: number,
): Utterance {
  let [text, at] = ['', fromSeconds];
  const words = tokens.map((token) => {
    const part = textIn(token.text) as string;
    const start = secondsIn(token.start_ms) ?? at;
    at = Math.max(start, secondsIn(token.end_ms) ?? start);
    text += part;
    return wordOf(part, place(start), place(at), fractionIn(token.confidence), speakers.numberOf(token.speaker));
  });
  const start = Math.min(...words.map((word) => word.start));
  return utteranceOf(text, start, Math.max(...words.map((word) => word.end)), {
    confidence: meanConfidence(words),
    language: textIn(tokens[0]?.language),
    speaker: oneSpeaker(words),
    words,
  });
}
