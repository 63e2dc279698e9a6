// Members of a request that are the same for all models (../../api/listen/vocabulary.ts), read strictly out of texts.
import { Value } from '@sinclair/typebox/value';
import { printable, type Refusal, refuse } from '../../api/errors.ts';
import {
  KEYTERM_LENGTH_MAX,
  KEYTERMS_MAX,
  LANGUAGE_TAG,
  LANGUAGES_MAX,
  PROMPT_LENGTH_MAX,
  REDACTIONS,
  Redaction,
  type Vocabulary,
} from '../../api/vocabulary.ts';

/** Those that are lists: texts separated by commas, or a JSON array; in a form also a field for each. */
export const VOCABULARY_LISTS = ['languages', 'keyterms', 'redact'] as const;
export const VOCABULARY_MEMBERS = [...VOCABULARY_LISTS, 'prompt', 'vocabulary_boost'] as const;

const TAG = new RegExp(`^${LANGUAGE_TAG}$`);

type Lists = Partial<Record<(typeof VOCABULARY_LISTS)[number], readonly string[]>>;

/** Out of a query. Throws a Refusal naming the parameter. */
export function vocabularyOf(query: ReadonlyMap<string, string>): Vocabulary {
  const lists = VOCABULARY_LISTS.map((name) => [name, readList(name, query.get(name))]);
  return readVocabulary(query, Object.fromEntries(lists));
}

/** Texts separated by commas, or a JSON array of texts. */
export function readList(name: string, text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  if (!text.trimStart().startsWith('[')) return text.split(',');
  const list = jsonOf(text);
  if (Array.isArray(list) && list.every((each) => typeof each === 'string')) return list;
  throw bad(name, `\`${name}\` is texts separated by commas, or a JSON array of texts.`);
}

/** @param keytermsMax where another endpoint takes more */
export function readVocabulary(
  texts: ReadonlyMap<string, string>,
  { languages = [], keyterms = [], redact = [] }: Lists,
  keytermsMax = KEYTERMS_MAX,
): Vocabulary {
  const [tags, terms] = [distinct(languages), distinct(keyterms)];
  checkCount('languages', tags, LANGUAGES_MAX);
  checkCount('keyterms', terms, keytermsMax);
  for (const tag of tags) {
    if (!TAG.test(tag))
      throw bad('languages', `\`languages\` has "${printable(tag)}"; each is a BCP-47 tag such as en or fr-CA.`);
  }
  for (const term of terms) {
    if (term === '') throw bad('keyterms', '`keyterms` has an empty member. Separate terms by single commas.');
    if (term.length > KEYTERM_LENGTH_MAX) {
      throw bad(
        'keyterms',
        `\`keyterms\` has a term of ${term.length} characters; each has ${KEYTERM_LENGTH_MAX} at most.`,
      );
    }
  }
  const [kinds, prompt, boost] = [
    redactionsOf(redact),
    promptOf(texts.get('prompt')),
    boostOf(texts.get('vocabulary_boost')),
  ];
  return {
    ...(tags.length === 0 ? {} : { languages: tags }),
    ...(terms.length === 0 ? {} : { keyterms: terms }),
    ...(kinds.length === 0 ? {} : { redact: kinds }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(boost === undefined ? {} : { vocabulary_boost: boost }),
  };
}

function redactionsOf(asked: readonly string[]): Redaction[] {
  const kinds = distinct(asked);
  if (kinds.length === 1 && kinds[0] === 'true') return ['pii'];
  if (kinds.length === 1 && kinds[0] === 'false') return [];
  for (const kind of kinds) {
    if (!Value.Check(Redaction, kind))
      throw bad('redact', `\`redact\` has "${printable(kind)}"; it is true, or of ${REDACTIONS.join(', ')}.`);
  }
  return kinds as Redaction[];
}

function promptOf(text = ''): string | undefined {
  if (text.length > PROMPT_LENGTH_MAX)
    throw bad('prompt', `\`prompt\` has ${text.length} characters; it has ${PROMPT_LENGTH_MAX} at most.`);
  return text.trim() === '' ? undefined : text;
}

function boostOf(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = Number(text);
  if (value >= 0 && value <= 1) return value;
  throw bad('vocabulary_boost', '`vocabulary_boost` is a number from 0 to 1.');
}

function checkCount(name: string, list: readonly string[], most: number): void {
  if (list.length > most) throw bad(name, `\`${name}\` has ${list.length} members; it has ${most} at most.`);
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts.map((text) => text.trim()))];

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const bad = (param: string, message: string): Refusal => refuse('invalid_request', message, { param });
