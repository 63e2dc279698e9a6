// Looks on while the machines of one actor system take their steps: what each macrostep passed through and which transitions it
// took. It only looks: what a listener throws is swallowed.
import type { AnyActorRef, AnyMachineSnapshot, AnyTransitionDefinition, EventObject, StateValue } from 'xstate';
import { edgeIdOf } from '../../machines/drawing/graph.ts';

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

/** Hears of each step of each machine of the actor's system that takes a transition to a state, or comes to another state. */
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

/** Undefined for what is no machine, such as a promise. */
function stepOf(root: AnyActorRef, actor: AnyActorRef, { value, status }: AnyMachineSnapshot): Step | undefined {
  const { logic } = actor as unknown as { logic?: { id?: string } };
  const machine = logic?.id;
  if (machine === undefined || value === undefined) return undefined;
  return { actor: actor === root ? machine : actor.id, machine, value, status };
}
