// The share of a limit that this node applies alone while it cannot reach the others: the limit divided by the nodes that served
// clients when they were last heard of.
import type { Clock } from '../../../machines/clock.ts';

/** A node that was silent for this long, while others could be heard, does not count any more. */
const SHRINK_MS = 30_000;

export interface LimitShareOptions {
  clock: Pick<Clock, 'now'>;
  bus: { readonly isConnected: boolean };
  /** Nodes that serve clients and are heard of now, this one included. */
  edges(): number;
}

export class LimitShare {
  readonly #options: LimitShareOptions;
  #known = 1;
  #fewerSinceMs: number | undefined;

  constructor(options: LimitShareOptions) {
    this.#options = options;
  }

  /**
   * At least one. While the bus is down no node is heard, so the number only shrinks after it is certain. Call it when a node
   * comes or goes, and before each use.
   */
  look(): number {
    const { clock, bus, edges } = this.#options;
    const heard = edges();
    if (heard >= this.#known) this.#known = heard;
    if (heard >= this.#known || !bus.isConnected) {
      this.#fewerSinceMs = undefined;
      return this.#known;
    }
    this.#fewerSinceMs ??= clock.now();
    if (clock.now() - this.#fewerSinceMs >= SHRINK_MS) {
      this.#known = Math.max(1, heard);
      this.#fewerSinceMs = undefined;
    }
    return this.#known;
  }

  /** At least one. */
  of(max: number): number {
    return Math.max(1, Math.floor(max / this.look()));
  }
}
