// How a node that goes away is relieved of the legs of sessions on other nodes: as soon as another node opens legs, this one opens
// them for its own sessions alone, and asks the others to have theirs there, at the end of a turn. Until then there is no other
// node for them. Its own sessions have their legs here to the last.
import type { Clock } from '../../../../machines/clock.ts';
import type { Detach } from '../../../cluster/bus/bus.ts';
import type { Placement } from '../../../cluster/placement.ts';

/** A session whose leg has ended asks for the next one within this time, and a node that is alone is still there for it. */
const LINGER_MS = 3_000;

export interface RetreatCalls {
  /** Legs of sessions on other nodes that are open here. */
  legs(): number;
  serveLocallyOnly(isLocalOnly: boolean): void;
}

export class Retreat {
  readonly #clock: Clock;
  readonly #placement: Pick<Placement, 'hasOther' | 'onNodes'>;
  readonly #calls: RetreatCalls;
  #isLocalOnly = false;
  #isStopped = false;
  #done: Promise<void> | undefined;
  #unlisten: Detach = () => {};
  #wake = () => {};
  /** When the last leg of a session on another node has ended. */
  #endedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, placement: Pick<Placement, 'hasOther' | 'onNodes'>, calls: RetreatCalls) {
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
