// Passwords: which are taken, how they are hashed, and how many hashes there may be at a time. Hashing happens in the process's
// thread pool, never on the main loop.
import * as crypto from 'node:crypto';
import { type ApiError, apiError } from '../../api/errors.ts';
import { isCommonPassword } from './common-passwords.ts';

export const PASSWORD_LENGTH = { min: 8, max: 256 } as const;

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const SCRYPT = { n: 32_768, r: 8, p: 3 } as const;
/** Memory in KiB, passes, lanes. */
const ARGON2 = { m: 19_456, t: 2, p: 1 } as const;
/** scrypt needs 128·n·r bytes and a little more. */
const SCRYPT_MEMORY_MAX = 2 * 128 * SCRYPT.n * SCRYPT.r;

/** What Node has of it from version 24.7 on. */
interface Argon2Parameters {
  message: Uint8Array;
  nonce: Uint8Array;
  parallelism: number;
  tagLength: number;
  memory: number;
  passes: number;
}
type Argon2 = (
  algorithm: 'argon2id',
  parameters: Argon2Parameters,
  done: (error: Error | null, hash: Uint8Array) => void,
) => void;

const argon2 = (crypto as unknown as { argon2?: Argon2 }).argon2;

type Scheme = 'argon2id' | 'scrypt';
type Parameters = Readonly<Record<string, number>>;

const PARAMETERS: Readonly<Record<Scheme, Parameters>> = { argon2id: ARGON2, scrypt: SCRYPT };

/** The best there is in this process. */
const PREFERRED: Scheme = argon2 === undefined ? 'scrypt' : 'argon2id';

/** Throws an ApiError that says what is wrong with a new password; never shows it. */
export function checkPassword(password: string, email: string): void {
  // As it is hashed: one password however it was typed.
  const plain = password.normalize('NFKC').toLowerCase();
  const { length } = [...password.normalize('NFKC')];
  const { min, max } = PASSWORD_LENGTH;
  if (length < min || length > max) {
    throw badPassword(`has ${length} characters; it has ${min} to ${max}, and 15 or more are better.`);
  }
  const isOfAddress = [email, email.slice(0, email.lastIndexOf('@'))].some((part) => part.toLowerCase() === plain);
  if (isOfAddress || isCommonPassword(plain) || isTrivialPassword(plain, email)) {
    throw badPassword('is one of the first that anybody would try. Take another; several words in a row are good.');
  }
}

function badPassword(what: string): ApiError {
  return apiError('invalid_request', `\`password\` ${what}`, { param: 'password' });
}

/** How new passwords are hashed, and how any that is kept is compared. */
export class Passwords {
  readonly #scheme: Scheme;
  readonly #parameters: Parameters;

  /** @param scheme and its parameters; the best there is in this process when absent */
  constructor(scheme: Scheme = PREFERRED, parameters: Parameters = PARAMETERS[scheme]) {
    this.#scheme = scheme;
    this.#parameters = parameters;
  }

  /** A new salted hash with its parameters: `$scrypt$n=32768,r=8,p=3$<salt>$<hash>`. */
  async hash(password: string): Promise<string> {
    const salt = crypto.randomBytes(SALT_BYTES);
    return this.#encode(salt, await derive(this.#scheme, this.#parameters, password, salt));
  }

  /** A hash that matches no password, so that a login without an account takes as long as any other. */
  decoy(): string {
    return this.#encode(crypto.randomBytes(SALT_BYTES), crypto.randomBytes(HASH_BYTES));
  }

  /** `isOld`: hashed in another way than new ones are; worth hashing again while the password is at hand. */
  async verify(password: string, stored: string): Promise<{ matches: boolean; isOld: boolean }> {
    const [, scheme, list = '', salt = '', hash = ''] = stored.split('$');
    if (scheme !== 'scrypt' && scheme !== 'argon2id') throw new Error('A stored password has an unknown form.');
    const parameters = Object.fromEntries(list.split(',').map((pair) => [pair.slice(0, 1), Number(pair.slice(2))]));
    const wanted = Buffer.from(hash, 'base64url');
    const got = await derive(scheme, parameters, password, Buffer.from(salt, 'base64url'));
    const matches = got.length === wanted.length && crypto.timingSafeEqual(got, wanted);
    return { matches, isOld: scheme !== this.#scheme || list !== listOf(this.#parameters) };
  }

  #encode(salt: Uint8Array, hash: Uint8Array): string {
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
    return `$${this.#scheme}$${listOf(this.#parameters)}$${text(salt)}$${text(hash)}`;
  }
}

