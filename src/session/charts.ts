// The actors of one session: starts them and passes on what happens to each. What they decide is theirs (machines/), what is
// done about it the session's.
import type { Actor, SnapshotFrom } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import type { FailoverContext, FailoverEvent } from '../../machines/failover.ts';
import type { SessionError, SessionEvent, SessionInput } from '../../machines/session/types.ts';
import type { sessionMachine } from '../../machines/session.ts';
import type { TurnEvent } from '../../machines/turn.ts';
import { inspectSystem, type Observer, type Step, startObserved, stepsOf } from '../runtime/observe.ts';

type Child = 'turn' | 'failover';

/** Looks on; what it throws changes nothing. */
export interface Onlooker {
  step(step: Step, event: string): void;
  /** The charts have stopped, and this is where: nothing follows. */
  ended(last: readonly Step[]): void;
}

/** Safe to tell anything at any time: an actor that has ended, or was never started, hears nothing. */
export class Charts {
  #actor: Actor<typeof sessionMachine> | undefined;
  /** Made with the first that looks on: a session that nobody watches has none. */
  #onlookers: Map<Onlooker, () => void> | undefined;

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

  tellTurn(event: TurnEvent): void {
    this.#child('turn')?.send(event);
  }

  tellFailover(event: FailoverEvent): void {
    this.#child('failover')?.send(event);
  }

  /** Whether the failover chart may still choose another member than this one, whatever their breakers say. */
  mayTry(index: number): boolean {
    const { context } = (this.#child('failover')?.getSnapshot() ?? {}) as { context?: FailoverContext };
    return context !== undefined && !context.barred.includes(index) && !context.tried.includes(index);
  }

  /** Whether there is no leg that takes audio, or that finishes. */
  get unlinked(): boolean {
    return this.#actor?.getSnapshot().hasTag('buffering') ?? false;
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
    return this.#actor === undefined ? [] : stepsOf(this.#actor);
  }

  /** Whether anybody looks on. */
  get isWatched(): boolean {
    return this.#onlookers !== undefined;
  }

  /** Lets somebody look on until it is detached, or the charts stop. Undefined where they have stopped. */
  watch(onlooker: Onlooker): (() => void) | undefined {
    if (this.#actor === undefined) return undefined;
    this.#onlookers ??= new Map();
    this.#onlookers.set(
      onlooker,
      inspectSystem(this.#actor, (step, event) => onlooker.step(step, event)),
    );
    return () => {
      this.#onlookers?.get(onlooker)?.();
      this.#onlookers?.delete(onlooker);
      if (this.#onlookers?.size === 0) this.#onlookers = undefined;
    };
  }

  stop(): void {
    const onlookers = this.#onlookers;
    // An actor that ends tells its owner before it tells those who look on.
    const last = onlookers === undefined ? [] : this.steps;
    this.#onlookers = undefined;
    this.#actor?.stop();
    this.#actor = undefined;
    for (const [onlooker, detach] of onlookers ?? []) {
      detach();
      onlooker.ended(last);
    }
  }

  #child<Name extends Child>(name: Name): SnapshotFrom<typeof sessionMachine>['children'][Name] {
    const child = this.#actor?.getSnapshot().children[name];
    return child?.getSnapshot().status === 'active' ? child : undefined;
  }
}
