// One session while it is watched: its steps and marks become frames in the order of cause, few at a time, and it is released when
// the last watcher's lease is over. Frames carry names of states and events, never what a session holds.

import type { Clock } from '../../../../machines/clock.ts';
import type { FrameBody, WatchedActor, WatchedFrame } from '../../../api/console/watching.ts';
import type { Macrostep, Step } from '../../../runtime/actors.ts';
import type { SessionFigures } from '../billing/spending.ts';
import type { Charts } from '../charts.ts';
import { reportOf, type SessionContextOptions, SessionContextWatcher, type Told } from './session-context.ts';
import type { EndedBody, SessionLog } from './session-log.ts';
import { type Frames, WATCH_LEASE_MS, WATCH_RENEW_MS } from './watch.ts';

/** Frames are sent together, so often at most. */
export const TICK_MS = 50;
/** Frames of one tick; further ones are counted as `dropped`. */
export const FRAMES_PER_TICK_MAX = 64;
/** Audio and money are looked at so often. */
export const FIGURES_MS = 1_000;
const WATCHERS_MAX = 32;
/** Reports of legs whose steps may come later than what they led to. */
const REPORTS_MAX = 64;

/** What of a session is watched. */
export interface WatchedParts {
  charts: Pick<Charts, 'watch' | 'steps'>;
  log: SessionLog;
  /** Audio and money so far. */
  figures(): SessionFigures;
}

export interface WatchedOptions extends WatchedParts {
  /** Tells one time of being watched from another. */
  feed: number;
  /** What the session has a part in. */
  around: SessionContextOptions;
  /** The model that was requested. */
  model: string;
  clock: Clock;
  publish(frames: Frames): void;
  onDrop(count: number): void;
  /** The last watcher is gone, or the session has ended. Called once. */
  onReleased(): void;
}

interface Pending {
  order: number;
  body: FrameBody;
  at: string;
}

export class WatchedSession {
  readonly #options: WatchedOptions;
  /** Watchers and when their leases are over. */
  readonly #watchers = new Map<string, number>();
  readonly #watch: ReturnType<Charts['watch']>;
  /** Charts that watchers know of. */
  readonly #actors = new Set<string>();
  #pending: Pending[] = [];
  #dropped = 0;
  #tick: unknown;
  #figuresTimer: unknown;
  #figures = '';
  readonly #around: SessionContextWatcher;
  /** When reports of legs have come, in the order of cause; undefined once their steps have come as well. */
  readonly #reports = new Map<string, number>();
  /** A report has come whose step has not: what it led to waits for one tick. */
  #awaited = 0;
  #renewal: unknown;
  #lease: unknown;
  #released = false;

