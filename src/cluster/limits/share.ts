// What of a limit is this node's own while the others cannot be asked: as much as everybody's who served clients when they could
// be heard of last. Who that is, is told by the membership.
import type { Clock } from '../../../machines/clock.ts';

/** A node that was not heard of for so long, while others could be, is not counted on any more. */
const SHRINK_MS = 30_000;

export interface LimitShareOptions {
  clock: Pick<Clock, 'now'>;
  bus: { readonly isConnected: boolean };
  /** Nodes that serve clients, this one included, as far as they are heard of now. */
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
   * At least one. The nodes grow fewer here only after it is certain that they are: when the bus is away nobody is heard of. To be
   * looked at when anybody comes or goes, and before each use.
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
