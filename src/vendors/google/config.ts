// What is asked of Google, and how it says what it heard: the same in calls and in JSON.
import type { Word } from '../../../machines/events.ts';
import type { Mode } from '../../api/models.ts';
import type { ToldResult } from '../kit/grpc/results.ts';
import { fractionIn, type JsonObject, listIn, numberIn, objectIn, textIn } from '../kit/json.ts';
import { regional } from '../kit/languages/whisper-languages.ts';
import { nested } from '../kit/options.ts';
import type { BatchRequest, LegRequest } from '../kit/provider.ts';
import { wordOf } from '../kit/words.ts';
import { options } from './options.ts';

/** Models that detect the language, where none is named. */
const isChirp = (model: string): boolean => model.startsWith('chirp_');
/** Chirp 3 refuses to say them. */
const hasWordTimes = (model: string): boolean => model !== 'chirp_3';

/** The config of a recognition, except for how the audio is encoded. */
export function configOf({ model, language, params }: LegRequest | BatchRequest, mode: Mode): JsonObject {
  const { language_codes = [], phrases, boost } = options.honoured(params, model, mode);
  const wanted = language === undefined || language === 'auto' ? [] : [language];
  const languages = [...new Set([...wanted, ...language_codes].map(tagOf))];
  const times = hasWordTimes(model) ? { enableWordTimeOffsets: true, enableWordConfidence: true } : {};
  const asked = nested({
    'features.enableAutomaticPunctuation': true,
    ...options.wire(params, model, mode),
  });
  const set = { phrases: phrases?.map((value) => ({ value })), ...(boost === undefined ? {} : { boost }) };
  return {
    model,
    languageCodes: languages.length > 0 ? languages : [isChirp(model) ? 'auto' : 'en-US'],
    ...asked,
    features: { ...objectIn(asked.features), ...times },
    ...(phrases === undefined ? {} : { adaptation: { phraseSets: [{ inlinePhraseSet: set }] } }),
  };
}

/** Chinese has a name of its own. */
export function tagOf(language: string): string {
  if (!/^zh(?:-|$)/.test(language)) return regional(language);
  return language.endsWith('-TW') ? 'cmn-Hant-TW' : 'cmn-Hans-CN';
}

/** `1.5s` of JSON, or the seconds and nanoseconds of a call; no member is a zero. */
export function secondsIn(duration: unknown): number | undefined {
  const text = typeof duration === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(duration)?.[1] : undefined;
  if (text !== undefined) return Number(text);
  if (typeof duration !== 'object' || duration === null) return undefined;
  const { seconds = 0, nanos = 0 } = duration as JsonObject;
  return numberIn(typeof seconds === 'number' && typeof nanos === 'number' ? seconds + nanos / 1e9 : undefined);
}

/** A result of a call, or of a file. Words may be there without times. */
export function toldIn(result: JsonObject): ToldResult {
  const [alternative] = listIn(result.alternatives);
  const { transcript, confidence, words } = objectIn(alternative);
  return {
    isFinal: result.isFinal === true,
    text: textIn(transcript)?.trim() ?? '',
    end: secondsIn(result.resultEndOffset),
    words: listIn(words).flatMap((word) => wordIn(objectIn(word))),
    confidence: known(confidence),
    language: textIn(result.languageCode) || undefined,
  };
}

function wordIn({ word, startOffset, endOffset, confidence }: JsonObject): Word[] {
  const [text, end] = [textIn(word), secondsIn(endOffset)];
  if (text === undefined || text === '' || end === undefined) return [];
  return [wordOf(text, Math.min(secondsIn(startOffset) ?? 0, end), end, known(confidence))];
}

/** Nothing is said of a confidence by 0. */
const known = (confidence: unknown): number | undefined => fractionIn(confidence) || undefined;
