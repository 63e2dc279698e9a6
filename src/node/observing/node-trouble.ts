// Trouble that every session and file meets at once, as when another node is frozen: one plain line a minute says so.
import type { Logger } from '../../runtime/telemetry/log.ts';

const LINE_EVERY_MS = 60_000;

export class NodeTrouble {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #message: string;
  readonly #now: () => number;
  #lineAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last line. */
  #attempts = 0;

  constructor(logger: Pick<Logger, 'warn'>, message: string, now = () => performance.now()) {
    this.#logger = logger;
    this.#message = message;
    this.#now = now;
  }

  add(fields: Readonly<Record<string, string>>): void {
    this.#attempts++;
    const now = this.#now();
    if (now - this.#lineAtMs < LINE_EVERY_MS) return;
    this.#lineAtMs = now;
    this.#logger.warn({ ...fields, attempts: this.#attempts }, this.#message);
    this.#attempts = 0;
  }
}