function derive(scheme: Scheme, parameters: Parameters, password: string, salt: Uint8Array): Promise<Uint8Array> {
  // One password however it was typed: accents can be written in more than one way.
  const message = Buffer.from(password.normalize('NFKC'));
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, hash: Uint8Array) => (error === null ? resolve(hash) : reject(error));
    const { n = 0, r = 0, p = 0, m = 0, t = 0 } = parameters;
    if (scheme === 'scrypt') {
      crypto.scrypt(message, salt, HASH_BYTES, { N: n, r, p, maxmem: SCRYPT_MEMORY_MAX }, done);
    } else if (argon2 === undefined) {
      reject(new Error('A stored password was hashed with argon2id, which this version of Node does not have.'));
    } else {
      const sizes = { parallelism: p, tagLength: HASH_BYTES, memory: m, passes: t };
      argon2('argon2id', { message, nonce: salt, ...sizes }, done);
    }
  });
}

function listOf(parameters: Parameters): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

// Recognises trivial passwords without a list: runs of characters, and words of the page or of the address.
const PRODUCT = 'voxgate';
/** Rows of the usual keyboards, in the order in which fingers run over them. */
const ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop', 'yxcvbnm', 'azertyuiop', 'qsdfghjklm'];
const RUN_MIN = 3;
/** What is repeated may be so long: `abcdabcd`. */
const UNIT_MAX = 4;
/** Fewer letters and digits beside a known word make no other password of it. */
const BESIDE_MIN = 4;

/** @param plain in lower case, normalised */
export function isTrivialPassword(plain: string, email: string): boolean {
  const characters = [...plain];
  if (isRepeated(characters) || isMadeOfRuns(characters)) return true;
  const known = [PRODUCT, ...wordsOf(email.toLowerCase())];
  const rest = known.reduce((left, word) => left.replaceAll(word, ''), plain);
  if (rest === plain) return false;
  const beside = [...rest].filter((character) => /[\p{L}\p{N}]/u.test(character));
  return beside.length < BESIDE_MIN || /^\d{1,4}$/.test(beside.join('')) || isMadeOfRuns(beside);
}

/** The whole address, what is before the @, the domain, and their parts; the longest first, none so short that it is in many words. */
function wordsOf(email: string): string[] {
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, at), email.slice(at + 1)];
  const words = [email, local, domain, ...local.split(/[.+_-]/), ...domain.split('.')];
  return words.filter((word) => word.length >= BESIDE_MIN).sort((a, b) => b.length - a.length);
}

function isRepeated(characters: readonly string[]): boolean {
  for (let unit = 1; unit <= UNIT_MAX; unit++) {
    if (characters.every((character, index) => character === characters[index % unit])) return true;
  }
  return false;
}

/** Whether it falls into runs such as `aaa`, `4321` and `qwer`, whatever they are. */
function isMadeOfRuns(characters: readonly string[]): boolean {
  for (let at = 0; at < characters.length; ) {
    const length = Math.max(...STEPS.map((step) => runLength(characters, at, step)));
    if (length < RUN_MIN) return false;
    at += length;
  }
  return characters.length > 0;
}

type Step = (one: string, next: string) => boolean;

const by =
  (difference: number): Step =>
  (one, next) =>
    next.codePointAt(0) === (one.codePointAt(0) as number) + difference;
const along =
  (row: string): Step =>
  (one, next) =>
    row.includes(one + next);
const reversed = (row: string): string => [...row].reverse().join('');

const STEPS: readonly Step[] = [by(0), by(1), by(-1), ...ROWS.flatMap((row) => [along(row), along(reversed(row))])];

function runLength(characters: readonly string[], from: number, step: Step): number {
  let to = from + 1;
  while (to < characters.length && step(characters[to - 1] as string, characters[to] as string)) to++;
  return to - from;
}
