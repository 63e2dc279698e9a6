// Walks machines: purely, through all that their samples can bring about, and as real actors whose clock and children the
// test holds in its hand. It drives; what must hold is said by the tests.
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  fromPromise,
  getNextTransitions,
  SimulatedClock,
} from 'xstate';
import { adjacencyMapToArray, getAdjacencyMap } from 'xstate/graph';
import { edgeIdOf, toGraph } from '../../machines/drawing/graph.ts';
import type { MachineEntry } from '../../machines/index.ts';

export type Samples = MachineEntry['samples'];

export interface Subject {
  machine: AnyStateMachine;
  input: unknown;
  /** The events to try; a function when they depend on where the machine is. */
  samples: Samples | ((snapshot: AnyMachineSnapshot) => Samples);
}

export interface Step {
  from: AnyMachineSnapshot;
  event: EventObject;
  to: AnyMachineSnapshot;
  fromKey: string;
  toKey: string;
  /** Ids of the edges taken, those of eventless transitions and raised events included. */
  edges: string[];
}

export interface Path {
  events: EventObject[];
  /** The pure snapshot after each event. */
  snapshots: AnyMachineSnapshot[];
}

export interface Exploration {
  snapshots: Map<string, AnyMachineSnapshot>;
  steps: Step[];
  /** Shortest way to each snapshot, by its key. */
  paths: Map<string, Path>;
  /** Shortest way over each edge, by the edge's id. */
  edgePaths: Map<string, Path>;
}

/** Bound of a walk: more snapshots than this mean that `project` lets something grow. */
const SNAPSHOTS_MAX = 20_000;

/**
 * Everything the samples, the timers and the ends of children can bring about. Two snapshots are the same when state and
 * `project(context)` are, so `project` keeps what decides and leaves out what only grows.
 */
export function explore(subject: Subject, project: (context: never) => unknown = () => null): Exploration {
  const { machine, input } = subject;
  const taken = new WeakMap<AnyMachineSnapshot, Map<EventObject, string[]>>();
  const keyOf = (snapshot: AnyMachineSnapshot): string =>
    JSON.stringify([snapshot.value, snapshot.status, project(snapshot.context as never)]);
  const options = {
    input,
    limit: SNAPSHOTS_MAX,
    serializeState: keyOf,
    events: (snapshot: AnyMachineSnapshot) => eventsFor(snapshot, subject),
    stopWhen: (snapshot: AnyMachineSnapshot) => snapshot.status !== 'active',
  };
  const logic = recordingEdges(machine, taken);
  const adjacency = getAdjacencyMap<AnyMachineSnapshot, EventObject, unknown>(logic, options);
  const steps = adjacencyMapToArray(adjacency).map(({ state: from, event, nextState: to }) => {
    const edges = taken.get(from)?.get(event) ?? [];
    return { from, event, to, fromKey: keyOf(from), toKey: keyOf(to), edges };
  });
  const paths = shortestPaths(steps);
  return {
    snapshots: new Map(Object.values(adjacency).map(({ state }) => [keyOf(state), state])),
    steps,
    paths,
    edgePaths: edgePaths(steps, paths),
  };
}

/**
 * Steps come in the order of a walk in breadth, so the first step to a snapshot is the end of a shortest way. `getShortestPaths`
 * of XState puts snapshots into its paths that have the same key and were reached in another way.
 */
function shortestPaths(steps: readonly Step[]): Map<string, Path> {
  const paths = new Map<string, Path>([[steps[0]?.fromKey ?? '', { events: [], snapshots: [] }]]);
  for (const step of steps) if (!paths.has(step.toKey)) paths.set(step.toKey, continued(paths, step));
  return paths;
}

/** The way to where a step begins, and the step. */
function continued(paths: ReadonlyMap<string, Path>, { fromKey, event, to }: Step): Path {
  const before = paths.get(fromKey) ?? { events: [], snapshots: [] };
  return { events: [...before.events, event], snapshots: [...before.snapshots, to] };
}

/** The machine, with a note of the transitions that each of its steps takes. */
function recordingEdges(
  machine: AnyStateMachine,
  taken: WeakMap<AnyMachineSnapshot, Map<EventObject, string[]>>,
): AnyStateMachine {
  const logic: AnyStateMachine = Object.create(machine);
  logic.transition = (snapshot, event, scope) => {
    const edges: string[] = [];
    const { unsubscribe } = scope.system.inspect((seen) => {
      if (seen.type === '@xstate.microstep') edges.push(...seen._transitions.map(edgeIdOf));
    });
    const next = machine.transition(snapshot, event, scope);
    unsubscribe();
    const events = taken.get(snapshot) ?? new Map<EventObject, string[]>();
    taken.set(snapshot, events.set(event, edges));
    return next;
  };
  return logic;
}

function edgePaths(steps: readonly Step[], paths: ReadonlyMap<string, Path>): Map<string, Path> {
  const found = new Map<string, Path>();
  for (const step of steps) {
    for (const id of step.edges) if (!found.has(id)) found.set(id, continued(paths, step));
  }
  return found;
}

