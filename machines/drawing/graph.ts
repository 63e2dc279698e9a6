// A machine as plain data: states and transitions, ready to be drawn, listed or sent to the console.
// It walks the state nodes, because `machine.definition` leaves out eventless transitions. How it looks is left to scripts/diagrams.
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

export type EdgeKind = 'event' | 'always' | 'after' | 'done' | 'error';

export interface GraphNode {
  /** Id of the state in its machine: `session.live.link`. */
  id: string;
  key: string;
  /** Id of the enclosing state; null for the machine itself. */
  parent: string | null;
  kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** Id of the child that is entered first; null where there is none, or all are entered. */
  initial: string | null;
  tags: string[];
  /** Action names; a literal parameter that tells uses apart is shown in brackets: `noteEnd(idle)`. */
  entry: string[];
  exit: string[];
  invokes: { id: string; src: string }[];
  description: string | null;
}

export interface GraphEdge {
  /** Unique in its machine, without blanks: `<from>:<trigger>:<index>`. */
  id: string;
  from: string;
  /** Null when the state is not left: only the actions run. */
  to: string | null;
  /** The event type as XState knows it; empty for an eventless transition. */
  event: string;
  /** The event as people read it: `client.close`, `after backOff`, `done settle`. */
  label: string;
  guard: string | null;
  actions: string[];
  kind: EdgeKind;
}

/** Plain data: it survives JSON unchanged. Nodes and edges are in document order. */
export interface MachineGraph {
  id: string;
  description: string | null;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

/** The neutral picture of a machine. The same machine gives the same graph, byte for byte. */
export function toGraph(machine: AnyStateMachine): MachineGraph {
  const states = statesOf(machine.root);
  return {
    id: machine.id,
    description: machine.root.description ?? null,
    nodes: states.map(toNode),
    edges: states.flatMap((state) => transitionsOf(state).map(toEdge)),
  };
}

/** The id of the edge a transition is drawn as; `transition` is what an inspected microstep carries. */
export function edgeIdOf(transition: AnyTransitionDefinition): string {
  const { source, eventType } = transition;
  const alternatives = eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  const trigger = describeEvent(eventType, source.id).label.replace(' ', '.');
  return `${source.id}:${trigger}:${alternatives.indexOf(transition)}`;
}

/**
 * A transition as people read it: the event, the guard in square brackets, the actions after a slash; what is not there is
 * empty. The last of several alternatives, which takes what the guards left over, says `[else]`.
 */
export function wordsOf(edge: GraphEdge, graph: MachineGraph): { event: string; guard: string; actions: string } {
  const isElse =
    edge.guard === null &&
    graph.edges.some(({ from, event, guard }) => from === edge.from && event === edge.event && guard !== null);
  const guard = edge.guard === null ? (isElse ? '[else]' : '') : `[${edge.guard}]`;
  return {
    event: edge.kind === 'always' && guard !== '' ? '' : edge.label,
    guard,
    actions: edge.actions.length === 0 ? '' : `/ ${edge.actions.join(', ')}`,
  };
}

/** A state and all below it, in document order. */
export function statesOf(state: AnyStateNode): AnyStateNode[] {
  return [state, ...Object.values(state.states).flatMap(statesOf)];
}

/** The transitions a state itself declares, in the order in which XState tries them, eventless ones last. */
export function transitionsOf(state: AnyStateNode): AnyTransitionDefinition[] {
  return [...[...state.transitions.values()].flat(), ...(state.always ?? [])];
}

/** What `entry`, `exit` or `actions` holds, as a list. `node.entry` would show the timers of `after` as well. */
export function listOf<Item>(value: Item | readonly Item[] | undefined): readonly Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as Item];
}

function toNode(state: AnyStateNode): GraphNode {
  return {
    id: state.id,
    key: state.key,
    parent: state.parent?.id ?? null,
    kind: state.type,
    initial: state.type === 'compound' ? (state.initial.target[0]?.id ?? null) : null,
    tags: [...state.tags],
    entry: listOf<unknown>(state.config.entry).map(nameOfAction),
    exit: listOf<unknown>(state.config.exit).map(nameOfAction),
    invokes: state.invoke.map(({ id, src }) => ({ id, src: typeof src === 'string' ? src : 'unnamed' })),
    description: state.description ?? null,
  };
}

function toEdge(transition: AnyTransitionDefinition): GraphEdge {
  return {
    id: edgeIdOf(transition),
    from: transition.source.id,
    to: transition.target?.[0]?.id ?? null,
    event: transition.eventType,
    ...describeEvent(transition.eventType, transition.source.id),
    guard: transition.guard === undefined ? null : nameOfGuard(transition.guard),
    actions: transition.actions.map(nameOfAction),
  };
}

/** XState writes timers and the ends of invoked actors as event types; people read a word and a name. */
function describeEvent(eventType: string, stateId: string): { label: string; kind: EdgeKind } {
  const [, word, rest] = /^xstate\.(after|done\.actor|done\.state|error\.actor)\.(.+)$/.exec(eventType) ?? [];
  if (eventType === '') return { label: 'always', kind: 'always' };
  if (word === undefined || rest === undefined) return { label: eventType, kind: 'event' };
  if (word === 'after') return { label: `after ${rest.slice(0, -stateId.length - 1)}`, kind: 'after' };
  if (word === 'error.actor') return { label: `error ${rest}`, kind: 'error' };
  return { label: `done ${rest}`, kind: 'done' };
}

/** `and`, `or`, `not` and `stateIn` are functions that carry what they combine. */
function nameOfGuard(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  const { type, name, guards, stateValue } = guard as {
    type?: string;
    name?: string;
    guards?: unknown[];
    stateValue?: unknown;
  };
  if (guards !== undefined) {
    const names = guards.map(nameOfGuard);
    return name === 'not' ? `not ${names[0]}` : names.join(` ${name} `);
  }
  if (stateValue !== undefined) return `in ${typeof stateValue === 'string' ? stateValue : JSON.stringify(stateValue)}`;
  return type ?? name ?? 'unnamed';
}

function nameOfAction(action: unknown): string {
  if (typeof action === 'string') return action;
  const { type, name, params, event } = action as { type?: string; name?: string; params?: unknown; event?: unknown };
  if (type === 'xstate.raise') return `raise(${(event as { type?: string }).type ?? 'computed'})`;
  const detail = shortLiteral(params);
  return `${type ?? name ?? 'unnamed'}${detail === null ? '' : `(${detail})`}`;
}

/** The first word among literal parameters: sentences and numbers say too little for a drawing. */
function shortLiteral(params: unknown): string | null {
  if (typeof params !== 'object' || params === null) return null;
  const words = Object.values(params).filter((value) => typeof value === 'string' && !value.includes(' '));
  return typeof words[0] === 'string' ? words[0] : null;
}
