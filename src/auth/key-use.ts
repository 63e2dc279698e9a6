// Collects when keys were last used and writes it to the store at most once a minute. A crash loses one minute of these times.
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
  /** By key id, the longest ago first. */
  readonly #used = new Map<string, { organisationId: string; atMs: number }>();
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
  note(organisationId: string, keyId: string, atMs: number): void {
    if (this.#closed) return;
    this.#used.delete(keyId);
    this.#used.set(keyId, { organisationId, atMs });
    if (this.#used.size > this.#keysMax) this.#dropOldest();
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
    const byOrganisation = new Map<string, { keyId: string; atMs: number }[]>();
    for (const [keyId, { organisationId, atMs }] of this.#used) {
      const used = byOrganisation.get(organisationId);
      if (used === undefined) byOrganisation.set(organisationId, [{ keyId, atMs }]);
      else used.push({ keyId, atMs });
    }
    this.#used.clear();
    for (const [organisationId, used] of byOrganisation) {
      byOrganisation.delete(organisationId);
      try {
        await this.#store.noteKeysUsed(organisationId, used);
      } catch {
        // Not worth a retry: the next use reports it again, and the other keys would fail now as well.
        for (const left of [used, ...byOrganisation.values()]) this.#dropped += left.length;
        return;
      }
    }
  }

  #dropOldest(): void {
    const [oldest] = this.#used.keys();
    this.#used.delete(oldest!);
    this.#dropped += 1;
  }
}
