// Plain data as text: everything that a call of the store may be given or answer comes back as it was, and nothing else is read.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plainOfText, textOfPlain } from '../../src/runtime/plain-data.ts';

const leaf = fc.oneof(
  fc.string(),
  fc.double(),
  fc.boolean(),
  fc.bigInt(),
  fc.constantFrom(null, undefined),
  fc.uint8Array(),
);
const name = fc.oneof(fc.string(), fc.constantFrom('$b', '$o', '$', '__proto__', 'constructor', 'toString'));
const { plain } = fc.letrec<{ plain: unknown }>((tie) => ({
  plain: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('plain'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('plain')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

test('restores every value exactly', () => {
  fc.assert(
    fc.property(plain, (value) => {
      expect(isDeepStrictEqual(plainOfText(textOfPlain(value)), value)).toBe(true);
    }),
    { seed: 11, numRuns: 2_000 },
  );
});

test('restores bytes as a separate copy, also from part of a buffer', () => {
  const part = Buffer.from('abcdef').subarray(2, 4);
  const back = plainOfText(textOfPlain(part)) as Uint8Array;
  expect([back.constructor, [...back], back.byteOffset]).toEqual([Uint8Array, [99, 100], 0]);
});

test.each([
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['a date', new Date(0)],
  ['a map', { in: [new Map()] }],
  ['an error', new Error('x')],
  [
    'what has no end',
    (() => {
      const self: unknown[] = [];
      self.push(self);
      return self;
    })(),
  ],
])('%s is refused', (_, value) => {
  expect(() => textOfPlain(value)).toThrow(TypeError);
});

describe('a text that was not written so', () => {
  test.each([
    '',
    '{',
    '{"$x":1}',
    '{"$n":"1e9"}',
    '{"$n":1}',
    `{"$n":"${'9'.repeat(1_001)}"}`,
    '{"$f":"1"}',
    '{"$u":1}',
    '{"$b":1}',
    '{"$b":"","a":1}',
    '{"a":1,"$b":""}',
    '{"$o":[["a"]]}',
    '{"$o":[[1,2]]}',
    '{"$o":{}}',
    '['.repeat(1_000) + ']'.repeat(1_000),
  ])('throws: case %#', (text) => {
    expect(() => plainOfText(text)).toThrow();
  });

  test('never changes what objects inherit', () => {
    plainOfText('{"__proto__":{"polluted":1},"$o":0}'.replace(',"$o":0', ''));
    plainOfText('{"$o":[["__proto__",{"polluted":1}]]}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
