// Keys revoked just now: what was asked or decided about them a moment before counts no more. What was revoked earlier is the
// store's to say, and so is whether it was revoked at all.
import type { Clock } from '../../../machines/clock.ts';

/** Longer than anything that was begun before the revocation can take to get here. */
const REMEMBERED_MS = 10 * 60_000;
const KEYS_MAX = 10_000;

export class Revocations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #keysMax: number;
  /** When each was revoked, the longest ago first. */
  readonly #atMs = new Map<string, number>();

  /** @param keysMax past it the one revoked longest ago is forgotten */
  constructor(clock: Pick<Clock, 'now'>, keysMax = KEYS_MAX) {
    this.#clock = clock;
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#atMs.size;
  }

  add(keyId: string): void {
    const nowMs = this.#clock.now();
    this.#atMs.delete(keyId);
    this.#atMs.set(keyId, nowMs);
    for (const [oldest, atMs] of this.#atMs) {
      if (nowMs - atMs < REMEMBERED_MS && this.#atMs.size <= this.#keysMax) return;
      this.#atMs.delete(oldest);
    }
  }

  /** The store was asked after it was told of the revocation, and knows of none. */
  forget(keyId: string): void {
    this.#atMs.delete(keyId);
  }

  has(keyId: string): boolean {
    return this.#atMs.has(keyId);
  }
}
