// Asks sessions of other nodes to have their next legs elsewhere, while this node has clearly more than its share: a few at a
// time, each at the end of a turn. How many that is, is cluster/placement.ts.
import type { Clock } from '../../../../machines/clock.ts';
import { type LegNeeds, legsToMove, type Placement } from '../../../cluster/placement.ts';

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
