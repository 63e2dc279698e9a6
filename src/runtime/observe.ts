// The one place that starts and watches actors. An observer without an error handler, or one that throws, would end the
// process; this one does neither.
import {
  type Actor,
  type ActorOptions,
  type AnyStateMachine,
  createActor,
  type InputFrom,
  type OutputFrom,
  type SnapshotFrom,
} from 'xstate';
import type { Clock } from '../../machines/clock.ts';

export interface Observer<Machine extends AnyStateMachine> {
  /** The actor reached its final state. Not told of an actor that was stopped before. */
  ended(output: OutputFrom<Machine>): void;
  /** The actor failed, or an observer threw: dispose of its scope. Called at most once. */
  failed(error: unknown): void;
  /** The actor is about to start. */
  starting?(actor: Actor<Machine>): void;
  /** Each new snapshot. Leave it out when it is not needed. */
  changed?(snapshot: SnapshotFrom<Machine>): void;
}

/**
 * Starts an actor of its own system and watches it. Returns the actor, already started.
 *
 * @param from where it begins, for actors that are started while another's action runs: XState warns of a chart that makes
 *   its first context there. Taken once from {@link beginning}.
 */
export function startObserved<Machine extends AnyStateMachine>(
  machine: Machine,
  input: InputFrom<Machine>,
  clock: Clock,
  observer: Observer<Machine>,
  from?: SnapshotFrom<Machine>,
): Actor<Machine> {
  const options = { input, clock, ...(from === undefined ? {} : { snapshot: from }) };
  const actor = createActor(machine, options as unknown as ActorOptions<Machine>);
  let failed = false;
  const fail = (error: unknown) => {
    if (failed) return;
    failed = true;
    observer.failed(error);
  };
  const guarded = (work: () => void) => {
    try {
      work();
    } catch (error) {
      fail(error);
    }
  };
  actor.subscribe({
    next: (snapshot) => guarded(() => observer.changed?.(snapshot as SnapshotFrom<Machine>)),
    error: fail,
    complete: () =>
      guarded(() => {
        // Also an actor that was stopped completes; it has come to no end.
        const { status, output } = actor.getSnapshot() as { status: string; output: OutputFrom<Machine> };
        if (status === 'done') observer.ended(output);
      }),
  });
  guarded(() => observer.starting?.(actor));
  actor.start();
  return actor;
}

/** The state in which an actor of the machine begins, with nothing of it started. */
export function beginning<Machine extends AnyStateMachine>(
  machine: Machine,
  input: InputFrom<Machine>,
): SnapshotFrom<Machine> {
  return createActor(machine, { input } as unknown as ActorOptions<Machine>).getPersistedSnapshot() as never;
}

/**
 * Wraps the actions that a host provides: a throw goes to `onFault` with the action's name instead of into the chart, where
 * it would leave the actor dead and its children running.
 */
export function guardActions<Actions extends Record<string, (args: never, params: never) => void>>(
  actions: Actions,
  onFault: (name: string, args: Parameters<Actions[keyof Actions]>[0], error: unknown) => void,
): Actions {
  const guarded: Record<string, (args: never, params: never) => void> = {};
  for (const [name, action] of Object.entries(actions)) {
    guarded[name] = (args, params) => {
      try {
        action(args, params);
      } catch (error) {
        onFault(name, args, error);
      }
    };
  }
  return guarded as Actions;
}
