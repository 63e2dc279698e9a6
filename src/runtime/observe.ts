// The one place that starts and watches actors. An observer without an error handler, or one that throws, would end the
// process; this one does neither.
import {
  type Actor,
  type ActorOptions,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type InputFrom,
  type OutputFrom,
  type SnapshotFrom,
  type StateValue,
} from 'xstate';
import type { Clock } from '../../machines/clock.ts';

export interface Observer<Machine extends AnyStateMachine> {
  /** The actor reached its final state. Not told of an actor that was stopped before. */
  ended(output: OutputFrom<Machine>): void;
  /** The actor failed, or an observer threw: dispose of its scope. Called at most once. */
  failed(error: unknown): void;
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
  actor.start();
  return actor;
}

/** Where one machine of a system is: its id, and never what is in its context. */
export interface Step {
  machine: string;
  value: StateValue;
  status: string;
}

/** Where every machine of the actor's system is now. */
export function stepsOf(root: AnyActorRef): Step[] {
  const snapshot = root.getSnapshot() as AnyMachineSnapshot;
  const own = stepOf(root, snapshot);
  if (own === undefined) return [];
  const children = Object.values(snapshot.children ?? {}) as (AnyActorRef | undefined)[];
  return [own, ...children.flatMap((child) => (child === undefined ? [] : stepsOf(child)))];
}

/**
 * Hears of each step of each machine of the actor's system, with the name of the event. What the listener throws is
 * swallowed: an observer must not change the actor.
 *
 * @returns ends it, without a trace in the system
 */
export function inspectSystem(root: AnyActorRef, listener: (step: Step, event: string) => void): () => void {
  const { unsubscribe } = root.system.inspect((inspected) => {
    if (inspected.type !== '@xstate.snapshot') return;
    try {
      const step = stepOf(inspected.actorRef as AnyActorRef, inspected.snapshot as AnyMachineSnapshot);
      if (step !== undefined) listener(step, inspected.event.type);
    } catch {
      // It only looks on.
    }
  });
  return unsubscribe;
}

/** Undefined for what is no machine, such as a promise. */
function stepOf(actor: AnyActorRef, { value, status }: AnyMachineSnapshot): Step | undefined {
  const { logic } = actor as unknown as { logic?: { id?: string } };
  return logic?.id === undefined || value === undefined ? undefined : { machine: logic.id, value, status };
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
