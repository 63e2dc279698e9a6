// What came to the ledger out of the usage histories of other nodes, in one report when nothing more comes.
import type { Clock } from '../../../../machines/clock.ts';
import type { SettledAgain } from './replay.ts';

const QUIET_MS = 2_000;

export interface HistoryCounts {
  /** Sessions that were sent. */
  sessions: number;
  /** Those that the ledger lacked: they are settled now. */
  added: number;
  /** Those that it cannot settle: it does not know their organisation. */
  refused: number;
}

export class HistoryReport {
  /** Sessions that the ledger lacked, since the start. */
  added = 0;
  readonly #clock: Clock;
  readonly #report: (counts: HistoryCounts) => void;
  #counts: HistoryCounts | undefined;
  #timer: unknown;

  constructor(clock: Clock, report: (counts: HistoryCounts) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  note(outcome: SettledAgain): void {
    this.#counts ??= { sessions: 0, added: 0, refused: 0 };
    this.#counts.sessions++;
    if (outcome !== 'known') this.#counts[outcome]++;
    if (outcome === 'added') this.added++;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(() => this.close(), QUIET_MS);
  }

  close(): void {
    this.#clock.clearTimeout(this.#timer);
    const counts = this.#counts;
    this.#counts = undefined;
    if (counts !== undefined) this.#report(counts);
  }
}
