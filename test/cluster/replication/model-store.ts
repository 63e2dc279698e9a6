// A database for replicas that is small enough to check: accounts with a balance that cannot become negative.
import { createHash } from 'node:crypto';
import type { Clock } from '../../../machines/clock.ts';
import type { LogEntry } from '../../../src/cluster/replication/entry.ts';
import type { AppliedEntry, ReplicaStore } from '../../../src/cluster/replication/replica-store.ts';
import { NO_POSITION, type ReplicaPosition } from '../../../src/store/replica-position.ts';
import { StoreError } from '../../../src/store/store-error.ts';

export type ModelAnswer = 'booked' | 'refused';

/** `['add', id, account, amount]` */
export const add = (id: number, account: string, amount: number) => ({ name: 'add', args: [id, account, amount] });

/** A first entry, or one that says it is a later one. */
export const entryOf = (number: number, calls: LogEntry['calls'] = []): LogEntry => ({
  kind: 'calls',
  ledger: 'led_0',
  epoch: 1,
  number,
  previous: '',
  outcome: '',
  nowMs: 1_800_000_000_000,
  version: 1,
  node: 'accounts-0',
  calls,
});

export class ModelStore implements ReplicaStore<ModelAnswer> {
  /** Ids of the calls that were booked, in their order. */
  booked: number[] = [];
  refused: number[] = [];
  /** Of the entries, in milliseconds. */
  times: number[] = [];
  readonly balances = new Map<string, number>();
  /** Why nothing can be written at present. */
  fault: StoreError | undefined;
  #position: ReplicaPosition = NO_POSITION;
  #kept: { number: number; hash: string; bytes: Uint8Array }[] = [];
  /** Of the process that has it open. */
  clock: Clock;
  /** Of one commit. */
  readonly #commitMs: () => number;

  constructor(clock: Clock, commitMs: () => number = () => 0) {
    this.clock = clock;
    this.#commitMs = commitMs;
  }

  async position(): Promise<ReplicaPosition> {
    return this.#position;
  }

  async apply(
    entry: LogEntry,
    bytes: Uint8Array,
    { leaves = false, ...at }: { hash: string; sequence: number; leaves?: boolean },
  ): Promise<AppliedEntry<ModelAnswer>> {
    await new Promise<void>((resolve) => void this.clock.setTimeout(() => resolve(), this.#commitMs()));
    if (this.fault !== undefined) throw this.fault;
    if (entry.number !== this.#position.number + 1)
      throw new StoreError('conflict', `entry ${entry.number} after ${this.#position.number}`);
    if (entry.calls.some(({ name }) => name !== 'add')) throw new StoreError('invalid', 'an unknown call');
    const answers = entry.calls.map(({ args }) => this.#add(...(args as [number, string, number])));
    const outcome = createHash('sha256')
      .update(`${this.#position.outcome}${JSON.stringify(answers)}`)
      .digest('base64url');
    this.#position = leaves ? NO_POSITION : { epoch: entry.epoch, number: entry.number, outcome, ...at };
    this.times.push(entry.nowMs);
    this.#kept.push({ number: entry.number, hash: at.hash, bytes });
    return { answers, outcome };
  }

  async moved(number: number, sequence: number): Promise<void> {
    if (number === this.#position.number) this.#position = { ...this.#position, sequence };
  }

  async kept(afterNumber: number): Promise<Uint8Array[]> {
    return this.#kept.filter(({ number }) => number > afterNumber).map(({ bytes }) => bytes);
  }

  async hashAt(number: number): Promise<string | undefined> {
    return this.#kept.find((each) => each.number === number)?.hash;
  }

  /** Equal for equal content; an entry without calls may be on its way. */
  get content(): string {
    return JSON.stringify([this.booked, this.refused, [...this.balances]]);
  }

  /** The content of another one, as a snapshot brings it. */
  copyFrom(other: ModelStore): void {
    this.booked = [...other.booked];
    this.refused = [...other.refused];
    this.times = [...other.times];
    this.balances.clear();
    for (const [account, balance] of other.balances) this.balances.set(account, balance);
    this.#position = other.#position;
    this.#kept = [...other.#kept];
  }

  #add(id: number, account: string, amount: number): ModelAnswer {
    const balance = (this.balances.get(account) ?? 0) + amount;
    if (balance < 0) {
      this.refused.push(id);
      return 'refused';
    }
    this.balances.set(account, balance);
    this.booked.push(id);
    return 'booked';
  }
}
