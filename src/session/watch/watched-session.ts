// One session while it is watched: its steps become frames, few at a time, and it is let go of when the last watcher's
// lease is over. Frames carry names of states and events, never what a session holds.
import type { Clock } from '../../../machines/clock.ts';
import type { Step } from '../../runtime/observe.ts';
import type { Charts } from '../charts.ts';
import { type Frame, type Frames, WATCH_LEASE_MS } from './watch-words.ts';

/** Frames are sent together, so often at most. */
export const TICK_MS = 50;
/** Frames of one tick; further ones are counted as `dropped`. */
export const FRAMES_PER_TICK_MAX = 64;
const WATCHERS_MAX = 32;
/** In the place of the event that ended the charts, which they do not report. */
const ENDED = 'charts.ended';

export interface WatchedOptions {
  sessionId: string;
  /** Tells one time of being watched from another. */
  feed: number;
  charts: Pick<Charts, 'watch' | 'steps'>;
  clock: Clock;
  publish(frames: Frames): void;
  onDrop(count: number): void;
  /** The last watcher is gone, or the session has ended. Called once. */
  onReleased(): void;
}

export class WatchedSession {
  readonly #options: WatchedOptions;
  /** Watchers and when their leases are over. */
  readonly #watchers = new Map<string, number>();
  readonly #detach: (() => void) | undefined;
  readonly #lastStates = new Map<string, string>();
  #frames: Frame[] = [];
  #sequence = 0;
  #dropped = 0;
  #tick: unknown;
  #lease: unknown;
  #released = false;

  constructor(options: WatchedOptions) {
    this.#options = options;
    for (const step of options.charts.steps) this.#lastStates.set(step.machine, textOf(step));
    this.#detach = options.charts.watch({
      step: (step, event) => this.#step(step, event),
      ended: (last) => this.#end(last),
    });
  }

  /** Adds a watcher, or keeps it for another lease. */
  renew(watcher: string): 'on' | 'full' {
    if (!this.#watchers.has(watcher) && this.#watchers.size >= WATCHERS_MAX) return 'full';
    this.#watchers.set(watcher, this.#options.clock.now() + WATCH_LEASE_MS);
    if (this.#lease === undefined) this.#armLease(WATCH_LEASE_MS);
    return 'on';
  }

  stop(watcher: string): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.release();
  }

  /** Where the charts are, and after which frame. */
  get now(): { feed: number; states: Step[]; sequence: number } {
    // What was left out is part of what is shown now.
    this.#countDropped();
    const { feed, charts } = this.#options;
    return { feed, states: charts.steps, sequence: this.#sequence };
  }

  /** Stops showing it. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    const { clock, onReleased } = this.#options;
    clock.clearTimeout(this.#tick);
    clock.clearTimeout(this.#lease);
    this.#detach?.();
    onReleased();
  }

  #step({ machine, value, status }: Step, event: string): void {
    const text = textOf({ machine, value, status });
    // Most events change no state: they would be most of what is sent.
    if (this.#lastStates.get(machine) === text) return;
    this.#lastStates.set(machine, text);
    if (this.#frames.length >= FRAMES_PER_TICK_MAX) this.#dropped++;
    else this.#frames.push(this.#frame({ machine, event, value, status }));
    this.#tick ??= this.#options.clock.setTimeout(() => this.#flush(false), TICK_MS);
  }

  #frame(step: Frame['step']): Frame {
    this.#sequence++;
    return { sessionId: this.#options.sessionId, sequence: this.#sequence, step };
  }

  #countDropped(): void {
    if (this.#dropped === 0) return;
    this.#options.onDrop(this.#dropped);
    this.#frames.push(this.#frame({ dropped: this.#dropped }));
    this.#dropped = 0;
  }

  #flush(ended: boolean): void {
    this.#options.clock.clearTimeout(this.#tick);
    this.#tick = undefined;
    this.#countDropped();
    const frames = this.#frames;
    this.#frames = [];
    if (frames.length > 0 || ended) this.#options.publish({ type: 'session.frames', frames, ended });
  }

  #end(last: readonly Step[]): void {
    if (this.#released) return;
    for (const step of last) this.#step(step, ENDED);
    this.#flush(true);
    this.release();
  }

  #armLease(afterMs: number): void {
    const { clock } = this.#options;
    this.#lease = clock.setTimeout(() => {
      this.#lease = undefined;
      const nowMs = clock.now();
      for (const [watcher, untilMs] of this.#watchers) if (untilMs <= nowMs) this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.release();
      else this.#armLease(Math.min(...this.#watchers.values()) - nowMs);
    }, afterMs);
  }
}

const textOf = ({ value, status }: Step): string => `${status} ${JSON.stringify(value)}`;
