// How a node that goes away is relieved of the legs of sessions on other nodes: as soon as another node opens legs, this one opens
// them for its own sessions alone, and asks the others to have theirs there, at the end of a turn. Until then there is no other
// node for them. Its own sessions have their legs here to the last.
import type { Clock } from '../../../../machines/clock.ts';
import type { Detach } from '../../../cluster/bus/bus.ts';
import type { LegNeeds, Placement } from '../../../cluster/placement.ts';
import { legsToMove } from '../../../cluster/placement.ts';

/** A session whose leg has ended asks for the next one within this time, and a node that is alone is still there for it. */
const LINGER_MS = 3_000;

export interface LegDrainCalls {
  /** Legs of sessions on other nodes that are open here. */
  legs(): number;
  serveLocallyOnly(isLocalOnly: boolean): void;
}

/**
 * How a node that goes away is relieved of the legs of sessions on other nodes: as soon as another node opens legs, this one opens
 * them for its own sessions alone, and asks the others to have theirs there, at the end of a turn. Until then there is no other
 * node for them. Its own sessions have their legs here to the last.
 */
export class LegDrain {
  readonly #clock: Clock;
  readonly #placement: Pick<Placement, 'hasOther' | 'onNodes'>;
  readonly #calls: LegDrainCalls;
  #isLocalOnly = false;
  #isStopped = false;
  #done: Promise<void> | undefined;
  #unlisten: Detach = () => {};
  #wake = () => {};
  /** When the last leg of a session on another node has ended. */
  #endedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, placement: Pick<Placement, 'hasOther' | 'onNodes'>, calls: LegDrainCalls) {
    this.#clock = clock;
    this.#placement = placement;
    this.#calls = calls;
  }

  /** Whether sessions on other nodes are to have their legs elsewhere. */
  get isLocalOnly(): boolean {
    return this.#isLocalOnly;
  }

  /** Resolves when no leg of a session on another node is left. */
  begin(): Promise<void> {
    this.#done ??= this.#leave();
    return this.#done;
  }

  legEnded(): void {
    this.#endedAtMs = this.#clock.now();
    if (this.#calls.legs() === 0) this.#wake();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unlisten();
    this.#wake();
  }

  async #leave(): Promise<void> {
    // The others may go away as well, at the same moment.
    const look = () => this.#serveLocallyOnly(this.#placement.hasOther());
    this.#unlisten = this.#placement.onNodes(look);
    look();
    while (!this.#isStopped) {
      const restMs = this.#isLocalOnly ? 0 : this.#endedAtMs + LINGER_MS - this.#clock.now();
      const isEmpty = this.#calls.legs() === 0;
      if (isEmpty && restMs <= 0) break;
      await this.#change(isEmpty ? restMs : undefined);
    }
    this.#unlisten();
    this.#serveLocallyOnly(true);
  }

  /** Resolves when the last leg has gone, or another node has come, or that time has passed. */
  #change(withinMs: number | undefined): Promise<void> {
    return new Promise<void>((resolve) => {
      const timer = withinMs === undefined ? undefined : this.#clock.setTimeout(resolve, withinMs);
      this.#wake = () => {
        this.#clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  #serveLocallyOnly(isLocalOnly: boolean): void {
    if (this.#isLocalOnly === isLocalOnly || this.#isStopped) return;
    this.#isLocalOnly = isLocalOnly;
    this.#calls.serveLocallyOnly(isLocalOnly);
    if (isLocalOnly && this.#calls.legs() === 0) this.#wake();
  }
}

/** Two heartbeats: what has moved since the last look is known by then. */
export const LOOK_MS = 4_000;

/** A leg of a session on another node. */
export interface MovableLeg {
  readonly needs: LegNeeds;
  /** Whether it was asked to move. */
  readonly isExpiring: boolean;
  expire(): void;
}

export class LegBalance {
  readonly #clock: Clock;
  readonly #placement: Pick<Placement, 'others'>;
  readonly #legs: () => { all: number; movable: MovableLeg[] };
  #timer: unknown;
  #hadSurplus = false;

  /** @param legs all of this node, and those of sessions on other nodes, the newest last */
  constructor(clock: Clock, placement: Pick<Placement, 'others'>, legs: () => { all: number; movable: MovableLeg[] }) {
    this.#clock = clock;
    this.#placement = placement;
    this.#legs = legs;
  }

  /** Looks from time to time, until it is stopped. */
  start(): void {
    this.#timer ??= this.#clock.setTimeout(() => {
      this.#timer = undefined;
      this.start();
      this.#look();
    }, LOOK_MS);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#hadSurplus = false;
  }

  /** A surplus that is gone by the next look was none. */
  #look(): void {
    const chosen = this.#choose();
    if (this.#hadSurplus) for (const leg of chosen) leg.expire();
    this.#hadSurplus = chosen.length > 0;
  }

  #choose(): MovableLeg[] {
    const { all, movable } = this.#legs();
    const staying = movable.filter(({ isExpiring }) => !isExpiring);
    const leaving = movable.length - staying.length;
    const kinds = new Map<string, MovableLeg[]>();
    for (const leg of staying) {
      const kind = `${leg.needs.provider} ${leg.needs.ownKey}`;
      const same = kinds.get(kind);
      if (same === undefined) kinds.set(kind, [leg]);
      else same.push(leg);
    }
    const chosen: MovableLeg[] = [];
    for (const legs of kinds.values()) {
      const { needs } = legs[0] as MovableLeg;
      const gone = leaving + chosen.length;
      const count = legsToMove(all - gone, gone, this.#placement.others(needs));
      if (count > 0) chosen.push(...legs.slice(-count));
    }
    return chosen;
  }
}
