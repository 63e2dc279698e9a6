// Tags as texts: what is read out of queries, forms and filters, and what is refused with a sentence that says why.
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiError } from '../../src/api/errors.ts';
import {
  hasTag,
  readTag,
  readTags,
  TAGS_TEXT_LENGTH_MAX,
  Tags,
  tagsFault,
  tagsOfText,
  tagsText,
  textOfTags,
} from '../../src/api/tags.ts';

function refusal(read: () => unknown): ApiError {
  try {
    read();
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('It was not refused.');
}

/** With an own member of any name. */
const objectOf = (...pairs: [string, string][]): Record<string, string> => Object.fromEntries(pairs);
const many = (count: number) =>
  objectOf(...Array.from({ length: count }, (_, at) => [`k${at}`, 'v'] as [string, string]));

describe('tags in a query or a form', () => {
  test.each<[string, Record<string, string> | undefined]>([
    ['customer:acme', { customer: 'acme' }],
    ['customer:acme,project:x', { customer: 'acme', project: 'x' }],
    [' customer : acme , project:x ', { customer: 'acme', project: 'x' }],
    ['url:https://example.com:8080/x', { url: 'https://example.com:8080/x' }],
    ['cost.center:4711,_team-1:a b', { 'cost.center': '4711', '_team-1': 'a b' }],
    ['customer:Zoë & Söhne 🎧', { customer: 'Zoë & Söhne 🎧' }],
    ['{"customer":"Smith, Inc."}', { customer: 'Smith, Inc.' }],
    [' {"a":"1","b":" 2 "}', { a: '1', b: ' 2 ' }],
    ['{"a":"1","a":"2"}', { a: '2' }],
    ['constructor:x', { constructor: 'x' }],
    ['{"__proto__":"x"}', objectOf(['__proto__', 'x'])],
    ['note:<b>=1+1</b>', { note: '<b>=1+1</b>' }],
    [`a:${'é'.repeat(100)}`, { a: 'é'.repeat(100) }],
    [`${'k'.repeat(40)}:v`, { ['k'.repeat(40)]: 'v' }],
    ['', undefined],
    [' ', undefined],
    ['{}', undefined],
  ])('%s is read', (text, tags) => {
    expect(readTags(text)).toEqual(tags);
    if (tags !== undefined) expect(Value.Check(Tags, readTags(text))).toBe(true);
  });

  test('ten are taken, and eleven are not', () => {
    expect(Object.keys(readTags(JSON.stringify(many(10))) ?? {})).toHaveLength(10);
    expect(refusal(() => readTags(JSON.stringify(many(11)))).message).toContain('11 pairs');
  });

  test.each([
    ['no colon', 'customer'],
    ['an empty pair', 'customer:acme,'],
    ['a key twice', 'a:1,a:2'],
    ['an empty key', ':acme'],
    ['an empty value', 'customer:'],
    ['a capital letter in a key', 'Customer:acme'],
    ['a space in a key', 'my customer:acme'],
    ['markup in a key', '<b>:x'],
    ['a key that is too long', `${'k'.repeat(41)}:v`],
    ['a value that is too long', `a:${'v'.repeat(101)}`],
    ['a line break', 'a:x\ny'],
    ['a NUL', '{"a":"\\u0000"}'],
    ['a line separator', '{"a":"x\\u2028y"}'],
    ['a text that is turned round', '{"a":"x\\u202ey"}'],
    ['half a character', '{"a":"\\ud800"}'],
    ['a number', '{"customer":42}'],
    ['null', '{"customer":null}'],
    ['an object in it', '{"customer":{"id":"a"}}'],
    ['JSON that is cut off', '{"customer":"acme"'],
    ['a list', '["customer:acme"]'],
  ])('%s is refused by name', (_, text) => {
    const { code, message, extras } = refusal(() => readTags(text));
    expect([code, extras.param]).toEqual(['invalid_request', 'tags']);
    expect(message).toMatch(/^`tags` [ -~–]+\.$/);
  });
});

describe('the text of tags', () => {
  const key = fc.stringMatching(/^[a-z0-9_.-]{1,40}$/);
  const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
  const tags = fc
    .uniqueArray(fc.tuple(key, value), { maxLength: 10, selector: ([name]) => name })
    .map((pairs) => objectOf(...pairs))
    .filter((each) => tagsFault(each) === undefined);

  test('is the same in any order, and gives back what went in', () => {
    fc.assert(
      fc.property(tags, (each) => {
        const text = textOfTags(each);
        expect(tagsOfText(text)).toEqual(each);
        expect(textOfTags(objectOf(...Object.entries(each).reverse()))).toBe(text);
        expect(tagsText(text)).toBe(Object.keys(each).length === 0 ? undefined : text);
        for (const [name, said] of Object.entries(each)) {
          expect(hasTag(text, { key: name, value: said })).toBe(true);
          expect(hasTag(text, { key: name, value: `${said}x` })).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('has its bound with ten of the longest, each character of which is escaped', () => {
    const longest = objectOf(
      ...Array.from({ length: 10 }, (_, at) => [`${at}`.padEnd(40, 'k'), '"'.repeat(100)] as [string, string]),
    );
    expect(textOfTags(longest).length).toBeLessThanOrEqual(TAGS_TEXT_LENGTH_MAX);
    expect(tagsText(textOfTags(longest))).toBe(textOfTags(longest));
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object', { a: 'b' }],
    ['no JSON', 'a:b'],
    ['other JSON', '[1]'],
    ['none', '{}'],
    ['a bad key', '{"A":"b"}'],
    ['too much', `{"a":"${'x'.repeat(3_000)}"}`],
  ])('%s is not one', (_, text) => {
    expect(tagsText(text)).toBeUndefined();
  });

  test('has no tag that its object inherits', () => {
    expect(hasTag('{"a":"b"}', { key: 'constructor', value: 'b' })).toBe(false);
    expect(hasTag(undefined, { key: 'a', value: 'b' })).toBe(false);
  });
});

test.each(['customer', ':x', 'A:b', 'a:', `a:${'v'.repeat(101)}`, 'a:x\ny', ''])('%j chooses nothing', (text) => {
  const { code, extras } = refusal(() => readTag(text));
  expect([code, extras.param]).toEqual(['invalid_request', 'tag']);
});

test('a filter has its value behind the first colon', () => {
  expect(readTag('url:https://a:b')).toEqual({ key: 'url', value: 'https://a:b' });
  expect(readTag('__proto__:x')).toEqual({ key: '__proto__', value: 'x' });
});
