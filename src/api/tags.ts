// Tags: key–value pairs on sessions, files and jobs, by which usage is added up and lists are filtered. Inside the gateway they travel as
// one text, JSON with its members in order, which is also what the ledger keeps.
import { type Static, Type } from '@sinclair/typebox';
import { apiError, printable } from './errors.ts';

export const TAGS_MAX = 10;
export const TAG_VALUE_LENGTH_MAX = 100;
/** Of ten tags as text: all characters of a value may be escaped. */
export const TAGS_TEXT_LENGTH_MAX = 2_500;

export const TAG_KEY = '[a-z0-9_.-]{1,40}';
const KEY = new RegExp(`^${TAG_KEY}$`);

/**
 * What people call something, and others read on pages and in bills: neither control characters, nor what turns round the text beside it or
 * breaks its line, nor halves of characters, which a database would not give back as they were.
 */
export const READABLE_NAME = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]{1,100}$/u;

const TAG = new RegExp(`^(${TAG_KEY}):(.*)$`, 's');

export const Tags = Type.Record(
  Type.String({ pattern: `^${TAG_KEY}$` }),
  Type.String({ minLength: 1, maxLength: TAG_VALUE_LENGTH_MAX }),
  {
    additionalProperties: false,
    maxProperties: TAGS_MAX,
    description: `Up to ${TAGS_MAX} key–value pairs. Keys have 1 to 40 of the characters a–z, 0–9, \`_\`, \`.\` and \`-\`; values have 1 to ${TAG_VALUE_LENGTH_MAX} characters without control characters.`,
    examples: [{ customer: 'acme', project: 'x' }],
  },
);
export type Tags = Static<typeof Tags>;

/** One of them, as a filter. */
export interface Tag {
  key: string;
  value: string;
}

/** What is wrong with a value as tags, in one sentence that goes on after "`tags`"; undefined of tags. */
export function tagsFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'must be an object of strings, such as {"customer":"acme"}.';
  const pairs = Object.entries(value);
  if (pairs.length > TAGS_MAX) return `has ${pairs.length} pairs. Send ${TAGS_MAX} at most.`;
  for (const [key, text] of pairs) {
    if (!KEY.test(key))
      return `has the key "${printable(key)}"; a key has 1 to 40 of the characters a–z, 0–9, \`_\`, \`.\` and \`-\`.`;
    if (typeof text !== 'string' || !READABLE_NAME.test(text))
      return `has an invalid value for \`${key}\`; a value is a string of 1 to ${TAG_VALUE_LENGTH_MAX} characters without control characters.`;
  }
  return undefined;
}

/** Of a query or a form: `customer:acme,project:x`, or a JSON object. Undefined without any. Throws an ApiError. */
export function readTags(text: string | undefined): Tags | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const tags = text.trimStart().startsWith('{') ? parsed(text) : pairsOf(text);
  const fault = tagsFault(tags);
  if (fault !== undefined) throw bad('tags', fault);
  return Object.keys(tags as Tags).length === 0 ? undefined : (tags as Tags);
}

/** `customer:acme`, which chooses what has this tag. Throws an ApiError. */
export function readTag(text: string): Tag {
  const [, key, value = ''] = TAG.exec(text) ?? [];
  if (key === undefined || !READABLE_NAME.test(value))
    throw bad('tag', 'must be a key and a value separated by a colon, such as `customer:acme`.');
  return { key, value };
}

/** As one text, the same for the same tags. */
export function textOfTags(tags: Tags): string {
  return JSON.stringify(Object.fromEntries(Object.entries(tags).sort(([one], [other]) => (one < other ? -1 : 1))));
}

export const tagsOfText = (text: string): Tags => JSON.parse(text) as Tags;

/** The text of tags; undefined if it is malformed, also in what another node sent. */
export function tagsText(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > TAGS_TEXT_LENGTH_MAX) return undefined;
  const tags = parsed(text);
  if (tagsFault(tags) !== undefined) return undefined;
  const whole = textOfTags(tags as Tags);
  return whole === '{}' ? undefined : whole;
}

export const hasTag = (text: string | undefined, { key, value }: Tag): boolean => {
  const tags = text === undefined ? {} : tagsOfText(text);
  return Object.hasOwn(tags, key) && tags[key] === value;
};

function pairsOf(text: string): Tags {
  const pairs = new Map<string, string>();
  for (const piece of text.split(',')) {
    const colon = piece.indexOf(':');
    if (colon === -1)
      throw bad('tags', 'must be pairs such as `customer:acme,project:x`, or a JSON object for values with a comma.');
    const key = piece.slice(0, colon).trim();
    if (pairs.has(key)) throw bad('tags', `has the key "${printable(key)}" twice. Send it once.`);
    pairs.set(key, piece.slice(colon + 1).trim());
  }
  return Object.fromEntries(pairs);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const bad = (param: 'tags' | 'tag', what: string) => apiError('invalid_request', `\`${param}\` ${what}`, { param });
