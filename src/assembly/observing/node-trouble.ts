// Connections to providers that no other node opened, because it was frozen, killed or full: every session there meets the same, so
// the log has one plain line a minute.
import { BusError } from '../../bus/bus.ts';
import { LegUnplaced } from '../../session/leg/open-leg.ts';
import type { Logger } from '../../telemetry/log.ts';

const LINE_EVERY_MS = 60_000;

/** Whether a node did not do its part, and no line of code is to blame. */
export const isNodeTrouble = (error: unknown): error is Error =>
  error instanceof LegUnplaced || (error instanceof BusError && error.reason !== 'handler_failed');

export class NodeTrouble {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #now: () => number;
  #lineAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last line. */
  #attempts = 0;

  constructor(logger: Pick<Logger, 'warn'>, now = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  add(reason: string, sessionId: string): void {
    this.#attempts++;
    const now = this.#now();
    if (now - this.#lineAtMs < LINE_EVERY_MS) return;
    this.#lineAtMs = now;
    this.#logger.warn({ sessionId, attempts: this.#attempts, reason }, 'no node opened a connection to a provider');
    this.#attempts = 0;
  }
}
