// Tokens of mails: their form, what is kept of them, and the seal under which they travel.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newToken, TokenSeal, tokenHash } from '../../../src/accounts/people/mail-tokens.ts';

const SECRET = new TextEncoder().encode('a-secret-of-more-than-32-characters-for-tests');

describe('a token', () => {
  test('consists of 256 random bits that fit a URL', () => {
    const tokens = Array.from({ length: 100 }, newToken);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
    expect(new Set(tokens).size).toBe(100);
  });

  test('reaches the store as its SHA-256', () => {
    const token = newToken();
    expect(Buffer.from(tokenHash(token)!)).toEqual(createHash('sha256').update(token).digest());
  });

  test.each(['', 'x', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}=`, `${'x'.repeat(43)}\n`])(
    '%j is none',
    (text) => {
      expect(tokenHash(text)).toBeUndefined();
    },
  );
});

describe('a sealed token', () => {
  const seal = new TokenSeal(SECRET);

  test('opens with the same secret, and looks different each time', () => {
    const token = newToken();
    const [one, two] = [seal.seal(token), seal.seal(token)];
    expect([new TokenSeal(SECRET).open(one), seal.open(two)]).toEqual([token, token]);
    expect(one).not.toBe(two);
    expect(one).not.toContain(token);
  });

  test('comes with the hash that is stored', () => {
    const { hash, sealed } = seal.issue();
    expect(tokenHash(seal.open(sealed)!)).toEqual(hash);
  });

  test('stays sealed under another secret', () => {
    expect(new TokenSeal(new TextEncoder().encode('another')).open(seal.seal(newToken()))).toBeUndefined();
  });

  test('opens with the secret before the last change, which seals nothing', () => {
    const other = new TextEncoder().encode('another-secret-of-more-than-32-characters');
    const token = newToken();
    const both = new TokenSeal(other, SECRET);
    expect(both.open(seal.seal(token))).toBe(token);
    expect(new TokenSeal(other).open(both.seal(token))).toBe(token);
    expect(seal.open(both.seal(token))).toBeUndefined();
    expect(new TokenSeal(other).open(seal.seal(token))).toBeUndefined();
  });

  test('stays sealed when any bit of it was changed', () => {
    const sealed = seal.seal(newToken());
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(seal.open(`v1.${changed.toString('base64url')}`)).toBeUndefined();
    }
  });

  test('opens nothing that was never sealed, and does not fail at it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String().map((text) => `v1.${text}`),
        ),
        (text) => {
          expect(seal.open(text)).toBeUndefined();
        },
      ),
      { numRuns: 500, seed: 2 },
    );
  });
});
