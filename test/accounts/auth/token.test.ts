// Client tokens: what is minted is genuine, and nothing else is. What it is worth is tested in verdicts.test.ts.
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TOKEN_TAGS_BYTES_MAX } from '../../../src/accounts/auth/tags.ts';
import { mintToken, type TokenPayload, tokenIdOf, tokenSecret, verifyToken } from '../../../src/accounts/auth/token.ts';
import { uuidv7 } from '../../../src/runtime/uuid.ts';

const secret = Buffer.from('a secret of at least thirty-two characters');
const otherSecret = Buffer.from('another secret of at least thirty-two characters');
const signing = tokenSecret(secret);
const NOW = Date.UTC(2026, 2, 29, 0, 59, 59, 999);

const payload: TokenPayload = {
  v: 1,
  kid: signing.id,
  jti: uuidv7(NOW),
  key: `key_${uuidv7(NOW)}`,
  org: `org_${uuidv7(NOW)}`,
  iat: NOW,
  exp: NOW + 60_000,
};
const token = mintToken(signing, payload);
const [head, signature] = token.split('.') as [string, string];

/** Any text signed as a token is, whatever it says. */
function sign(content: string | object, key: Uint8Array = secret, algorithm = 'sha256'): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const signed = `st_${Buffer.from(text).toString('base64url')}`;
  return `${signed}.${createHmac(algorithm, key).update(signed).digest('base64url')}`;
}

function changed(text: string, position: number): string {
  const at = position < 0 ? text.length + position : position;
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
}

test('fits a WebSocket subprotocol, stays short, and carries what it was minted with', () => {
  expect(token).toMatch(/^st_[\w-]+\.[\w-]{43}$/);
  expect(token.length).toBeLessThanOrEqual(400);
  expect(verifyToken([signing], token, NOW)).toEqual(payload);
  expect(token).toBe(sign(payload));
});

test('carries tags, of the most bytes that it may have', () => {
  const tags = { a: 'v'.repeat(100), b: 'v'.repeat(100), c: 'v'.repeat(100), d: 'v'.repeat(100), e: 'v'.repeat(76) };
  expect(JSON.stringify(tags)).toHaveLength(TOKEN_TAGS_BYTES_MAX);
  const person = tokenIdOf(uuidv7(NOW), `per_${uuidv7(NOW)}`);
  const longest = mintToken(signing, { ...payload, jti: person, tags });
  expect(longest.length).toBeLessThanOrEqual(1_100);
  expect(verifyToken([signing], longest, NOW)).toEqual({ ...payload, jti: person, tags });
  expect(verifyToken([signing], sign({ ...payload, tags: { Customer: 'x' } }), NOW)).toBeUndefined();
  expect(verifyToken([signing], sign({ ...payload, tags: { a: 7 } }), NOW)).toBeUndefined();
  expect(verifyToken([signing], sign({ ...payload, tags: { a: 'v'.repeat(101) } }), NOW)).toBeUndefined();
});

const FORGED: [string, string][] = [
  ['nothing', ''],
  ['only the prefix', 'st_'],
  ['only dots', 'st_.'],
  ['no signature', head],
  ['an empty signature', `${head}.`],
  ['no payload', `st_.${signature}`],
  ['another prefix', token.replace('st_', 'sk_')],
  ['the prefix in capitals', token.replace('st_', 'ST_')],
  ['the first character of the payload changed', changed(token, 3)],
  ['the last character of the payload changed', `${changed(head, -1)}.${signature}`],
  ['the first character of the signature changed', `${head}.${changed(signature, 0)}`],
  ['the unused bits of the last character changed', `${head}.${sameBytesOtherText(signature)}`],
  ['one character cut off', token.slice(0, -1)],
  ['one character more', `${token}A`],
  ['a dot more at the end', `${token}.`],
  ['a dot more at the front', token.replace('st_', 'st_.')],
  ['three parts as in a JWT', `${token}.${signature}`],
  ['a line break at the end', `${token}\n`],
  ['padding', `${token}=`],
  ['plain base64', `${head.replaceAll('-', '+').replaceAll('_', '/')}/.${signature}`],
  ['white space around it', ` ${token} `],
  ['a payload signed with another secret', sign(payload, otherSecret)],
  ['a payload signed with an empty secret', sign(payload, Buffer.alloc(0))],
  ['a payload signed with SHA-512', sign(payload, secret, 'sha512')],
  ['a payload signed with SHA-1', sign(payload, secret, 'sha1')],
  [
    'a signature over the payload without prefix',
    `${head}.${createHmac('sha256', secret).update(head.slice(3)).digest('base64url')}`,
  ],
  [
    'a JWT that says it needs no signature',
    `st_${Buffer.from('{"alg":"none"}').toString('base64url')}.${head.slice(3)}.`,
  ],
  ['more than 2,000 characters', sign({ ...payload, jti: 'x'.repeat(1_500) })],
  ['a mebibyte', `st_${'A'.repeat(1024 * 1024)}.${signature}`],
  ['other letters', token.replace(/.$/, 'é')],
  ['a look-alike letter', token.replace('st_', 'ѕt_')],
  ['a null character', token.replace('.', '\0.')],
  ['half a surrogate pair', `${head}\ud800.${signature}`],
  ['a signed payload that is not JSON', sign('{"v":1')],
  ['a signed list', sign([])],
  ['a signed null', sign('null')],
  ['a signed payload of another version', sign({ ...payload, v: 2 })],
  ['a signed payload without a version', sign({ ...payload, v: undefined })],
  ['a signed payload with one member more', sign({ ...payload, alg: 'none' })],
  ['a signed payload without a key', sign({ ...payload, key: undefined })],
  ['a signed payload with an empty organisation', sign({ ...payload, org: '' })],
  ['a signed payload that expires as a text', sign({ ...payload, exp: `${payload.exp}` })],
  ['a signed payload that never expires', sign({ ...payload, exp: null })],
  ['a signed payload from 5001 ms ahead', sign({ ...payload, iat: NOW + 5001 })],
];

