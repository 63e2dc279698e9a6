// The one place that starts and watches actors: an observer without an error handler, or one that throws, would end the process, and this
// one does neither. Their steps can be inspected: what each macrostep passed through and which transitions it took.
import { randomBytes } from 'node:crypto';
import {
  type Actor,
  type ActorOptions,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  createActor,
  type EventObject,
  type InputFrom,
  type OutputFrom,
  type SnapshotFrom,
  type StateValue,
} from 'xstate';
import type { Clock } from '../../machines/clock.ts';
import { edgeIdOf } from '../../machines/drawing/graph.ts';

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
  countActor(actor);
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

/** Nodes of one process have the same counts: whoever adds up tells processes apart by this. */
export const PROCESS_ID = randomBytes(6).toString('hex');

/** Actors of each machine by where they are, written down: a session passes a dozen states, and few ask how many are in which. */
const countsOfMachines = new Map<string, Map<string, number>>();

/** By the id of the state as it is drawn: `session.live.link.streaming`; under the id of the machine, all of its actors. */
export function countsOfProcess(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [machine, states] of countsOfMachines)
    for (const [written, count] of states) add(counts, machine, JSON.parse(written) as StateValue, count);
  return counts;
}

function add(counts: Record<string, number>, id: string, value: StateValue | undefined, count: number): void {
  counts[id] = (counts[id] ?? 0) + count;
  if (typeof value === 'string') add(counts, `${id}.${value}`, undefined, count);
  else for (const [key, below] of Object.entries(value ?? {})) add(counts, `${id}.${key}`, below, count);
}

function count(states: Map<string, number>, written: string, by: number): void {
  const now = (states.get(written) ?? 0) + by;
  if (now === 0) states.delete(written);
  else states.set(written, now);
}

/** One instance of a machine in these counts. */
export interface StateCount {
  became(value: StateValue): void;
  over(): void;
}

/** Counts one instance of a machine by its state, until it is over. */
export function countStates(machine: string, first: StateValue): StateCount {
  const states = countsOfMachines.get(machine) ?? new Map<string, number>();
  countsOfMachines.set(machine, states);
  let value = first;
  let written = JSON.stringify(value);
  let isOver = false;
  count(states, written, 1);
  return {
    became(next) {
      if (next === value || isOver) return;
      value = next;
      const text = JSON.stringify(value);
      if (text === written) return;
      count(states, written, -1);
      written = text;
      count(states, written, 1);
    },
    over() {
      if (!isOver) count(states, written, -1);
      isOver = true;
    },
  };
}

/** Counts an actor that has started, and the machines that it has invoked, until they end. */
function countActor(actor: AnyActorRef): void {
  const { logic } = actor as unknown as { logic?: { id?: string } };
  const snapshot = actor.getSnapshot() as AnyMachineSnapshot;
  const machine = logic?.id;
  if (machine === undefined || snapshot.value === undefined || snapshot.status !== 'active') return;
  const { became, over } = countStates(machine, snapshot.value);
  actor.subscribe({ next: ({ value }: AnyMachineSnapshot) => became(value), error: over, complete: over });
  for (const child of Object.values(snapshot.children) as (AnyActorRef | undefined)[])
    if (child !== undefined) countActor(child);
}

/** An actor to be looked at. */
export type Chart = AnyActorRef;

/** Where one machine of a system is: names only, and never what is in its context. */
export interface Step {
  /** Id of the actor in its system: that of its machine for the first, of its invocation for others. */
  actor: string;
  machine: string;
  value: StateValue;
  status: string;
}

/** What a machine made of one event. */
export interface Macrostep extends Step {
  event: string;
  /** Ids of the transitions taken, in order, as they are drawn. */
  edges: string[];
  /** The states on its way to `value`. */
  through: StateValue[];
  /**
   * Steps in the order of cause: a machine tells of a step when it is over, and by then others may have told of theirs, which
   * came of it.
   */
  order: number;
}

export interface Inspection {
  /** Tells of steps that are not over: their machine was stopped by what they led to. */
  finish(): void;
  /** Comes after everything that has begun by now. */
  order(): number;
  /** Ends it, without a trace in the system. */
  detach(): void;
}

/** Events on their way to one actor that are not told of. */
const PENDING_MAX = 64;
const MICROSTEPS_MAX = 64;

