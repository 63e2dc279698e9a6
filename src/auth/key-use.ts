// When keys were last used, on its way to the store: collected, and told at most once a minute. What nobody is told of in a
// crash is one minute of "last used".
import type { Clock } from '../../machines/clock.ts';
import type { Store } from '../store/store.ts';

const FLUSH_MS = 60_000;
const KEYS_MAX = 10_000;

export interface KeyUseOptions {
  store: Pick<Store, 'noteKeysUsed'>;
  clock: Clock;
  /** Keys collected at a time, 10,000 when absent. Past it the one that was not used for longest is left out. */
  keysMax?: number;
}

export class KeyUse {
  readonly #store: Pick<Store, 'noteKeysUsed'>;
  readonly #clock: Clock;
  readonly #keysMax: number;
  /** Epoch milliseconds by key id, the longest ago first. */
  readonly #usedAtMs = new Map<string, number>();
  #timer: unknown;
  #closed = false;
  #dropped = 0;

  constructor({ store, clock, keysMax = KEYS_MAX }: KeyUseOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#keysMax = keysMax;
  }

  /** Uses that were left out, because too many keys were in use at once. */
  get dropped(): number {
    return this.#dropped;
  }

  /** @param atMs epoch milliseconds */
  note(keyId: string, atMs: number): void {
    if (this.#closed) return;
    this.#usedAtMs.delete(keyId);
    this.#usedAtMs.set(keyId, atMs);
    if (this.#usedAtMs.size > this.#keysMax) this.#dropOldest();
    this.#timer ??= this.#clock.setTimeout(() => void this.#flush(), FLUSH_MS);
  }

  /** Tells what is left. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#clock.clearTimeout(this.#timer);
    await this.#flush();
  }

  async #flush(): Promise<void> {
    this.#timer = undefined;
    const used = [...this.#usedAtMs].map(([keyId, atMs]) => ({ keyId, atMs }));
    this.#usedAtMs.clear();
    if (used.length === 0) return;
    try {
      await this.#store.noteKeysUsed(used);
    } catch {
      // Nice to know, and no more than that: the next use tells the same again.
      this.#dropped += used.length;
    }
  }

  #dropOldest(): void {
    const [oldest] = this.#usedAtMs.keys();
    this.#usedAtMs.delete(oldest!);
    this.#dropped += 1;
  }
}
