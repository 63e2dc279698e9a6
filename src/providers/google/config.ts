// What is asked of Google, and how it says what it heard: the same in calls and in JSON.
import type { Utterance, Word } from '../../../machines/events.ts';
import type { Mode } from '../../api/models.ts';
import { fractionIn, listIn, type Members, numberIn, objectIn, textIn } from '../kit/json.ts';
import { nested } from '../kit/options.ts';
import { utteranceOf, wordOf } from '../kit/words.ts';
import type { BatchRequest, LegRequest } from '../provider.ts';
import { options } from './options.ts';

/** Models that detect the language, where none is named. */
const isChirp = (model: string): boolean => model.startsWith('chirp_');
/** Chirp 3 refuses to say them. */
const hasWordTimes = (model: string): boolean => model !== 'chirp_3';

/** The config of a recognition, but for how the audio is encoded. */
export function configOf({ model, language, params }: LegRequest | BatchRequest, mode: Mode): Members {
  const { language_codes = [], phrases, boost } = options.honoured(params, model, mode);
  const wanted = language === undefined || language === 'auto' ? [] : [regional(language)];
  const languages = [...new Set([...wanted, ...language_codes.map(regional)])];
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

/** Google wants the region with each language. Chinese has a name of its own. */
function regional(language: string): string {
  const [base = '', ...more] = language.split('-');
  if (base === 'zh') return more.at(-1) === 'TW' ? 'cmn-Hant-TW' : 'cmn-Hans-CN';
  if (more.length > 0) return language;
  try {
    const { region } = new Intl.Locale(base).maximize();
    return region === undefined ? base : `${base}-${region}`;
  } catch {
    return language;
  }
}

/** `1.5s` of JSON, or the seconds and nanoseconds of a call; no member is a zero. */
export function secondsIn(duration: unknown): number | undefined {
  const text = typeof duration === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(duration)?.[1] : undefined;
  if (text !== undefined) return Number(text);
  if (typeof duration !== 'object' || duration === null) return undefined;
  const { seconds = 0, nanos = 0 } = duration as Members;
  return numberIn(typeof seconds === 'number' && typeof nanos === 'number' ? seconds + nanos / 1e9 : undefined);
}

/**
 * What a result says, in its place. Words may be there without times.
 *
 * @param place takes a time of Google's to where it is in the audio
 * @param from where what was not told of before begins
 */
export function utteranceIn(
  result: Members,
  place: (seconds: number) => number,
  from: number,
  until: number,
): Utterance {
  const [alternative] = listIn(result.alternatives);
  const { transcript, confidence, words } = objectIn(alternative);
  const text = textIn(transcript)?.trim() ?? '';
  const told = secondsIn(result.resultEndOffset);
  const end = Math.max(from, told === undefined ? until : place(told));
  const timed = listIn(words).flatMap((word) => wordIn(objectIn(word), place));
  const language = textIn(result.languageCode);
  const details = { confidence: known(confidence), language: language === '' ? undefined : language };
  if (timed.length === 0 || text === '') return utteranceOf(text, from, end, details);
  const last = timed.reduce((most, word) => Math.max(most, word.end), end);
  return utteranceOf(text, (timed[0] as Word).start, last, { ...details, words: timed });
}

function wordIn({ word, startOffset, endOffset, confidence }: Members, place: (seconds: number) => number): Word[] {
  const [text, end] = [textIn(word), secondsIn(endOffset)];
  if (text === undefined || text === '' || end === undefined) return [];
  return [wordOf(text, place(Math.min(secondsIn(startOffset) ?? 0, end)), place(end), known(confidence))];
}

/** Nothing is said of a confidence by 0. */
const known = (confidence: unknown): number | undefined => fractionIn(confidence) || undefined;
