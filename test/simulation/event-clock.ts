// A clock that stands until it is told to go to the next timer: a whole session passes in as many steps as things happen.
import type { Clock } from '../../machines/clock.ts';
import { settle } from '../fakes/session-rig.ts';

interface Timer {
  id: number;
  dueMs: number;
  fire: () => void;
}

/** Timers of one moment fire in the order they were set. */
export class EventClock implements Clock {
  private nowMs = 0;
  private ids = 0;
  /** Sorted by due time, then by id. */
  private readonly timers: Timer[] = [];

  now(): number {
    return this.nowMs;
  }

  /** Timers that are set. */
  get size(): number {
    return this.timers.length;
  }

  setTimeout(fire: (...args: never[]) => void, delayMs: number): number {
    this.ids++;
    const timer = { id: this.ids, dueMs: this.nowMs + Math.max(0, delayMs), fire: fire as () => void };
    let low = 0;
    for (let high = this.timers.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((this.timers[middle] as Timer).dueMs <= timer.dueMs) low = middle + 1;
      else high = middle;
    }
    this.timers.splice(low, 0, timer);
    return timer.id;
  }

  clearTimeout(id: unknown): void {
    const index = this.timers.findIndex((timer) => timer.id === id);
    if (index >= 0) this.timers.splice(index, 1);
  }

  /** Goes from timer to timer, and lets everything that follows from each happen, until it is `done` or `untilMs` is reached. */
  async run(untilMs: number, done: () => boolean): Promise<void> {
    await settle();
    while (!done()) {
      const next = this.timers[0];
      if (next === undefined || next.dueMs > untilMs) break;
      this.nowMs = next.dueMs;
      while (this.timers[0]?.dueMs === this.nowMs) (this.timers.shift() as Timer).fire();
      await settle();
    }
  }
}
