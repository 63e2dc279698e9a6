// Sends the usage history of this node to a ledger that may lack some of it, as after a restore from a backup. The ledger settles each
// session once, however often it is sent.
import type { Clock } from '../../../../machines/clock.ts';
import type { SessionEnd, SessionHead } from '../../store/calls.ts';
import { daysIn } from './replay.ts';

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
