// The legs of one watched session, on this node or another: each tells its steps as long as the session is watched. The last few stay in
// sight when they are over, so that it is seen what became of them.
import type { WatchedActor } from '../../api/console/watching.ts';
import type { Bus, Detach } from '../../bus/bus.ts';
import { legSteps, WATCH_LEG } from '../../bus/subjects.ts';
import type { Macrostep } from '../../runtime/inspect.ts';
import { isLegStep, isLegWatched, type LegStep, type WatchLeg } from '../../upstream/service/leg-watch-words.ts';
import type { LegPlace } from './session-log.ts';

const ANSWER_MS = 1_000;
const LEGS_SHOWN_MAX = 4;

/** A step, as far as it is told of; `report`: the one that a leg's step has told its session. */
export type Told = Pick<Macrostep, 'event' | 'edges'> & { through: unknown[]; report?: string };

/** Of one that is new, without a step; of a step; or of one that is shown no more. */
export type TellActor = (actor: WatchedActor, told: Told | 'gone' | undefined) => void;

/** Names a report of a leg. */
export const reportOf = (generation: number, report: number): string => `${generation} ${report}`;

type WatchedBus = Pick<Bus, 'address' | 'requestOf' | 'subscribe'>;

export class WatchedLegs {
  readonly #bus: WatchedBus;
  readonly #sessionId: string;
  readonly #tell: TellActor;
  /** By generation, the oldest first. */
  readonly #legs = new Map<number, WatchedActor>();
  #newest = 0;
  readonly #unsubscribe: Detach;
  #isOver = false;

  constructor(bus: WatchedBus, sessionId: string, tell: TellActor) {
    this.#bus = bus;
    this.#sessionId = sessionId;
    this.#tell = tell;
    this.#unsubscribe = bus.subscribe(legSteps(sessionId), (body) => {
      if (isLegStep(body)) this.#step(body);
    });
  }

  /** A leg is open: one that was opened unwatched is asked where it is. */
  begin(place: LegPlace): void {
    if (!this.#legs.has(place.generation)) void this.#ask(place, true);
  }

  renew(): void {
    this.#askAll(true);
  }

  release(): void {
    this.#isOver = true;
    this.#unsubscribe();
    this.#askAll(false);
  }

  #askAll(on: boolean): void {
    for (const [generation, { node, about, status }] of this.#legs)
      if (status === 'active') void this.#ask({ generation, model: about ?? '', legNode: node }, on);
  }

  #step({ generation, node, model, report, value, status, event, edges, through }: LegStep): void {
    const leg = this.#legs.get(generation);
    if (leg === undefined) this.#add(generation, { model, legNode: node, value, status });
    else {
      const told = { event, edges, through, ...(report === 0 ? {} : { report: reportOf(generation, report) }) };
      this.#set(generation, { ...leg, value, status }, told);
    }
  }

  #add(
    generation: number,
    { model, legNode, value, status }: Pick<LegPlace, 'model' | 'legNode'> & Pick<WatchedActor, 'value' | 'status'>,
  ): void {
    if (legNode === null || generation <= this.#newest) return;
    this.#newest = generation;
    // One that was lost with its node, or on the way there, has not said so.
    for (const [lost, leg] of this.#legs)
      if (leg.status === 'active')
        this.#set(lost, { ...leg, status: 'stopped' }, { event: 'leg.lost', edges: [], through: [] });
    for (const [old, leg] of this.#legs) {
      if (this.#legs.size < LEGS_SHOWN_MAX) break;
      this.#legs.delete(old);
      this.#tell(leg, 'gone');
    }
    this.#set(generation, { id: `leg:${generation}`, machine: 'upstream', node: legNode, about: model, value, status });
  }

  #set(generation: number, leg: WatchedActor, told?: Told): void {
    this.#legs.set(generation, leg);
    this.#tell(leg, told);
  }

  async #ask({ generation, model, legNode }: LegPlace, on: boolean): Promise<void> {
    if (legNode === null) return;
    const request: WatchLeg = { type: 'leg.watch', sessionId: this.#sessionId, generation, model, on };
    try {
      const answer = await this.#bus.requestOf(legNode, WATCH_LEG, this.#bus.address('watch'), request, ANSWER_MS);
      // A step that was told meanwhile is newer than the answer.
      if (this.#isOver || this.#legs.has(generation) || !isLegWatched(answer)) return;
      if (answer.type === 'leg.watched') this.#add(generation, { model, legNode, ...answer });
    } catch {
      // A node that does not answer has nothing to show; what that means for the session is told elsewhere.
    }
  }
}
