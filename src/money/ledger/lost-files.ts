// When files are given up whose process was killed: the ledger closes those that hold nothing any more. One that somebody works on
// renews its hold, so it is never without one for long.
import type { Clock } from '../../../machines/clock.ts';
import type { LedgerStore } from '../store/calls.ts';
import { LEASE_MS } from './meter.ts';

/** The store closes so many at a time. */
const AT_ONCE = 1_000;
const AGAIN_MS = 60_000;
/** Sessions younger than so many others are looked at: all that may be open at a start, and as many as come between two looks. */
const AMONG = { start: 200_000, later: 10_000 } as const;

export interface LostFilesOptions {
  store: Pick<LedgerStore, 'closeLostFiles'>;
  clock: Clock;
  /** Epoch milliseconds. */
  wallNowMs(): number;
  /** How long a file that holds nothing may come back to its hold: while the ledger does not answer, none is renewed. */
  graceMs: number;
  onClosed(files: number): void;
  onFault(error: unknown): void;
}

export class LostFiles {
  readonly #options: LostFilesOptions;
  #timer: unknown;
  #among: number = AMONG.start;
  #isClosed = false;

  constructor(options: LostFilesOptions) {
    this.#options = options;
    void this.#look();
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { store, clock, wallNowMs, graceMs, onClosed, onFault } = this.#options;
    try {
      const files = await closeLostFiles(store, wallNowMs() - Math.max(graceMs, 2 * LEASE_MS), this.#among);
      if (files > 0) onClosed(files);
      this.#among = AMONG.later;
    } catch (error) {
      onFault(error);
    }
    if (!this.#isClosed) this.#timer = clock.setTimeout(() => void this.#look(), AGAIN_MS);
  }
}

/** Closes files that hold nothing since then, and says how many. */
export async function closeLostFiles(
  store: LostFilesOptions['store'],
  untilMs: number,
  among: number = AMONG.start,
): Promise<number> {
  let files = 0;
  for (let count = AT_ONCE; count === AT_ONCE; files += count) count = await store.closeLostFiles(untilMs, among);
  return files;
}
