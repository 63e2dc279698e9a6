// The actors of one session: starts them and passes on what happens to each. What they decide is theirs (machines/), what is
// done about it the session's.
import type { Actor, SnapshotFrom } from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import type { FailoverContext, FailoverEvent } from '../../machines/failover.ts';
import type { sessionMachine } from '../../machines/session.ts';
import type { SessionEvent, SessionInput } from '../../machines/session-types.ts';
import type { TurnEvent } from '../../machines/turn.ts';
import { type Observer, startObserved } from '../runtime/observe.ts';

type Child = 'turn' | 'failover';

/** Safe to tell anything at any time: an actor that has ended, or was never started, hears nothing. */
export class Charts {
  private actor: Actor<typeof sessionMachine> | undefined;

  start(
    machine: typeof sessionMachine,
    input: SessionInput,
    clock: Clock,
    observer: Observer<typeof sessionMachine>,
  ): void {
    this.actor = startObserved(machine, input, clock, observer);
  }

  tell(event: SessionEvent): void {
    this.actor?.send(event);
  }

  tellTurn(event: TurnEvent): void {
    this.child('turn')?.send(event);
  }

  tellFailover(event: FailoverEvent): void {
    this.child('failover')?.send(event);
  }

  /** Whether the failover chart may still choose another member than this one, whatever their breakers say. */
  mayTry(index: number): boolean {
    const { context } = (this.child('failover')?.getSnapshot() ?? {}) as { context?: FailoverContext };
    return context !== undefined && !context.barred.includes(index) && !context.tried.includes(index);
  }

  /** Whether there is no leg that takes audio, or that finishes. */
  get unlinked(): boolean {
    return this.actor?.getSnapshot().hasTag('buffering') ?? false;
  }

  /** Whether the leg was asked to finish. */
  get finishing(): boolean {
    return this.actor?.getSnapshot().matches({ live: { link: 'finishing' } }) ?? false;
  }

  stop(): void {
    this.actor?.stop();
    this.actor = undefined;
  }

  private child<Name extends Child>(name: Name): SnapshotFrom<typeof sessionMachine>['children'][Name] {
    const child = this.actor?.getSnapshot().children[name];
    return child?.getSnapshot().status === 'active' ? child : undefined;
  }
}
