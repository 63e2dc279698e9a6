// How busy the event loop of this process is, as a share that rises from 0, where there is room, to 1.
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Clock } from '../../machines/clock.ts';

const LOOK_MS = 500;
/** Of the loop's time: below `low` there is room for everything, from `high` on for nothing that can be spared. */
const BUSY = { low: 0.3, high: 0.6 } as const;
/** How much of a new look counts: what follows from the share changes what is seen next. */
const NEW_SHARE = 0.25;

export class LoopLoad {
  readonly #clock: Clock;
  readonly #look: () => EventLoopUtilization;
  #timer: unknown;
  #seen: EventLoopUtilization;
  #share = 0;
  #closed = false;

  /** @param look tells how the loop's time was used since the process began */
  constructor(clock: Clock, look = () => performance.eventLoopUtilization()) {
    this.#clock = clock;
    this.#look = look;
    this.#seen = look();
    this.#arm();
  }

  get share(): number {
    return this.#share;
  }

  close(): void {
    this.#closed = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = this.#clock.setTimeout(() => {
      if (this.#closed) return;
      const seen = this.#look();
      const { utilization } = performance.eventLoopUtilization(seen, this.#seen);
      this.#seen = seen;
      const share = Math.min(1, Math.max(0, (utilization - BUSY.low) / (BUSY.high - BUSY.low)));
      this.#share += NEW_SHARE * (share - this.#share);
      this.#arm();
    }, LOOK_MS);
  }
}
