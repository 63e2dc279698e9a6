// What a watched session has a part in beside its own charts: its legs, on whichever node they are, the breakers of its models, the node
// that it is on, its money and its place. What is not a chart is told as a named state.
import type { WatchedActor } from '../../../api/console/watching.ts';
import type { Bus, Detach } from '../../../cluster/bus/bus.ts';
import { legSteps, WATCH_LEG } from '../../../cluster/bus/subjects.ts';
import { type Chart, inspectSystem, type Macrostep, stepsOf } from '../../../runtime/actors.ts';
import type { Breakers } from '../../failover/breakers/breakers.ts';
import type { Guarded } from '../../failover/breakers/guarded.ts';
import { isLegStep, isLegWatched, type LegStep, type WatchLeg } from '../../upstream/service/leg-messages.ts';
import type { PlacingState } from '../leg/leg-dialer.ts';
import type { LegPlace } from '../leg/leg-record.ts';

export interface SessionContextOptions {
  bus: Pick<Bus, 'node' | 'address' | 'requestOf' | 'subscribe'>;
  sessionId: string;
  chain: readonly Guarded[];
  breakers: Pick<Breakers, 'watch'>;
  /** The chart of the node itself, once it runs. */
  nodeChart?: (() => Chart | undefined) | undefined;
}

export class SessionContextWatcher {
  readonly #options: SessionContextOptions;
  /** Each as it was told last. */
  readonly #actors = new Map<string, WatchedActor>();
  readonly #tell: TellActor;
  readonly #detach: (() => void)[] = [];
  readonly #legs: WatchedLegs;

  constructor(
    options: SessionContextOptions,
    now: { leg: LegPlace | undefined; placing: PlacingState; money: string | undefined },
    tell: TellActor,
  ) {
    this.#options = options;
    // What is here from the start is where it is; only what comes later is told of.
    this.#tell = () => {};
    this.state('placing', now.placing);
    this.state('money', now.money);
    this.#lookAtBreakers();
    this.#lookAtNode();
    this.#tell = tell;
    this.#legs = new WatchedLegs(options.bus, options.sessionId, (leg, told) => this.#step(leg, told));
    if (now.leg !== undefined) this.leg(now.leg);
  }

  get actors(): WatchedActor[] {
    return [...this.#actors.values()];
  }

  leg(place: LegPlace): void {
    this.#legs.begin(place);
  }

  renew(): void {
    this.#legs.renew();
  }

  /** What decides is not a chart; its state is shown as if it were. @param value undefined removes it */
  state(name: 'money' | 'placing', value: string | undefined): void {
    const known = this.#actors.get(name);
    if (known?.value === value) return;
    if (value === undefined) {
      if (known !== undefined) this.#step(known, 'gone');
      return;
    }
    const actor = { id: name, machine: name, node: this.#options.bus.node, about: null, value, status: 'active' };
    this.#step(actor, { event: `${name}.${value}`, edges: [], through: [] });
  }

  release(): void {
    this.#legs.release();
    for (const detach of this.#detach) detach();
  }

  #lookAtBreakers(): void {
    const { chain, breakers, bus } = this.#options;
    for (const [index, member] of chain.entries()) {
      const id = `breaker:${index + 1}`;
      const actor = { id, machine: 'breaker', node: bus.node, about: member.slug, status: 'active' };
      const { value, detach } = breakers.watch(member, ({ value, ...told }) => this.#step({ ...actor, value }, told));
      this.#detach.push(detach);
      this.#step({ ...actor, value }, undefined);
    }
  }

  #lookAtNode(): void {
    const chart = this.#options.nodeChart?.();
    const now = chart && stepsOf(chart)[0];
    if (chart === undefined || now === undefined) return;
    const actor = { id: 'node', machine: 'node', node: this.#options.bus.node, about: null };
    const watch = inspectSystem(chart, ({ value, status, ...told }) => this.#step({ ...actor, value, status }, told));
    this.#detach.push(watch.detach);
    this.#step({ ...actor, value: now.value, status: now.status }, undefined);
  }

  #step(actor: WatchedActor, told: Told | 'gone' | undefined): void {
    const known = this.#actors.get(actor.id);
    if (told === 'gone') this.#actors.delete(actor.id);
    else this.#actors.set(actor.id, actor);
    this.#tell(actor, known === undefined ? undefined : told);
  }
}

const ANSWER_MS = 1_000;
const LEGS_SHOWN_MAX = 4;

/** A step, as far as it is told of; `report`: the one that a leg's step has told its session. */
export type Told = Pick<Macrostep, 'event' | 'edges'> & { through: unknown[]; report?: string };

/** Of one that is new, without a step; of a step; or of one that is shown no more. */
type TellActor = (actor: WatchedActor, told: Told | 'gone' | undefined) => void;

/** Names a report of a leg. */
export const reportOf = (generation: number, report: number): string => `${generation} ${report}`;

type WatchedBus = Pick<Bus, 'address' | 'requestOf' | 'subscribe'>;

/**
 * The legs of one watched session, on this node or another: each sends its steps as long as the session is watched. The last few stay
 * visible when they are over, with what became of them.
 */
class WatchedLegs {
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
