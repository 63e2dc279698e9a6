// Replacement rules: words and phrases of a transcript that are written in another way. How requests, keys and clients of other vendors
// give them; how they are applied is `src/replacements`.
import { type Static, Type } from '@sinclair/typebox';
import { apiError, printable } from './errors.ts';
import { LANGUAGE_TAG } from './vocabulary.ts';

export const REPLACEMENTS_MAX = 200;
export const REPLACED_LENGTH_MAX = 100;
export const REPLACEMENT_LENGTH_MAX = 200;
/** Characters of all rules of a request or a key together. */
export const REPLACEMENTS_LENGTH_MAX = 20_000;

export const Replacement = Type.Object(
  {
    from: Type.String({
      minLength: 1,
      maxLength: REPLACED_LENGTH_MAX,
      description: 'A word or a phrase, in any case.',
      examples: ['vox gate'],
    }),
    to: Type.String({
      maxLength: REPLACEMENT_LENGTH_MAX,
      description:
        'What is written instead; empty to leave it out. In lower case it follows the case of what it replaces, otherwise it stays as written.',
      examples: ['Voxgate'],
    }),
    match: Type.Optional(
      Type.Union([Type.Literal('word'), Type.Literal('literal')], {
        default: 'word',
        description: '`word`: whole words, in any case. `literal`: exactly these characters, also within words.',
      }),
    ),
    language: Type.Optional(
      Type.String({
        pattern: `^${LANGUAGE_TAG}$`,
        description:
          'Only for text in this language: that of the transcript if the model reports it, otherwise that of the request. `de` includes `de-CH`.',
        examples: ['de'],
      }),
    ),
  },
  { additionalProperties: false, description: 'A replacement rule.' },
);
export type Replacement = Static<typeof Replacement>;

export const Replacements = Type.Array(Type.Union([Type.String(), Replacement]), {
  maxItems: REPLACEMENTS_MAX,
  description: `Replacement rules for words and phrases, with any model: at most ${REPLACEMENTS_MAX} rules, each \`from:to\` or an object. Times of words follow. Rules of the API key follow these.`,
});

/** As readers of transcripts see it: no control characters, none that turn the text around them, no halves of characters. */
const READABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u;
const TAG = new RegExp(`^${LANGUAGE_TAG}$`);
const MEMBERS: readonly string[] = Object.keys(Replacement.properties);

/** Rules in the form in which they are kept, or what is wrong with them: a sentence that goes on after "`replace`". */
export type CheckedReplacements = { rules: Replacement[]; fault?: undefined } | { fault: string };

export function checkedReplacements(value: unknown): CheckedReplacements {
  if (!Array.isArray(value)) return { fault: 'must be a list of rules such as [{"from":"vox gate","to":"Voxgate"}].' };
  if (value.length > REPLACEMENTS_MAX) return { fault: `has ${value.length} rules. Send ${REPLACEMENTS_MAX} at most.` };
  const rules: Replacement[] = [];
  let length = 0;
  for (const [index, each] of value.entries()) {
    const rule = typeof each === 'string' ? pairOf(each) : each;
    const fault = faultOf(rule);
    if (fault !== undefined) return { fault: `has an invalid rule, number ${index + 1}: ${fault}` };
    const kept = keptForm(rule as Replacement);
    length += kept.from.length + kept.to.length;
    rules.push(kept);
  }
  return length > REPLACEMENTS_LENGTH_MAX
    ? { fault: `has ${length} characters in its rules. Send ${REPLACEMENTS_LENGTH_MAX} at most.` }
    : { rules };
}

/**
 * Of a query or a form: `vox gate:Voxgate` each, or JSON with one rule or a list. Undefined without any. Throws an ApiError.
 */
export function readReplacements(texts: readonly string[]): Replacement[] | undefined {
  const given = texts.flatMap((text): unknown[] => (text.trim() === '' ? [] : listIn(text)));
  if (given.length === 0) return undefined;
  const { rules, fault } = { rules: [], ...checkedReplacements(given) };
  if (fault === undefined) return rules;
  throw apiError('invalid_request', `\`replace\` ${fault}`, { param: 'replace' });
}

/**
 * The rules that fit, of a list that another vendor's client may make longer, and how many were left out.
 *
 * @param rules without a form of their own yet
 */
export function replacementsWithin(rules: readonly Pick<Replacement, 'from' | 'to'>[]): {
  rules: Replacement[];
  leftOut: number;
} {
  const fit: Replacement[] = [];
  let length = 0;
  for (const rule of rules) {
    if (fit.length === REPLACEMENTS_MAX || faultOf(rule) !== undefined) continue;
    const kept = keptForm(rule);
    length += kept.from.length + kept.to.length;
    if (length > REPLACEMENTS_LENGTH_MAX) break;
    fit.push(kept);
  }
  return { rules: fit, leftOut: rules.length - fit.length };
}

/** A text that begins with a bracket may be a pair as well: `[BLANK_AUDIO]:`. */
function listIn(text: string): unknown[] {
  const isList = /^\s*\[/.test(text);
  if (!isList && !/^\s*\{/.test(text)) return [text];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    if (!/^\s*(\[\s*[{"]|\{\s*")/.test(text)) return [text];
    throw apiError(
      'invalid_request',
      '`replace` is not JSON. Send `from:to`, once for each rule, or a JSON array such as [{"from":"vox gate","to":"Voxgate"}].',
      { param: 'replace' },
    );
  }
}

/** `from:to`, where a backslash keeps a colon or a backslash from its meaning. Undefined without a colon. */
export function pairOf(text: string): Pick<Replacement, 'from' | 'to'> | undefined {
  let from: string | undefined;
  let part = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    const next = text[at + 1];
    if (char === '\\' && (next === ':' || next === '\\')) {
      part += next;
      at++;
    } else if (char === ':' && from === undefined) {
      from = part;
      part = '';
    } else part += char;
  }
  return from === undefined ? undefined : { from: from.trim(), to: part.trim() };
}

function faultOf(rule: unknown): string | undefined {
  if (rule === undefined)
    return 'write `from:to`, with a backslash before a colon that belongs to `from`, or a JSON object.';
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule))
    return 'it must be `from:to`, or an object such as {"from":"vox gate","to":"Voxgate"}.';
  const unknown = Object.keys(rule).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) return `\`${printable(unknown)}\` is unknown. Known: ${MEMBERS.join(', ')}.`;
  const { from, to, match, language } = rule as Record<keyof Replacement, unknown>;
  if (!isReadable(from, REPLACED_LENGTH_MAX) || from.trim() === '')
    return `\`from\` must be a string of 1 to ${REPLACED_LENGTH_MAX} characters without control characters.`;
  if (!isReadable(to, REPLACEMENT_LENGTH_MAX))
    return `\`to\` must be a string of at most ${REPLACEMENT_LENGTH_MAX} characters without control characters.`;
  if (match !== undefined && match !== 'word' && match !== 'literal') return '`match` must be word or literal.';
  if (language !== undefined && (typeof language !== 'string' || !TAG.test(language)))
    return '`language` must be a BCP-47 tag such as en or fr-CA.';
  return undefined;
}

const isReadable = (text: unknown, lengthMax: number): text is string =>
  typeof text === 'string' && text.length <= lengthMax && READABLE.test(text);

function keptForm({ from, to, match, language }: Replacement): Replacement {
  const kept: Replacement = match === 'literal' ? { from, to, match } : { from: plain(from), to: plain(to) };
  if (language !== undefined) kept.language = language;
  return kept;
}

const plain = (text: string): string => text.trim().replace(/\s+/g, ' ');