describe('verifying', () => {
  test.each(FORGED)('rejects %s', (_, text) => {
    expect(verifyToken([signing], text, NOW)).toBeUndefined();
  });

  test('rejects any changed character, at any position', () => {
    const others = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ';
    for (let position = 0; position < token.length; position++) {
      for (const other of others) {
        if (other === token[position]) continue;
        const text = token.slice(0, position) + other + token.slice(position + 1);
        expect(verifyToken([signing], text, NOW)).toBeUndefined();
      }
      expect(verifyToken([signing], token.slice(0, position), NOW)).toBeUndefined();
    }
  });

  test('rejects the payload of one token with the signature of another', () => {
    const other = mintToken(signing, { ...payload, exp: NOW + 300_000 });
    const [otherHead, otherSignature] = other.split('.') as [string, string];
    expect(verifyToken([signing], other, NOW)).toBeDefined();
    expect(verifyToken([signing], `${head}.${otherSignature}`, NOW)).toBeUndefined();
    expect(verifyToken([signing], `${otherHead}.${signature}`, NOW)).toBeUndefined();
  });

  test('any one character changed makes it no token', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (position, other) => {
        fc.pre(token[position] !== other);
        expect(
          verifyToken([signing], token.slice(0, position) + other + token.slice(position + 1), NOW),
        ).toBeUndefined();
      }),
      { numRuns: 500, seed: 7 },
    );
  });

  test('accepts a token minted elsewhere on a node up to five seconds behind', () => {
    expect(verifyToken([signing], mintToken(signing, { ...payload, iat: NOW + 5000 }), NOW)).toBeDefined();
  });

  test('fits the longest ids', () => {
    const longest = mintToken(signing, { ...payload, iat: 8_640_000_000_000_000, exp: 8_640_000_000_000_000 });
    expect(longest.length).toBeLessThanOrEqual(400);
  });
});

describe('several secrets', () => {
  const previous = tokenSecret(otherSecret);
  const third = tokenSecret(Buffer.from('a third secret of at least thirty-two characters'));

  test('verify what one of them signed, in any order, and nothing else', () => {
    for (const signer of [signing, previous]) {
      const minted = mintToken(signer, payload);
      for (const ring of [
        [signing, previous],
        [previous, signing],
        [third, signer],
      ]) {
        expect(verifyToken(ring, minted, NOW)).toEqual({ ...payload, kid: signer.id });
      }
      expect(verifyToken([third], minted, NOW)).toBeUndefined();
      expect(verifyToken([], minted, NOW)).toBeUndefined();
    }
  });

  test.each([
    ['of the other secret', previous.id],
    ['of no secret', 'AAAAAAAA'],
    ['that is empty', ''],
    ['that is not text', 1],
    ['that is not there', undefined],
  ])('do not take a token that names an id %s', (_, kid) => {
    expect(verifyToken([signing, previous], sign({ ...payload, kid }), NOW)).toBeUndefined();
  });

  test('get stable, distinct ids that reveal nothing', () => {
    expect(signing.id).toMatch(/^[\w-]{8}$/);
    expect(signing.id).not.toBe(previous.id);
    expect(tokenSecret(Buffer.from(secret)).id).toBe(signing.id);
  });
});

/** Base64url of 32 bytes ends with a character of which two bits say nothing; this sets them. */
function sameBytesOtherText(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) | 3];
  if (!Buffer.from(other, 'base64url').equals(Buffer.from(text, 'base64url'))) throw new Error('The bytes differ.');
  return other;
}
