// Whose tags count: those of key, token and request together, and a request never takes the place of its credential's.
import { describe, expect, test } from 'vitest';
import { requireTokenTags, TOKEN_TAGS_BYTES_MAX, tagsFor } from '../../../src/accounts/auth/tags.ts';
import type { ApiError } from '../../../src/api/errors.ts';
import { type Tags, tagsOfText } from '../../../src/api/tags.ts';
import { apiKey } from '../../fakes/api-keys.ts';

const keyWith = (tags: Tags | null) => apiKey({ tags });
const of = (key: Tags | null, token: Tags | undefined, asked: Tags | undefined) => {
  const text = tagsFor({ key: keyWith(key), tags: token }, asked);
  return text === undefined ? undefined : tagsOfText(text);
};
const many = (prefix: string, count: number): Tags =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 'v']));

function refusal(call: () => unknown): ApiError {
  try {
    call();
  } catch (error) {
    return error as ApiError;
  }
  throw new Error('It was not refused.');
}

describe('the tags of a session', () => {
  test('are absent if none are set, also with a key from a node of an older version', () => {
    expect(of(null, undefined, undefined)).toBeUndefined();
    expect(tagsFor({ key: {} }, undefined)).toBeUndefined();
    expect(tagsFor({ key: {} }, { a: 'b' })).toBe('{"a":"b"}');
  });

  test('are those of key, token and request together', () => {
    expect(of({ a: '1' }, { b: '2' }, { c: '3' })).toEqual({ a: '1', b: '2', c: '3' });
    expect(of({ a: '1' }, undefined, undefined)).toEqual({ a: '1' });
    expect(of(null, { b: '2' }, undefined)).toEqual({ b: '2' });
  });

  test('may be repeated by a request in the same words', () => {
    expect(of({ a: '1' }, { b: '2' }, { a: '1', b: '2' })).toEqual({ a: '1', b: '2' });
  });

  test.each<[string, Tags | null, Tags | undefined]>([
    ['key', { customer: 'acme' }, undefined],
    ['token', null, { customer: 'acme' }],
  ])('a request that has another value than its %s is refused', (_, key, token) => {
    const { code, message, extras } = refusal(() => of(key, token, { customer: 'other' }));
    expect([code, extras.param]).toEqual(['invalid_request', 'tags']);
    expect(message).not.toContain('acme');
  });

  test('take the value of a key that was changed since the token was minted', () => {
    expect(of({ customer: 'new' }, { customer: 'old' }, undefined)).toEqual({ customer: 'new' });
  });

  test('are ten at most, all together', () => {
    expect(Object.keys(of(many('k', 4), many('t', 3), many('r', 3)) ?? {})).toHaveLength(10);
    expect(refusal(() => of(many('k', 4), many('t', 3), many('r', 4))).message).toContain('11 pairs');
    expect(Object.keys(of(many('k', 10), undefined, many('k', 10)) ?? {})).toHaveLength(10);
  });

  test('may have names that objects inherit', () => {
    const odd = Object.fromEntries([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(tagsFor({ key: keyWith(odd) }, odd)).toBe('{"__proto__":"x","constructor":"y"}');
    expect(of(null, undefined, { constructor: 'y' })).toEqual({ constructor: 'y' });
  });
});

describe('a token', () => {
  test('carries what its key does not contradict', () => {
    expect(() => requireTokenTags(keyWith({ a: '1' }), { a: '1', b: '2' })).not.toThrow();
    expect(refusal(() => requireTokenTags(keyWith({ a: '1' }), { a: '2' })).code).toBe('invalid_request');
    expect(refusal(() => requireTokenTags(keyWith(many('k', 8)), many('t', 3))).message).toContain('11 pairs');
  });

  test('carries 512 bytes and not one more', () => {
    const room = TOKEN_TAGS_BYTES_MAX - '{"a":"","b":"","c":"","d":"","e":"","f":""}'.length;
    const filled = (bytes: number): Tags =>
      Object.fromEntries(
        [...'abcdef'].map((key, at) => [key, 'v'.repeat(Math.max(0, Math.min(100, bytes - at * 100)))]),
      );
    expect(() => requireTokenTags(keyWith(null), filled(room))).not.toThrow();
    expect(refusal(() => requireTokenTags(keyWith(null), filled(room + 1))).message).toContain('513 bytes');
    expect(refusal(() => requireTokenTags(keyWith(null), { a: '🎧'.repeat(100), b: '🎧'.repeat(50) })).extras).toEqual({
      param: 'tags',
    });
  });
});
