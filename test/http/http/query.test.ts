// The query parser: strict about doubles and escapes, indifferent to everything else.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import { parseQuery } from '../../../src/http/query.ts';

describe('a query', () => {
  test.each([
    ['', []],
    [
      'a=1&b=2',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    ['a', [['a', '']]],
    ['a=', [['a', '']]],
    ['a==b', [['a', '=b']]],
    ['&&a=1&', [['a', '1']]],
    ['a=x+y%20z%2B', [['a', 'x y z+']]],
    ['%61%3D=%C3%A4', [['a=', 'ä']]],
    ['a=?b#c;d', [['a', '?b#c;d']]],
    [
      '__proto__=1&constructor=2',
      [
        ['__proto__', '1'],
        ['constructor', '2'],
      ],
    ],
  ])('`%s` is read', (raw, expected) => {
    expect([...parseQuery(raw)]).toEqual(expected);
  });

  test.each([
    ['a=1&a=1', 'duplicate_parameter', 'a'],
    ['a=1&%61=2', 'duplicate_parameter', 'a'],
    ['a&a', 'duplicate_parameter', 'a'],
    ['model=%', 'invalid_request', 'model'],
    ['model=%zz', 'invalid_request', 'model'],
    ['model=%ff', 'invalid_request', 'model'],
    ['%ff=x', 'invalid_request', '%ff'],
    ['=x', 'invalid_request', undefined],
    [`${'n'.repeat(100)}=%`, 'invalid_request', 'n'.repeat(64)],
    ['%C3%A4=%', 'invalid_request', '?'],
    [Array.from({ length: 65 }, (_, index) => `p${index}=x`).join('&'), 'invalid_request', undefined],
  ])('`%s` is refused', (raw, code, param) => {
    expect(() => parseQuery(raw)).toThrow(
      expect.objectContaining({ code, extras: param === undefined ? {} : { param } }),
    );
  });

  test('hides values in its error, because they may be credentials', () => {
    expect(() => parseQuery('api_key=sk_secret%')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('secret') }),
    );
    expect(() => parseQuery('api_key=sk_secret&api_key=sk_secret')).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('secret') }),
    );
  });

  test('reads every query written by URLSearchParams; reads or refuses any other', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), {
          selector: ([name]) => name,
          maxLength: 10,
        }),
        (pairs) => {
          expect([...parseQuery(new URLSearchParams(pairs).toString())]).toEqual(pairs);
        },
      ),
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 50 }), (raw) => {
        try {
          parseQuery(raw);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
    );
  });
});
