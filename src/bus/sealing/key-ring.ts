// Keys for what leaves a node, out of the gateway's secret: a new one for each purpose and each start, with a hint that lets who
// has the secret, or the one before while it is changed, find the same key without asking.
import { hkdfSync, randomBytes } from 'node:crypto';
import { keyFor, SEALING_KEY_BYTES } from '../../runtime/sealing.ts';
import type { SigningSecrets } from '../signed.ts';

const SALT_BYTES = 16;
/** A salt; and while the secret is changed the key under a pad that is made of the secret before. */
export const HINT_BYTES: readonly number[] = [SALT_BYTES, SALT_BYTES + SEALING_KEY_BYTES];

export interface FreshKey {
  key: Uint8Array;
  /** Not secret; travels with what is sealed. */
  hint: Buffer;
}

export class KeyRing {
  readonly #main: Uint8Array;
  readonly #previous: Uint8Array | undefined;

  /** @param purpose what is sealed for one purpose opens for no other */
  constructor({ secret, previousSecret }: SigningSecrets, purpose: string) {
    this.#main = keyFor(`voxgate ${purpose}`, secret);
    this.#previous = previousSecret === undefined ? undefined : keyFor(`voxgate ${purpose}`, previousSecret);
  }

  /** A key that was never used before. */
  fresh(): FreshKey {
    const salt = randomBytes(SALT_BYTES);
    const key = derived(this.#main, salt, 'key');
    // Nodes that have not heard of the new secret yet read it too, whichever of them is changed first.
    const slot = this.#previous === undefined ? [] : [xor(key, derived(this.#previous, salt, 'pad'))];
    return { key, hint: Buffer.concat([salt, ...slot]) };
  }

  /** The keys it can be; which of them it is, shows when something opens. */
  candidates(hint: Uint8Array): Uint8Array[] {
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
