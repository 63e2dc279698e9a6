// How long the connections of a session to models whose price is metered by that were open, by the gateway's own clock and no
// further than money is held for.
import type { Clock } from '../../../machines/clock.ts';
import type { MeterMember } from '../../ledger/meter.ts';

export class ConnectionTime {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #members: readonly MeterMember[];
  /** Milliseconds of each member, in the order in which they were connected first. */
  readonly #counted = new Map<number, number>();
  #open: { index: number; sinceMs: number; limitMs: number } | undefined;

  constructor(clock: Pick<Clock, 'now'>, members: readonly MeterMember[]) {
    this.#clock = clock;
    this.#members = members;
  }

  /** A leg of the member is ready. */
  opened(index: number): void {
    this.closed();
    if (this.#members[index]?.metered === 'connection') {
      this.#open = { index, sinceMs: this.#clock.now() - (this.#counted.get(index) ?? 0), limitMs: 0 };
    }
  }

  /** The leg was let go of. */
  closed(): void {
    if (this.#open !== undefined) this.#counted.set(this.#open.index, this.msOf(this.#open.index));
    this.#open = undefined;
  }

  /** What is held pays for so much of the member that is connected. What was counted already stays. */
  limitTo(ms: number): void {
    if (this.#open !== undefined) this.#open.limitMs = Math.max(ms, this.msOf(this.#open.index));
  }

  /** How long the connection may still be open; without end where none is that is metered so. */
  get leftMs(): number {
    const open = this.#open;
    return open === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(0, open.limitMs - (this.#clock.now() - open.sinceMs));
  }

  /** Members with such connections. */
  get indexes(): number[] {
    const counted = this.#counted;
    const open = this.#open;
    const indexes = open === undefined ? [...counted.keys()] : [...counted.keys(), open.index];
    return indexes.filter((index) => this.msOf(index) > 0);
  }

  /** Whole milliseconds: what is billed never takes more than was counted. */
  msOf(index: number): number {
    const open = this.#open;
    const before = this.#counted.get(index) ?? 0;
    if (open?.index !== index) return before;
    return Math.max(before, Math.floor(Math.min(open.limitMs, this.#clock.now() - open.sinceMs)));
  }
}
