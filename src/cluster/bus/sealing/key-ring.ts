// Derives encryption keys from the gateway's secret: one for each purpose and each start of a process. A hint travels with the
// message, from which a node with the secret (or the previous one, during rotation) derives the same key.
import { hkdfSync, randomBytes } from 'node:crypto';
import { keyFor, openBytes, SEALING_KEY_BYTES, sealBytes } from '../../../runtime/sealing.ts';
import type { SigningSecrets } from '../signed.ts';

const SALT_BYTES = 16;
/** A nonce is random, so a key does not seal without an end. */
const ENTRIES_PER_KEY = 2 ** 20;
/** A salt; during rotation also the key, encrypted under a pad derived from the previous secret. */
export const HINT_BYTES: readonly number[] = [SALT_BYTES, SALT_BYTES + SEALING_KEY_BYTES];

interface FreshKey {
  key: Uint8Array;
  /** Not secret; travels with the sealed message. */
  hint: Buffer;
}

export class KeyRing {
  readonly #main: Uint8Array;
  readonly #previous: Uint8Array | undefined;
  /** The key of the entries that are sealed at present, and how many more it seals. */
  #current: FreshKey | undefined;
  #left = 0;
  /** Of the entry that was opened last: most come from the same writer. */
  #last: { hint: Buffer; keys: Uint8Array[] } | undefined;

  /** @param purpose a message sealed for one purpose cannot be opened for another */
  constructor({ secret, previousSecret }: SigningSecrets, purpose: string) {
    this.#main = keyFor(`voxgate ${purpose}`, secret);
    this.#previous = previousSecret === undefined ? undefined : keyFor(`voxgate ${purpose}`, previousSecret);
  }

  /** A key that was never used before. */
  fresh(): FreshKey {
    const salt = randomBytes(SALT_BYTES);
    const key = derived(this.#main, salt, 'key');
    // Nodes that do not know the new secret yet can read it too, in whichever order the nodes are updated.
    const slot = this.#previous === undefined ? [] : [xor(key, derived(this.#previous, salt, 'pad'))];
    return { key, hint: Buffer.concat([salt, ...slot]) };
  }

  /** A key for many entries. */
  current(): FreshKey {
    if (this.#current === undefined || this.#left === 0) {
      this.#current = this.fresh();
      this.#left = ENTRIES_PER_KEY;
    }
    this.#left--;
    return this.#current;
  }

  /** The candidate keys. The right one is the one that opens the message. */
  candidates(hint: Uint8Array): Uint8Array[] {
    if (this.#last?.hint.equals(hint) !== true) {
      const own = Buffer.from(hint);
      this.#last = { hint: own, keys: this.#derive(own) };
    }
    return this.#last.keys;
  }

  #derive(hint: Uint8Array): Uint8Array[] {
    const salt = hint.subarray(0, SALT_BYTES);
    const slot = hint.subarray(SALT_BYTES);
    const masters = this.#previous === undefined ? [this.#main] : [this.#main, this.#previous];
    return masters.flatMap((master) => {
      const own = derived(master, salt, 'key');
      return slot.byteLength === 0 ? [own] : [own, xor(slot, derived(master, salt, 'pad'))];
    });
  }
}

const derived = (master: Uint8Array, salt: Uint8Array, use: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, salt, use, SEALING_KEY_BYTES));

const xor = (one: Uint8Array, other: Uint8Array): Uint8Array => one.map((byte, at) => byte ^ (other[at] as number));

/**
 * Seals an entry of a NATS bucket for its name: only a node with the secret can have written it, and it cannot be moved to
 * another name. There is no replay protection: the reader has to detect an old entry.
 */
export function sealEntry(ring: KeyRing, name: string, plain: Uint8Array): Buffer {
  const { key, hint } = ring.current();
  return Buffer.concat([Buffer.from([hint.length]), hint, sealBytes(key, name, plain)]);
}

/** Undefined when no node with this secret wrote it under that name. */
export function openEntry(ring: KeyRing, name: string, data: Uint8Array): Buffer | undefined {
  const hintBytes = data[0] ?? 0;
  if (!HINT_BYTES.includes(hintBytes) || data.byteLength <= hintBytes) return undefined;
  const [hint, sealed] = [data.subarray(1, 1 + hintBytes), data.subarray(1 + hintBytes)];
  for (const key of ring.candidates(hint)) {
    const plain = openBytes(key, name, sealed);
    if (plain !== undefined) return plain;
  }
  return undefined;
}
