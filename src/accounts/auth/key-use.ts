// Collects when keys were last used, and how many client tokens they minted, and tells the store at most once a minute. A crash
// loses one minute of that.
import type { Clock } from '../../../machines/clock.ts';
import type { KeyStore, KeyUsed } from '../keys/calls.ts';

const FLUSH_MS = 60_000;
const KEYS_MAX = 10_000;

export interface KeyUseOptions {
  store: Pick<KeyStore, 'noteKeysUsed'>;
  clock: Clock;
  /** Keys collected at a time, 10,000 when absent. Past it the one that was not used for longest is left out. */
  keysMax?: number;
}

export class KeyUse {
  readonly #store: Pick<KeyStore, 'noteKeysUsed'>;
  readonly #clock: Clock;
  readonly #keysMax: number;
  /** By key id, the longest ago first. */
  readonly #used = new Map<string, { organisationId: string; atMs: number; tokens: number }>();
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

  /**
   * @param atMs epoch milliseconds
   * @param tokens that it minted then
   */
  note(organisationId: string, keyId: string, atMs: number, tokens = 0): void {
    if (this.#closed) return;
    const before = this.#used.get(keyId)?.tokens ?? 0;
    this.#used.delete(keyId);
    this.#used.set(keyId, { organisationId, atMs, tokens: before + tokens });
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
    const byOrganisation = new Map<string, KeyUsed[]>();
    for (const [keyId, { organisationId, atMs, tokens }] of this.#used) {
      const used = byOrganisation.get(organisationId) ?? [];
      byOrganisation.set(organisationId, used);
      used.push({ keyId, atMs, ...(tokens > 0 && { tokens }) });
    }
    this.#used.clear();
    for (const [organisationId, used] of byOrganisation) {
      byOrganisation.delete(organisationId);
      try {
        await this.#store.noteKeysUsed(organisationId, used);
      } catch {
        // The other keys would fail now as well.
        this.#keepTokens([[organisationId, used], ...byOrganisation]);
        return;
      }
    }
  }

  /** A use is not worth a retry: the next reports it again. Tokens belong into the audit log. */
  #keepTokens(left: Iterable<[organisationId: string, used: readonly KeyUsed[]]>): void {
    for (const [organisationId, used] of left) {
      for (const { keyId, atMs, tokens } of used) {
        if (tokens === undefined || this.#closed) this.#dropped++;
        else this.note(organisationId, keyId, this.#used.get(keyId)?.atMs ?? atMs, tokens);
      }
    }
  }

  #dropOldest(): void {
    const [oldest] = this.#used.keys();
    this.#used.delete(oldest!);
    this.#dropped += 1;
  }
}
