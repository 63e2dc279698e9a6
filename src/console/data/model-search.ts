// Finds models by what people call them: their names, languages in English and in themselves, what they can do and what they are for.
// Every word has to fit.
import type { Model } from '../../api/models.ts';
import { choicesOf, propertiesOf, type Schema } from './json-schema.ts';

/** Any word of a line stands for the others. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['medical', 'medicine', 'clinical', 'health', 'healthcare', 'doctor', 'medic'],
  ['live', 'streaming', 'stream', 'realtime', 'real-time'],
  ['batch', 'file', 'files', 'prerecorded', 'pre-recorded', 'recordings', 'upload'],
  ['speakers', 'speaker', 'diarization', 'diarisation', 'diarize'],
  ['redaction', 'redact', 'pii', 'pci', 'phi', 'privacy', 'anonymize'],
  ['timestamps', 'timings', 'times'],
  ['interims', 'interim', 'partials', 'partial'],
  ['formatting', 'punctuation', 'format', 'punctuate'],
  ['detection', 'detect', 'multilingual'],
  ['vocabulary', 'keyterms', 'keyterm', 'keywords', 'boosting', 'boost', 'names'],
  ['telephone', 'phone', 'phonecall', 'telephony', 'call'],
  ['local', 'offline', 'embedded'],
  ['free', 'gratis'],
];

const ABILITY_WORDS: Readonly<Record<keyof Model['capabilities'], string>> = {
  diarization: 'speakers',
  word_timestamps: 'word timestamps',
  segment_timestamps: 'segment timestamps',
  interim_results: 'interims',
  formatting: 'formatting',
  redaction: 'redaction',
  language_detection: 'language detection',
};

/** Of which models say `*` where they know them: enough for "french" and "deutsch". */
const COMMON_LANGUAGES =
  'af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja jv ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh yue'.split(
    ' ',
  );

const english = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** `French (fr)` */
export function languageName(code: string): string {
  try {
    const name = english.of(code);
    return name === undefined ? code : `${name} (${code})`;
  } catch {
    return code;
  }
}

/** `French français fr`. */
function languageWords(code: string): string {
  try {
    const own = new Intl.DisplayNames([code], { type: 'language', fallback: 'none' }).of(code);
    return `${english.of(code) ?? ''} ${own ?? ''} ${code}`;
  } catch {
    return code;
  }
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^\p{L}\p{N}-]+/u)
    .filter((word) => word !== '');

const indexed = new WeakMap<Model, ReadonlySet<string>>();

function indexOf(model: Model): ReadonlySet<string> {
  const known = indexed.get(model);
  if (known !== undefined) return known;
  const { id, name, owned_by, description, modes, languages, capabilities, pricing, provider_params } = model;
  const abilities = Object.entries(ABILITY_WORDS).flatMap(([ability, words]) =>
    capabilities[ability as keyof Model['capabilities']] ? [words] : [],
  );
  const options = propertiesOf(provider_params as Schema).map(
    ({ name: option, schema }) => `${option} ${schema.description ?? ''} ${choicesOf(schema)?.join(' ') ?? ''}`,
  );
  const spoken = languages.includes('*') ? [...languages, ...COMMON_LANGUAGES] : languages;
  const isFree = [pricing.live, pricing.batch].some((price) => price?.free === true);
  const text = [id, name, owned_by, description, ...modes, ...abilities, ...options, isFree ? 'free' : '']
    .concat(spoken.filter((code) => code !== '*').map(languageWords))
    .join(' ');
  const words = new Set(wordsOf(text).flatMap((word) => [word, ...word.split('-')]));
  indexed.set(model, words);
  return words;
}

/** Whether every word fits a model: the start of one of its words or of a synonym, or part of its slug. A word with a slash is a slug. */
export function fitsSearch(model: Model, search: string): boolean {
  const slug = model.id.toLowerCase();
  const words = [...indexOf(model)];
  const fits = (wanted: string) =>
    slug.includes(wanted) || alternatives(wanted).some((each) => words.some((word) => word.startsWith(each)));
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((typed) => (typed.includes('/') ? slug.includes(typed) : wordsOf(typed).every(fits)));
}

function alternatives(wanted: string): readonly string[] {
  return [wanted, ...SYNONYMS.filter((line) => line.includes(wanted)).flat()];
}

/** Models that can be used first, as they were otherwise. */
export const usableFirst = (models: readonly Model[]): Model[] => [
  ...models.filter(({ available }) => available),
  ...models.filter(({ available }) => !available),
];
