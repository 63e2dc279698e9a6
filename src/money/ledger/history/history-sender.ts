// Sends the usage history of this node to a ledger that may lack some of it, as after a restore from a backup. The ledger settles each
// session once, however often it is sent.
import type { Clock } from '../../../../machines/clock.ts';
import type { SessionEnd, SessionHead } from '../../store/calls.ts';
import { daysIn, type SettledAgain } from './replay.ts';

/** Sessions that are on their way at the same time. */
const SENDING_MAX = 32;
const AGAIN_MS = 1_000;
const AGAIN_MS_MAX = 30_000;

export interface HistorySenderOptions {
  directory: string;
  clock: Clock;
  /** Resolves when the session is stored on its way to the ledger; rejects when it has to be sent again. */
  send(head: SessionHead, end: SessionEnd, generation: number): Promise<void>;
  /** The whole history is on its way to the ledger of that generation. */
  onSent(generation: number, sessions: number): void;
  /** Called once each time that it begins to fail; it is tried again. */
  onFault(error: unknown): void;
}

export class HistorySender {
  readonly #options: HistorySenderOptions;
  /** The newest generation of the ledger. */
  #generation: number | undefined;
  #isRunning = false;
  #isClosed = false;
  #failures = 0;
  #timer: unknown;

  constructor(options: HistorySenderOptions) {
    this.#options = options;
  }

  /** Sends everything from the beginning, to the ledger of that generation. */
  begin(generation: number): void {
    if (this.#generation === generation || this.#isClosed) return;
    this.#generation = generation;
    if (!this.#isRunning) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const { clock, onSent, onFault } = this.#options;
    const generation = this.#generation as number;
    this.#isRunning = true;
    try {
      const sessions = await this.#send(generation);
      this.#failures = 0;
      if (sessions !== undefined) onSent(generation, sessions);
    } catch (error) {
      if (this.#failures++ === 0) onFault(error);
    }
    this.#isRunning = false;
    if (this.#isClosed) return;
    if (this.#failures === 0 && this.#generation === generation) return;
    const afterMs = this.#failures === 0 ? 0 : Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** Math.min(10, this.#failures - 1));
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => {
      if (!this.#isRunning) void this.#run();
    }, afterMs);
  }

  /** Undefined when there is a newer generation, or the node ends: the rest is not sent. */
  async #send(generation: number): Promise<number | undefined> {
    const isStale = () => this.#isClosed || this.#generation !== generation;
    let sent = 0;
    for await (const { sessions } of daysIn(this.#options.directory)) {
      for (let first = 0; first < sessions.length; first += SENDING_MAX) {
        if (isStale()) return undefined;
        const some = sessions.slice(first, first + SENDING_MAX);
        await Promise.all(some.map(({ head, end }) => this.#options.send(head, end, generation)));
        sent += some.length;
      }
    }
    return isStale() ? undefined : sent;
  }
}

// What came to the ledger out of the usage histories of other nodes, in one report when nothing more comes.
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
