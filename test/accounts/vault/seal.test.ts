// Sealed texts: they open with the right key, in their own place, unchanged; and in no other case.
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Binding,
  kekIdOf,
  kekOf,
  keyRingOf,
  open,
  reseal,
  seal,
  VaultError,
} from '../../../src/accounts/vault/key-ring.ts';

const ring = keyRingOf(Buffer.alloc(32, 1));
const binding: Binding = { organisationId: 'org_a', provider: 'deepgram', id: 'pk_1' };
const SECRET = 'canary-of-the-vault-4711';

const refusal = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(VaultError);
    return (error as VaultError).message;
  }
  throw new Error('It opened.');
};

test('any text comes back as it was, and no two sealed texts of it have a part in common', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (plain) => {
      const [one, two] = [seal(ring, binding, plain), seal(ring, binding, plain)];
      expect([open(ring, binding, one), open(ring, binding, two)]).toEqual([plain, plain]);
      const parts = one.split('.').slice(2);
      expect(two.split('.').filter((part) => parts.includes(part))).toEqual([]);
    }),
    { numRuns: 100, seed: 6 },
  );
});

test('shows its format and key, and nothing of the secret or its binding', () => {
  const sealed = seal(ring, binding, SECRET);
  expect(sealed).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]{80}\.[\w-]{16}\.[\w-]+$/);
  expect(kekIdOf(sealed)).toBe(ring.current.id);
  expect(kekOf(Buffer.alloc(32, 1)).id).toBe('72cd6e84');
  for (const part of [SECRET, Buffer.from(SECRET).toString('base64url'), 'org_a', 'deepgram', 'pk_1'])
    expect(sealed).not.toContain(part);
});

describe('a sealed text that does not open', () => {
  test.each([
    ['another organisation’s row', { ...binding, organisationId: 'org_b' }],
    ['another provider’s row', { ...binding, provider: 'openai' }],
    ['another key’s row', { ...binding, id: 'pk_2' }],
    [
      'a row whose parts are the same when they are joined',
      { organisationId: 'org_a|deepgram', provider: 'pk_1', id: '' },
    ],
  ])('fails in %s', (_, other) => {
    expect(refusal(() => open(ring, other, seal(ring, binding, SECRET)))).toContain('belongs to something else');
  });

  test('fails with any one bit flipped', () => {
    const sealed = seal(ring, binding, SECRET);
    const prefix = sealed.split('.').slice(0, 2).join('.').length + 1;
    for (let at = 0; at < sealed.length; at++) {
      for (const bit of [1, 2, 4, 8, 16, 32]) {
        const changed = String.fromCharCode(sealed.charCodeAt(at) ^ bit);
        const text = sealed.slice(0, at) + changed + sealed.slice(at + 1);
        const message = refusal(() => open(ring, binding, text));
        expect(message).not.toContain(SECRET);
        if (at > prefix && /[\w-]/.test(changed)) expect(message).toMatch(/does not open|damaged/);
      }
    }
  });

  test('fails when cut off anywhere, or with the parts of another in its place', () => {
    const [one, two] = [seal(ring, binding, SECRET), seal(ring, binding, SECRET)].map((text) => text.split('.'));
    for (let length = 0; length < one!.join('.').length; length++)
      refusal(() => open(ring, binding, one!.join('.').slice(0, length)));
    for (let part = 2; part < 5; part++)
      refusal(() => open(ring, binding, one!.map((text, at) => (at === part ? (two![at] as string) : text)).join('.')));
  });

  test('fails with another key, which the error names', () => {
    const other = keyRingOf(Buffer.alloc(32, 2));
    expect(refusal(() => open(other, binding, seal(ring, binding, SECRET)))).toBe(
      `The vault has no key ${ring.current.id}.`,
    );
  });
});

describe('a sealed text moved to a new key', () => {
  const next = keyRingOf(Buffer.alloc(32, 2), Buffer.alloc(32, 1));

  test('keeps its secret’s part under the current key, and no longer needs the old key', () => {
    const sealed = seal(ring, binding, SECRET);
    const moved = reseal(next, binding, sealed);
    expect(kekIdOf(moved)).toBe(next.current.id);
    expect(moved.split('.').slice(3)).toEqual(sealed.split('.').slice(3));
    expect(open(keyRingOf(Buffer.alloc(32, 2)), binding, moved)).toBe(SECRET);
    expect(reseal(next, binding, moved)).toBe(moved);
  });

  test('stays behind when it does not open', () => {
    const sealed = seal(ring, binding, SECRET);
    const broken = sealed.slice(0, -4) + (sealed.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    refusal(() => reseal(next, binding, broken));
  });
});

test.each([0, 16, 31, 33])('refuses a key of %i bytes', (bytes) => {
  expect(refusal(() => kekOf(randomBytes(bytes)))).toContain('32 bytes');
});
