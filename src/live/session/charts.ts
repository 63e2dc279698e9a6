// The charts of one session: starts them and passes on what happens to each. What they decide is theirs (machines/), what is
// done about it the session's.
import type { Actor, ActorRefFrom } from 'xstate';
import type { Clock } from '../../../machines/clock.ts';
import type { FailoverEvent, failoverMachine } from '../../../machines/failover.ts';
import type { SessionError, SessionEvent, SessionInput } from '../../../machines/session/types.ts';
import type { sessionMachine } from '../../../machines/session.ts';
import {
  type Inspection,
  inspectSystem,
  type Macrostep,
  type Observer,
  type Step,
  startObserved,
  stepsOf,
} from '../../runtime/actors.ts';
import { TurnChart } from './turns/turn-chart.ts';

const held: FailoverEvent = { type: 'attempt.held' };

/** Is told of each step of the charts; what it throws changes nothing. */
export type ChartWatcher = (step: Macrostep) => void;

/** Safe to tell anything at any time: an actor that has ended, or was never started, hears nothing. */
export class Charts {
  #actor: Actor<typeof sessionMachine> | undefined;
  readonly turn = new TurnChart();
  /** Made with the first watcher: a session that is not watched has none. */
  #inspections: Map<Inspection, ChartWatcher> | undefined;

  start(
    machine: typeof sessionMachine,
    input: SessionInput,
    clock: Clock,
    observer: Observer<typeof sessionMachine>,
  ): void {
    this.#actor = startObserved(machine, input, clock, observer);
  }

  tell(event: SessionEvent): void {
    this.#actor?.send(event);
  }

  /**
   * Tells what comes with every turn and changes nothing as a rule: the chart is asked first whether it waits for it, which costs a
   * tenth of telling it.
   */
  tellIfAwaited(event: SessionEvent): void {
    if (this.#actor?.getSnapshot().can(event)) this.#actor.send(event);
  }

  tellFailover(event: FailoverEvent): void {
    this.#failover?.send(event);
  }

  /** A turn got its final, or the leg has held for a while. */
  tellHeld(): void {
    const failover = this.#failover;
    if (failover?.getSnapshot().can(held)) failover.send(held);
  }

  /** Whether the failover chart may still choose another member than this one, whatever their breakers say. */
  mayTry(index: number): boolean {
    const context = this.#failover?.getSnapshot().context;
    return context !== undefined && !context.barred.includes(index) && !context.tried.includes(index);
  }

  /** Whether no model answers, and another round is to follow. */
  get waiting(): boolean {
    const value = this.#failover?.getSnapshot().value;
    return value === 'waiting' || value === 'asking';
  }

  /** Whether there is no leg that takes audio, or that finishes. */
  get unlinked(): boolean {
    return this.#actor?.getSnapshot().hasTag('buffering') ?? false;
  }

  /** Whether the leg takes audio, and is to continue. */
  get streaming(): boolean {
    return this.#actor?.getSnapshot().matches({ live: { link: 'streaming' } }) ?? false;
  }

  /** Whether the leg takes audio, and is to continue or to be replaced at the end of the turn. */
  get hearing(): boolean {
    return this.#actor?.getSnapshot().hasTag('accepts-audio') ?? false;
  }

  /** Whether the leg was asked to finish. */
  get finishing(): boolean {
    return this.#actor?.getSnapshot().matches({ live: { link: 'finishing' } }) ?? false;
  }

  /** Whether the leg was asked to finish because no audio comes. */
  get suspending(): boolean {
    return this.#actor?.getSnapshot().matches({ live: { link: 'suspending' } }) ?? false;
  }

  /** Why the session is ending, where that was not the client's doing. */
  get endError(): SessionError | null {
    return this.#actor?.getSnapshot().context.error ?? null;
  }

  /** Where the charts are now. */
  get steps(): Step[] {
    const [session, ...children] = this.#actor === undefined ? [] : stepsOf(this.#actor);
    return [session, this.turn.step, ...children].filter((step) => step !== undefined);
  }

  /** Whether there is a watcher. */
  get isWatched(): boolean {
    return this.#inspections !== undefined;
  }

  /** Tells a watcher until it is detached, or the charts stop. Undefined where they have stopped. */
  watch(watcher: ChartWatcher): Pick<Inspection, 'order' | 'detach'> | undefined {
    if (this.#actor === undefined) return undefined;
    const inspection = inspectSystem(this.#actor, watcher);
    this.#inspections ??= new Map();
    this.#inspections.set(inspection, watcher);
    this.turn.onStep = (step) => this.#turnStep(step);
    return {
      order: inspection.order,
      detach: () => {
        inspection.detach();
        this.#inspections?.delete(inspection);
        if (this.#inspections?.size === 0) this.#unwatch();
      },
    };
  }

  stop(): void {
    this.turn.stop();
    const inspections = [...(this.#inspections?.keys() ?? [])];
    this.#unwatch();
    // An actor that ends tells its owner before it tells those who look on.
    for (const inspection of inspections) inspection.finish();
    this.#actor?.stop();
    this.#actor = undefined;
    for (const inspection of inspections) inspection.detach();
  }

  #unwatch(): void {
    this.#inspections = undefined;
    this.turn.onStep = undefined;
  }

  #turnStep(step: Omit<Macrostep, 'order'>): void {
    for (const [inspection, watcher] of this.#inspections ?? []) {
      try {
        watcher({ ...step, order: inspection.order() });
      } catch {
        // It only looks on.
      }
    }
  }

  get #failover(): ActorRefFrom<typeof failoverMachine> | undefined {
    const child = this.#actor?.getSnapshot().children.failover as ActorRefFrom<typeof failoverMachine> | undefined;
    return child?.getSnapshot().status === 'active' ? child : undefined;
  }
}
