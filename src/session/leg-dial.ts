// Asks for a leg, on this node or another: waits while the bus is away, asks again while nobody answers, and lets go of a leg
// that was opened too late. What comes of a leg that is open is not known here.
import type { Clock } from '../../machines/clock.ts';
import type { LegFailure, OpenLeg } from '../../machines/events.ts';
import { type Address, type Bus, type BusBody, BusError, type Detach } from '../bus/bus.ts';
import { OPEN_LEG } from '../bus/subjects.ts';
import { isLegOpened } from './leg-messages.ts';
import { legLost, unopened } from './open-leg.ts';

/** A node answers at once: it opens the leg, and tells later what came of it. */
const ANSWER_MS = 1_000;
/** Pauses between two questions while no node answers any, and how long that may last. */
const PAUSE_MS = { first: 100, max: 1_000 };
const NOBODY_MS_MAX = 15_000;

export interface LegDialCalls {
  /** A node has opened the leg; its reports may have come before. */
  opened(leg: Address): void;
  failed(failure: LegFailure, error: unknown): void;
}

export class LegDial {
  private readonly bus: Bus;
  private readonly clock: Clock;
  private readonly session: Address;
  private readonly request: OpenLeg;
  private readonly calls: LegDialCalls;
  private stopped = false;
  private pauseMs = PAUSE_MS.first;
  /** Since when nobody has answered, though the bus was there. */
  private nobodySinceMs: number | undefined;
  private timer: unknown;
  private unlisten: Detach | undefined;

  /** @param node who is asked first, where anybody will not do */
  constructor(bus: Bus, clock: Clock, request: OpenLeg, node: string | undefined, calls: LegDialCalls) {
    this.bus = bus;
    this.clock = clock;
    this.session = request.session as Address;
    this.request = request;
    this.calls = calls;
    this.ask(node);
  }

  /** Nobody waits for the leg any more: one that is opened all the same is closed at once. */
  stop(): void {
    this.stopped = true;
    this.clock.clearTimeout(this.timer);
    this.unlisten?.();
    this.unlisten = undefined;
  }

  private ask(node?: string): void {
    const { bus, session, request } = this;
    const { isConnected } = bus;
    const asked =
      node === undefined
        ? bus.request(OPEN_LEG, session, request, ANSWER_MS)
        : bus.requestOf(node, OPEN_LEG, session, request, ANSWER_MS);
    asked.then(
      (answer) => this.answered(answer),
      (error: unknown) => {
        if (!this.stopped) this.refused(error, isConnected);
      },
    );
  }

  private answered(answer: BusBody): void {
    if (!isLegOpened(answer)) {
      if (!this.stopped) this.calls.failed(unopened, new Error(`A leg was asked for, and "${answer.type}" came.`));
      return;
    }
    const leg = answer.leg as Address;
    // Let go of while it was opened: it may never say anything that it could be told so for.
    if (this.stopped) this.bus.send(leg, this.session, { type: 'leg.close' });
    else this.calls.opened(leg);
  }

  private refused(error: unknown, wasConnected: boolean): void {
    const reason = error instanceof BusError ? error.reason : undefined;
    if (reason === 'disconnected' && !wasConnected) this.waitForBus();
    else if (reason === 'unknown_actor' || reason === 'unknown_node') this.waitForNode(error);
    // Without an answer a leg may be open all the same: the next attempt has a generation of its own.
    else if (reason === undefined || reason === 'handler_failed') this.calls.failed(unopened, error);
    else this.calls.failed(legLost, error);
  }

  /** Nothing has left this node: the client's audio waits, and the session's own limits go on. */
  private waitForBus(): void {
    this.nobodySinceMs = undefined;
    this.pauseMs = PAUSE_MS.first;
    if (this.bus.isConnected) {
      this.askAfter(PAUSE_MS.first);
      return;
    }
    this.unlisten = this.bus.onConnection((isConnected) => {
      if (!isConnected || this.unlisten === undefined) return;
      this.unlisten();
      this.unlisten = undefined;
      this.ask();
    });
  }

  private waitForNode(error: unknown): void {
    const now = this.clock.now();
    this.nobodySinceMs ??= now;
    if (now - this.nobodySinceMs >= NOBODY_MS_MAX) {
      this.calls.failed(unopened, error);
      return;
    }
    this.askAfter(this.pauseMs);
    this.pauseMs = Math.min(PAUSE_MS.max, this.pauseMs * 2);
  }

  private askAfter(ms: number): void {
    this.timer = this.clock.setTimeout(() => this.ask(), ms);
  }
}
