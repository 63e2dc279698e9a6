// When a client is told that its audio waits because no node can be asked for a leg: once in each wait, and only while something
// waits.
import type { Clock } from '../../../machines/clock.ts';

export const WAITING_MS = 2_000;

export class WaitWatch {
  private readonly clock: Clock;
  private readonly tell: () => boolean;
  private timer: unknown;
  private told = false;

  /** @param tell gives whether there was anything to tell of */
  constructor(clock: Clock, tell: () => boolean) {
    this.clock = clock;
    this.tell = tell;
  }

  /** A node is asked for a leg. */
  begin(): void {
    if (this.told) return;
    this.timer ??= this.clock.setTimeout(() => {
      this.timer = undefined;
      this.told = this.tell();
      this.begin();
    }, WAITING_MS);
  }

  /** A node has opened one, or nobody wants it any more. */
  stop(): void {
    this.clock.clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** The leg works: the next wait is another. */
  over(): void {
    this.stop();
    this.told = false;
  }
}
