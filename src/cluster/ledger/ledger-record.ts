// The ledger of the gateway as NATS remembers it: a database is let in only when it is that one and no older copy of it, and what
// it has come to is noted as long as it is in force.
import type { Clock } from '../../../machines/clock.ts';
import type { Records } from '../../bus/nats/jetstream/records.ts';
import type { LedgerIdentity } from '../../store/identity/calls.ts';
import type { Store } from '../../store/store.ts';
import { ClusterError } from '../membership/name-lease.ts';
import { judgeLedger, ownSentence, readKnown } from './judgement.ts';

/** What is written within this time of a loss is not told from what was never written. */
const NOTE_MS = 5_000;

export interface LedgerRecordOptions {
  records: Records;
  store: Pick<Store, 'findLedger' | 'noteLedger'>;
  clock: Clock;
  shard: string;
  /** Where the database is, for sentences. */
  directory: string;
  /** Once for each time that it begins to fail. */
  onFault(error: unknown): void;
}

export class LedgerRecord {
  readonly #options: LedgerRecordOptions;
  readonly #name: string;
  #noted: { sequence: number; text: string } | undefined;
  #isFailing = false;
  #isClosed = false;
  #timer: unknown;

  constructor(options: LedgerRecordOptions) {
    this.#options = options;
    this.#name = `ledger.${options.shard}`;
  }

  /**
   * Whether the database of this node may keep the accounts: asked before it is claimed.
   *
   * @throws ClusterError when it is another ledger or an older copy; BusError when that cannot be found out now
   */
  async admit(): Promise<void> {
    const { records, store, directory } = this.#options;
    const found = await records.read(this.#name);
    const known = readKnown(found?.value);
    const own = await store.findLedger();
    const judged = judgeLedger(own, known);
    if (judged !== 'right' && known !== undefined) throw new ClusterError(ownSentence(judged, own, known, directory));
    this.#noted = { sequence: found?.sequence ?? 0, text: '' };
    await this.#write(own);
  }

  /** From now on what the ledger has come to is noted every few seconds. */
  keep(): void {
    this.#arm();
  }

  /** Notes it once more: the copy that starts next is to have all of it. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
    await this.#note();
  }

  #arm(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.setTimeout(() => void this.#note().then(() => this.#arm()), NOTE_MS);
  }

  async #note(): Promise<void> {
    if (this.#noted === undefined) return;
    try {
      await this.#write(await this.#options.store.noteLedger());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#isClosed) this.#options.onFault(error);
      this.#isFailing = true;
    }
  }

  async #write({ id, generation, sequence }: LedgerIdentity): Promise<void> {
    const { records } = this.#options;
    const value = { id, generation, sequence };
    const text = JSON.stringify(value);
    if (this.#noted === undefined || this.#noted.text === text) return;
    const written = await records.write(this.#name, value, this.#noted.sequence);
    if (written !== undefined) {
      this.#noted = { sequence: written, text };
      return;
    }
    // This one has written, and never heard so; or another ledger is in force, over which nothing is written.
    const found = await records.read(this.#name);
    const isOwn = found !== undefined && readKnown(found.value)?.id === id;
    this.#noted = isOwn ? { sequence: found.sequence, text: '' } : undefined;
  }
}