/** What can happen in a snapshot: its samples, its timers, the ends of its children. */
export function eventsFor(snapshot: AnyMachineSnapshot, { samples }: Pick<Subject, 'samples'>): EventObject[] {
  const given = typeof samples === 'function' ? samples(snapshot) : samples;
  const types = new Set(getNextTransitions(snapshot).map(({ eventType }) => eventType));
  return [...types].flatMap((type): EventObject[] => {
    if (type === '') return [];
    if (type.startsWith('xstate.error.')) return [{ type, error: new Error('A sample failure.') } as EventObject];
    if (type.startsWith('xstate.')) return [{ type }];
    return given.filter((sample) => sample.type === type);
  });
}

/** Keys of the snapshots from which an end can be reached by the given events. */
export function endingKeys({ snapshots, steps }: Exploration, mayHappen: (event: EventObject) => boolean): Set<string> {
  const ending = new Set([...snapshots].filter(([, { status }]) => status === 'done').map(([key]) => key));
  const possible = steps.filter(({ event }) => mayHappen(event));
  let size = -1;
  while (size !== ending.size) {
    size = ending.size;
    for (const { fromKey, toKey } of possible) if (ending.has(toKey)) ending.add(fromKey);
  }
  return ending;
}

/** A real actor whose clock, children and actions the test holds. */
export interface Held {
  snapshot(): AnyMachineSnapshot;
  /** Names of the provided actions that ran, in order. */
  calls: string[];
  /** What reached the error observer. */
  errors: unknown[];
  /** Ids of the edges taken so far. */
  edges: string[];
  clock: SimulatedClock;
  send(event: EventObject): void;
  /** Ids of the children that run. */
  running(): string[];
  /** Ends the youngest running child of that name. */
  settle(child: string, error?: unknown): Promise<void>;
  /** Makes anything happen that a path names: sends it, moves the clock, or ends a child. */
  apply(event: EventObject): Promise<void>;
}

export interface HoldOptions {
  /** Called with the name of each provided action before it is noted; may throw. */
  onAction?: (name: string) => void;
}

/** Starts a machine with actions that only note their names and children that end when the test says so. */
export function hold({ machine, input }: Subject, { onAction }: HoldOptions = {}): Held {
  const clock = new SimulatedClock();
  const calls: string[] = [];
  const errors: unknown[] = [];
  const edges: string[] = [];
  const children = new Map<string, { resolve: () => void; reject: (error: unknown) => void }>();
  const actions = providedActions(machine).map((name) => [
    name,
    () => {
      onAction?.(name);
      calls.push(name);
    },
  ]);
  const actors = invoked(machine).map(({ src, id }) => [
    src,
    fromPromise(() => new Promise<void>((resolve, reject) => children.set(id, { resolve, reject }))),
  ]);
  const provided = machine.provide({ actions: Object.fromEntries(actions), actors: Object.fromEntries(actors) });
  const actor = createActor(provided, {
    input,
    clock,
    inspect: (seen) => {
      if (seen.type === '@xstate.microstep' && seen.actorRef === actor) edges.push(...seen._transitions.map(edgeIdOf));
    },
  });
  actor.subscribe({ error: (error) => errors.push(error) });
  actor.start();

  const held: Held = {
    snapshot: () => actor.getSnapshot(),
    calls,
    errors,
    edges,
    clock,
    send: (event) => actor.send(event),
    running: () => Object.keys(actor.getSnapshot().children),
    async settle(child, error) {
      const running = children.get(child);
      if (running === undefined) throw new Error(`No child "${child}" was started.`);
      if (error === undefined) running.resolve();
      else running.reject(error);
      await promisesDone();
    },
    async apply(event) {
      const [, word, child] = /^xstate\.(done|error)\.actor\.(.+)$/.exec(event.type) ?? [];
      if (word !== undefined && child !== undefined) {
        await held.settle(child, word === 'error' ? new Error('A sample failure.') : undefined);
      } else if (isAfter(event.type) && timersOf(actor.getSnapshot()) === 1) {
        clock.increment(delayOf(actor.getSnapshot(), event.type));
      } else actor.send(event);
    },
  };
  return held;
}

/** Names of the actions that a host has to provide; the others change the context only. */
export const providedActions = ({ implementations }: AnyStateMachine): string[] =>
  Object.entries(implementations.actions)
    .filter(([, action]) => typeof action === 'function' && !('resolve' in action))
    .map(([name]) => name);

const invoked = (machine: AnyStateMachine): { id: string; src: string }[] =>
  toGraph(machine).nodes.flatMap(({ invokes }) => invokes);

const isAfter = (type: string): boolean => type.startsWith('xstate.after.');

/** Timers that run now. Where there are several, moving the clock for one may fire another: a path names the one it means. */
const timersOf = (snapshot: AnyMachineSnapshot): number =>
  new Set(getNextTransitions(snapshot).flatMap(({ eventType }) => (isAfter(eventType) ? [eventType] : []))).size;

/** How long a timer of the current state runs. */
function delayOf(snapshot: AnyMachineSnapshot, type: string): number {
  const transition = getNextTransitions(snapshot).find(({ eventType }) => eventType === type);
  const name = transition !== undefined && 'delay' in transition ? String(transition.delay) : '';
  const delay: unknown = snapshot.machine.implementations.delays[name];
  const delayMs: unknown = typeof delay === 'function' ? delay({ context: snapshot.context, event: { type } }) : delay;
  if (typeof delayMs !== 'number') throw new Error(`No timer "${type}" runs in ${JSON.stringify(snapshot.value)}.`);
  return delayMs;
}

/** One turn of the event loop: promises that are settled have been heard. */
export const promisesDone = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
