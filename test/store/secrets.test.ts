// The form of API keys: what is made is valid, every typo is told without a look-up, nothing else is a key.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKey, hasValidChecksum, parseKey } from '../../src/accounts/keys/key-text.ts';
import { uuidv7 } from '../../src/runtime/uuid.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const key = fc.constant(undefined).map(generateKey);
const character = fc.constantFrom(...ALPHABET);

describe('a key', () => {
  test('matches the published form with a correct checksum, and is unique', () => {
    const keys = Array.from({ length: 2000 }, generateKey);
    for (const text of keys) {
      expect(text).toMatch(/^sk_vox_[0-9A-Za-z]{38}$/);
      expect(hasValidChecksum(text)).toBe(true);
    }
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('carries the CRC-32 known from other implementations, padded to six digits of base 62', () => {
    const body = `sk_vox_${'0'.repeat(32)}`;
    const digits = (number: number): string =>
      number < 62 ? ALPHABET[number]! : digits(Math.floor(number / 62)) + ALPHABET[number % 62];
    const text = body + digits(referenceCrc32(body)).padStart(6, '0');
    expect(hasValidChecksum(text)).toBe(true);
  });

  test('uses every character of the alphabet about equally often', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 2000; index++) {
      for (const each of generateKey().slice(7, 39)) counts.set(each, (counts.get(each) ?? 0) + 1);
    }
    expect(counts.size).toBe(62);
    // 64,000 characters: 1032 of each, with a standard deviation of 32.
    for (const count of counts.values()) expect(Math.abs(count - 1032)).toBeLessThan(200);
  });

  test('detects any one changed character', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 0, max: 44 }), character, (text, position, other) => {
        fc.pre(text[position] !== other);
        expect(hasValidChecksum(text.slice(0, position) + other + text.slice(position + 1))).toBe(false);
      }),
    );
  });

  test('detects two neighbours swapped', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 7, max: 43 }), (text, position) => {
        fc.pre(text[position] !== text[position + 1]);
        const swapped = text.slice(0, position) + text[position + 1] + text[position] + text.slice(position + 2);
        expect(hasValidChecksum(swapped)).toBe(false);
      }),
    );
  });

  test('detects a shortened or lengthened text', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 0, max: 44 }), fc.string({ minLength: 1 }), (text, length, more) => {
        expect(hasValidChecksum(text.slice(0, length))).toBe(false);
        expect(hasValidChecksum(text + more)).toBe(false);
        expect(hasValidChecksum(more + text)).toBe(false);
      }),
    );
  });

  test('rejects everything that was not made as one', () => {
    fc.assert(fc.property(fc.string(), (text) => hasValidChecksum(text) === false));
    for (const text of ['', 'sk_vox_', 'null', `${generateKey()}\n`, generateKey().toUpperCase()]) {
      expect(hasValidChecksum(text)).toBe(false);
      expect(parseKey(text)).toBeUndefined();
    }
  });

  test('leaves behind its SHA-256, its first 11 characters and its last 4', () => {
    fc.assert(
      fc.property(key, (text) => {
        const { hash, display } = parseKey(text)!;
        expect(Buffer.from(hash).toString('hex')).toBe(createHash('sha256').update(text).digest('hex'));
        expect(display).toBe(`${text.slice(0, 11)}...${text.slice(-4)}`);
      }),
    );
  });
});

test('encodes its time in a UUID of version 7, sorts by it, and is unique', () => {
  fc.assert(
    fc.property(fc.nat(2 ** 40), fc.nat(2 ** 40), (first, second) => {
      const [one, two] = [uuidv7(first), uuidv7(second)];
      expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(one.replace('-', '').slice(0, 12), 16)).toBe(first);
      if (first < second) expect(one < two).toBe(true);
    }),
  );
  expect(new Set(Array.from({ length: 2000 }, () => uuidv7(0))).size).toBe(2000);
});

/** CRC-32 bit by bit, as its definition has it. */
function referenceCrc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
