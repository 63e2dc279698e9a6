// The record of the gateway's ledger on NATS: a database may keep the accounts only if it is that ledger and not an older copy of
// it. While it is in force, its progress is written to the record.
import type { Clock } from '../../../machines/clock.ts';
import type { IdentityStore, LedgerIdentity } from '../../store/identity.ts';
import type { Records } from '../bus/nats/jetstream/records.ts';
import { ClusterError } from '../membership/name-lease.ts';
import { judgeLedger, ownSentence, readKnown } from './judgement.ts';

/** The interval of these writes. A copy that lacks less than this cannot be told from a current one. */
const NOTE_MS = 5_000;

export interface LedgerRecordOptions {
  records: Records;
  store: Pick<IdentityStore, 'findLedger' | 'noteLedger'>;
  clock: Clock;
  shard: string;
  /** The database's directory, for messages. */
  directory: string;
  /** Called once each time that writing begins to fail. */
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

  /** Writes the ledger's progress every few seconds from now on. */
  keep(): void {
    this.#arm();
  }

  /** Writes it once more, so that the next start needs a copy with everything. Never rejects. */
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
    // Either an own write whose answer was lost, or another ledger is in force; that record is not overwritten.
    const found = await records.read(this.#name);
    const isOwn = found !== undefined && readKnown(found.value)?.id === id;
    this.#noted = isOwn ? { sequence: found.sequence, text: '' } : undefined;
  }
}