  constructor(options: WatchedOptions) {
    this.#options = options;
    const { charts, log, figures } = options;
    for (const { actor } of charts.steps) this.#actors.add(actor);
    this.#watch = charts.watch((step) => this.#step(step));
    const now = { leg: log.legs.open, placing: log.placing, money: figures().money };
    this.#around = new SessionContextWatcher(options.around, now, (actor, told) => this.#beside(actor, told));
    this.#keepRenewed();
    log.reader = {
      noted: (body, at) => this.#add(body, this.#order, at),
      leg: (place) => this.#around.leg(place),
      reported: (generation, report) => this.#reported(reportOf(generation, report)),
      placing: (state) => this.#around.state('placing', state),
      ended: (ended, at) => this.#end(ended, at),
    };
    this.#lookAtFigures();
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
  get now(): { feed: number; actors: WatchedActor[]; sequence: number; at: string } {
    // What waits to be told is part of what is shown now.
    this.#flush(false);
    const { feed, charts, log } = this.#options;
    return {
      feed,
      actors: [...charts.steps.map((step) => this.#actorOf(step)), ...this.#around.actors],
      sequence: log.sequence,
      at: log.now,
    };
  }

  /** Stops showing it. */
  release(): void {
    if (this.#released) return;
    this.#flush(false);
    this.#released = true;
    const { clock, onReleased, log } = this.#options;
    for (const timer of [this.#tick, this.#lease, this.#figuresTimer, this.#renewal]) clock.clearTimeout(timer);
    log.reader = undefined;
    this.#around.release();
    this.#watch?.detach();
    onReleased();
  }

  get #order(): number {
    return this.#watch?.order() ?? 0;
  }

  #step({ actor, machine, value, status, event, edges, through, order }: Macrostep): void {
    const at = this.#options.log.now;
    if (status === 'stopped') {
      if (this.#actors.delete(actor)) this.#add({ kind: 'gone', actor }, order, at);
    } else if (this.#actors.has(actor)) {
      this.#add({ kind: 'step', actor, event, edges, through, value, status }, order, at);
    } else {
      this.#actors.add(actor);
      this.#add({ kind: 'actor', actor: this.#actorOf({ actor, machine, value, status }) }, order, at);
    }
  }

  #actorOf({ actor, machine, value, status }: Step): WatchedActor {
    const { around, model } = this.#options;
    const { node } = around.bus;
    return { id: actor, machine, node, about: machine === 'session' ? model : null, value, status };
  }

  #lookAtFigures(): void {
    this.#noteFigures();
    this.#figuresTimer = this.#options.clock.setTimeout(() => this.#lookAtFigures(), FIGURES_MS);
  }

  #noteFigures(): void {
    const { log, figures } = this.#options;
    const { money, ...audio } = figures();
    const text = JSON.stringify(audio);
    if (text !== this.#figures) this.#add({ kind: 'audio', ...audio }, this.#order, log.now);
    this.#figures = text;
    this.#around.state('money', money);
  }

  /** Of what is around the session. */
  #beside(actor: WatchedActor, told: Told | 'gone' | undefined): void {
    const { id, value, status } = actor;
    const at = this.#options.log.now;
    if (told === 'gone') this.#add({ kind: 'gone', actor: id }, this.#order, at);
    else if (told === undefined) this.#add({ kind: 'actor', actor }, this.#order, at);
    else {
      const { event, edges, through, report } = told;
      const order = this.#orderOf(report);
      this.#add({ kind: 'step', actor: id, event, edges, through, value, status }, order, at);
    }
  }

  #reported(report: string): void {
    const [oldest] = this.#reports.keys();
    if (this.#reports.size >= REPORTS_MAX && oldest !== undefined) this.#reports.delete(oldest);
    this.#reports.set(report, this.#order);
    this.#awaited++;
  }

  /** A leg's step comes after its report, and before what that has led to. */
  #orderOf(report: string | undefined): number {
    const order = report === undefined ? undefined : this.#reports.get(report);
    if (report !== undefined && this.#reports.delete(report)) this.#awaited = Math.max(0, this.#awaited - 1);
    return order ?? this.#order;
  }

  #keepRenewed(): void {
    this.#renewal = this.#options.clock.setTimeout(() => {
      this.#around.renew();
      this.#keepRenewed();
    }, WATCH_RENEW_MS);
  }

  #add(body: FrameBody, order: number, at: string): void {
    if (this.#released) return;
    if (this.#pending.length >= FRAMES_PER_TICK_MAX) this.#dropped++;
    else this.#pending.push({ body, order, at });
    this.#tick ??= this.#options.clock.setTimeout(() => this.#due(), TICK_MS);
  }

  #due(): void {
    const isAwaited = this.#awaited > 0;
    this.#awaited = 0;
    if (isAwaited) this.#tick = this.#options.clock.setTimeout(() => this.#flush(false), TICK_MS);
    else this.#flush(false);
  }

  #flush(ended: boolean): void {
    if (this.#released) return;
    const { clock, log, publish, onDrop } = this.#options;
    clock.clearTimeout(this.#tick);
    this.#tick = undefined;
    const pending = this.#pending.sort((one, other) => one.order - other.order);
    this.#pending = [];
    const count = this.#dropped;
    this.#dropped = 0;
    // What is left out comes last in its tick, but before the end.
    const last = ended ? pending.splice(-1) : [];
    const frames: WatchedFrame[] = pending.map(({ body, at }) => log.append(body, at));
    if (count > 0) {
      onDrop(count);
      frames.push(log.append({ kind: 'dropped', count }, log.now));
    }
    for (const { body, at } of last) frames.push(log.append(body, at));
    if (frames.length > 0) publish({ type: 'session.frames', frames, ended });
  }

  #end(body: EndedBody, at: string): void {
    this.#noteFigures();
    this.#pending.push({ body, order: Number.POSITIVE_INFINITY, at });
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
