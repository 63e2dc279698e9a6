// What a watched session has a part in beside its own charts: its legs, on whichever node they are, the breakers of its models, the node
// that it is on, its money and its place. What is no chart is told as a named state.
import type { WatchedActor } from '../../api/console/watching.ts';
import type { Bus } from '../../bus/bus.ts';
import type { Breakers } from '../../failover/breakers/breakers.ts';
import type { Guarded } from '../../failover/breakers/guarded.ts';
import { type Chart, inspectSystem, stepsOf } from '../../runtime/inspect.ts';
import type { PlacingState } from '../leg/leg-dialer.ts';
import type { LegPlace } from './session-log.ts';
import { type TellActor, type Told, WatchedLegs } from './watched-legs.ts';

export interface SurroundingsOptions {
  bus: Pick<Bus, 'node' | 'address' | 'requestOf' | 'subscribe'>;
  sessionId: string;
  chain: readonly Guarded[];
  breakers: Pick<Breakers, 'watch'>;
  /** The chart of the node itself, once it runs. */
  nodeChart?: (() => Chart | undefined) | undefined;
}

export class Surroundings {
  readonly #options: SurroundingsOptions;
  /** Each as it was told last. */
  readonly #actors = new Map<string, WatchedActor>();
  readonly #tell: TellActor;
  readonly #detach: (() => void)[] = [];
  readonly #legs: WatchedLegs;

  constructor(
    options: SurroundingsOptions,
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

  /** What decides is no chart; its state is shown as if it were. @param value undefined removes it */
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