interface Microstep {
  value: StateValue;
  status: string;
  transitions: readonly AnyTransitionDefinition[];
}

/** One actor of the system, between its steps. */
interface Watched {
  /** Events that were sent to it, and when. */
  sent: { event: EventObject; order: number }[];
  /** When its last step was over. */
  endOrder: number;
  event: EventObject | undefined;
  microsteps: Microstep[];
}

/** Where every machine of the actor's system is now. */
export function stepsOf(root: AnyActorRef): Step[] {
  const visit = (actor: AnyActorRef): Step[] => {
    const snapshot = actor.getSnapshot() as AnyMachineSnapshot;
    const own = stepOf(root, actor, snapshot);
    if (own === undefined) return [];
    const children = Object.values(snapshot.children ?? {}) as (AnyActorRef | undefined)[];
    return [own, ...children.flatMap((child) => (child === undefined ? [] : visit(child)))];
  };
  return visit(root);
}

/** Inspects the machines of one actor system while they take their steps. It only looks: what a listener throws is swallowed. */
export function inspectSystem(root: AnyActorRef, listener: (step: Macrostep) => void): Inspection {
  const actors = new Map<AnyActorRef, Watched>();
  let clock = 0;
  const watchedOf = (actor: AnyActorRef): Watched => {
    const known = actors.get(actor);
    if (known !== undefined) return known;
    const watched: Watched = { sent: [], endOrder: 0, event: undefined, microsteps: [] };
    actors.set(actor, watched);
    return watched;
  };
  const over = (actor: AnyActorRef, step: Step, event: EventObject) => {
    const watched = watchedOf(actor);
    const { microsteps } = watched;
    const at = watched.sent.findIndex((sent) => sent.event === event);
    const sentOrder = at < 0 ? 0 : watched.sent.splice(0, at + 1)[at]?.order;
    const order = Math.max(sentOrder || ++clock, watched.endOrder);
    watched.endOrder = ++clock;
    watched.microsteps = [];
    if (step.status !== 'active') actors.delete(actor);
    const edges = microsteps.flatMap(({ transitions }) => transitions.filter(isDrawn).map(edgeIdOf));
    const through = microsteps.slice(0, -1).map(({ value }) => value);
    const hasMoved = microsteps.some(({ transitions }) => transitions.some(({ target }) => target !== undefined));
    if (hasMoved || step.status !== 'active') listener({ ...step, event: event.type, edges, through, order });
  };
  const { unsubscribe } = root.system.inspect((inspected) => {
    try {
      const actor = inspected.actorRef as AnyActorRef;
      if (inspected.type === '@xstate.event') {
        const { sent } = watchedOf(actor);
        if (sent.length < PENDING_MAX) sent.push({ event: inspected.event, order: ++clock });
      } else if (inspected.type === '@xstate.microstep') {
        const watched = watchedOf(actor);
        if (watched.microsteps.length === 0) watched.event = inspected.event;
        const { value, status } = inspected.snapshot as AnyMachineSnapshot;
        const transitions = inspected._transitions;
        if (watched.microsteps.length < MICROSTEPS_MAX) watched.microsteps.push({ value, status, transitions });
      } else if (inspected.type === '@xstate.snapshot') {
        const step = stepOf(root, actor, inspected.snapshot as AnyMachineSnapshot);
        if (step !== undefined) over(actor, step, inspected.event);
      }
    } catch {
      // It only looks on.
    }
  });
  const finish = () => {
    for (const [actor, { microsteps, event }] of [...actors]) {
      const last = microsteps.at(-1);
      const step = last && stepOf(root, actor, last as unknown as AnyMachineSnapshot);
      if (step !== undefined && event !== undefined) over(actor, step, event);
    }
  };
  return { finish, order: () => ++clock, detach: unsubscribe };
}

/** The beginning of a machine is a transition that nobody has written. */
const isDrawn = ({ eventType }: AnyTransitionDefinition): boolean => typeof eventType === 'string';

/** Undefined for what is not a machine, such as a promise. */
function stepOf(root: AnyActorRef, actor: AnyActorRef, { value, status }: AnyMachineSnapshot): Step | undefined {
  const { logic } = actor as unknown as { logic?: { id?: string } };
  const machine = logic?.id;
  if (machine === undefined || value === undefined) return undefined;
  return { actor: actor === root ? machine : actor.id, machine, value, status };
}
