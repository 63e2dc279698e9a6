// The form of an API key, its checksum, and what is kept of it. Knows no database and no caller.
// Published form: sk_vox_[0-9A-Za-z]{38}; the last six characters are the CRC-32 of all before them, in base 62.
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyTrace } from '../../store/entry.ts';

export const KEY_PREFIX = 'sk_vox_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const KEY_FORM = /^sk_vox_[0-9A-Za-z]{38}$/;

/** A new key: 190 random bits between prefix and checksum. */
export function generateKey(): string {
  const body = KEY_PREFIX + randomCharacters(RANDOM_LENGTH);
  return body + checksum(body);
}

/** Whether a text has the form of a key and its checksum is right. Costs no look-up, tells typos from keys. */
export function hasValidChecksum(text: string): boolean {
  if (!KEY_FORM.test(text)) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** What is kept of a key, or undefined when the text is not a key. */
export function parseKey(text: string): KeyTrace | undefined {
  if (!hasValidChecksum(text)) return undefined;
  return { hash: new Uint8Array(hash('sha256', text, 'buffer')), display: `${text.slice(0, 11)}...${text.slice(-4)}` };
}

/** Uniform characters: bytes past the last whole multiple of 62 are thrown away. */
function randomCharacters(count: number): string {
  const usable = 256 - (256 % ALPHABET.length);
  let characters = '';
  while (characters.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < usable && characters.length < count) characters += ALPHABET[byte % ALPHABET.length];
    }
  }
  return characters;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = ALPHABET[rest % ALPHABET.length] + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
