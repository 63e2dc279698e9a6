// What types and XState let pass and a running machine trips over: delays that fire at once, states that nothing reaches,
// failures that nobody handles. Unknown targets are not here: XState refuses them when the machine is made.
import { type AnyStateMachine, type AnyStateNode, initialTransition } from 'xstate';
import { listOf, statesOf, transitionsOf } from '../../machines/drawing/graph.ts';
import type { MachineEntry } from '../../machines/index.ts';

type Subject = Pick<MachineEntry, 'machine' | 'input' | 'samples'>;

/** Longest delay a timer takes; a longer one fires at once. */
const DELAY_MS_MAX = 2 ** 31 - 1;

/** Delays read the context: limits arrive as input. */
type DelayOfContext = (args: { context: unknown }) => unknown;

/** What is wrong with a machine, one sentence each, beginning with the id of the state; empty when it is sound. */
export function lintMachine(subject: Subject): string[] {
  // A machine with an unknown first state cannot be asked anything else.
  const unknown = unknownInitials(subject);
  return unknown.length > 0 ? unknown : RULES.flatMap((rule) => rule(subject));
}

const RULES: readonly ((subject: Subject) => string[])[] = [
  unknownDelays,
  badDelays,
  unnamedParts,
  unusedParts,
  sendsToChildren,
  unhandledFailures,
  unboundedSteps,
  unreachableStates,
  severalTargets,
  wildcards,
  samplesNotHandled,
  eventsWithoutSample,
];

function unknownInitials({ machine }: Subject): string[] {
  return statesOf(machine.root)
    .filter(({ config, states }) => typeof config.initial === 'string' && !(config.initial in states))
    .map(({ id, config, states }) => `${id}: there is no first state "${config.initial}"; there are ${names(states)}.`);
}

function unknownDelays({ machine }: Subject): string[] {
  return delaysOf(machine)
    .filter(({ delay }) => Number.isNaN(Number(delay)) && !(delay in machine.implementations.delays))
    .map(({ id, delay }) => `${id}: the delay "${delay}" is not declared, so it would fire at once.`);
}

/** Delays are computed for the sample input, as they are at the start. */
function badDelays({ machine, input }: Subject): string[] {
  const [{ context }] = initialTransition(machine, input);
  return Object.entries(machine.implementations.delays).flatMap(([name, delay]) => {
    const delayMs = typeof delay === 'function' ? (delay as DelayOfContext)({ context }) : delay;
    const isGood = typeof delayMs === 'number' && delayMs >= 0 && delayMs <= DELAY_MS_MAX;
    return isGood ? [] : [`${machine.id}: the delay "${name}" is ${delayMs} ms; it must be 0 to ${DELAY_MS_MAX}.`];
  });
}

function unnamedParts({ machine }: Subject): string[] {
  const unnamed = (id: string, what: string) => `${id}: ${what} is written in place; give it a name in setup().`;
  return [
    ...actionsOf(machine).flatMap(({ id, action }) =>
      isNamed(action) || isLiteralRaise(action) ? [] : [unnamed(id, 'an action')],
    ),
    ...guardsOf(machine).flatMap(({ id, guard }) => (isNamed(guard) ? [] : [unnamed(id, 'a guard')])),
    ...delaysOf(machine).flatMap(({ id, delay }) =>
      Number.isNaN(Number(delay)) ? [] : [unnamed(id, `the delay ${delay}`)],
    ),
    ...statesOf(machine.root).flatMap(({ id, config }) =>
      listOf<{ src?: unknown }>(config.invoke).flatMap(({ src }) => (isNamed(src) ? [] : [unnamed(id, 'an actor')])),
    ),
  ];
}

function unusedParts({ machine }: Subject): string[] {
  const used = {
    actions: actionsOf(machine).map(({ action }) => nameOf(action)),
    guards: [
      ...guardsOf(machine).map(({ guard }) => guard),
      ...Object.values(machine.implementations.guards).flatMap(partsOf),
    ].map(nameOf),
    delays: delaysOf(machine).map(({ delay }) => delay),
    actors: statesOf(machine.root).flatMap(({ invoke }) => invoke.map(({ src }) => nameOf(src))),
  };
  return Object.entries(used).flatMap(([kind, uses]) =>
    Object.keys(machine.implementations[kind as keyof typeof used])
      .filter((name) => !uses.includes(name))
      .map((name) => `${machine.id}: "${name}" is declared in ${kind} and never used.`),
  );
}

/** A child that does not run any more would take its parent down: the host passes events on. */
function sendsToChildren({ machine }: Subject): string[] {
  const declared = Object.entries(machine.implementations.actions).map(([name, action]) => ({
    id: `${machine.id}: "${name}"`,
    action,
  }));
  const inPlace = actionsOf(machine).map(({ id, action }) => ({ id: `${id}: an action`, action }));
  return [...declared, ...inPlace]
    .filter(({ action }) => typeof action === 'function' && 'type' in action && action.type === 'xstate.sendTo')
    .map(
      ({ id }) => `${id} sends to another actor, which fails when that one is not running; let the host pass it on.`,
    );
}

function unhandledFailures({ machine }: Subject): string[] {
  return statesOf(machine.root).flatMap((state) =>
    state.invoke
      .filter(({ id }) => !state.transitions.has(`xstate.error.actor.${id}`))
      .map(({ id }) => `${state.id}: nothing handles a failure of "${id}"; add onError.`),
  );
}

function unboundedSteps({ machine }: Subject): string[] {
  const isBounded = Number.isFinite(machine.options.maxIterations);
  return isBounded
    ? []
    : [`${machine.id}: a cycle of eventless transitions would never end; add options.maxIterations.`];
}

function unreachableStates({ machine }: Subject): string[] {
  const reached = new Set<AnyStateNode>();
  enter(machine.root, reached);
  // A state that is reached later may lead to further ones; a set hands out what is added while it is walked.
  for (const state of reached) {
    for (const { target } of transitionsOf(state)) for (const next of target ?? []) enter(next, reached);
  }
  return statesOf(machine.root)
    .filter((state) => !reached.has(state))
    .map(({ id }) => `${id}: no transition leads here.`);
}

/** Entering a state enters what is around it, and what it begins with. */
function enter(state: AnyStateNode, reached: Set<AnyStateNode>): void {
  if (reached.has(state)) return;
  reached.add(state);
  if (state.parent !== undefined) enter(state.parent, reached);
  if (state.type === 'parallel') for (const region of Object.values(state.states)) enter(region, reached);
  if (state.type === 'compound') for (const first of state.initial.target) enter(first, reached);
}

function severalTargets({ machine }: Subject): string[] {
  return transitionsOfAll(machine)
    .filter(({ target }) => (target?.length ?? 0) > 1)
    .map(({ source, eventType }) => `${source.id}: "${eventType}" has several targets; drawings show one.`);
}

function wildcards({ machine }: Subject): string[] {
  return transitionsOfAll(machine)
    .filter(({ eventType }) => eventType === '*' || eventType.endsWith('.*'))
    .map(({ source, eventType }) => `${source.id}: "${eventType}" also swallows failures of actors; name the events.`);
}

function samplesNotHandled({ machine, samples }: Subject): string[] {
  const handled = eventTypes(machine);
  return [...new Set(samples.map(({ type }) => type))]
    .filter((type) => !handled.has(type))
    .map((type) => `${machine.id}: "${type}" is among the samples and handled nowhere.`);
}

function eventsWithoutSample({ machine, samples }: Subject): string[] {
  return [...eventTypes(machine)]
    .filter((type) => !samples.some((sample) => sample.type === type))
    .map((type) => `${machine.id}: "${type}" is handled and has no sample in machines/index.ts.`);
}

/** The events a machine takes from outside. */
const eventTypes = (machine: AnyStateMachine): Set<string> =>
  new Set(
    transitionsOfAll(machine).flatMap(({ eventType }) => (/^$|^xstate\.|\*$/.test(eventType) ? [] : [eventType])),
  );

const transitionsOfAll = (machine: AnyStateMachine) => statesOf(machine.root).flatMap(transitionsOf);

const delaysOf = (machine: AnyStateMachine) =>
  statesOf(machine.root).flatMap(({ id, config }) => Object.keys(config.after ?? {}).map((delay) => ({ id, delay })));

const actionsOf = (machine: AnyStateMachine): { id: string; action: unknown }[] =>
  statesOf(machine.root).flatMap((state) => {
    const { id, config } = state;
    const actions: readonly unknown[] = [
      ...listOf<unknown>(config.entry),
      ...listOf<unknown>(config.exit),
      ...(state.type === 'compound' ? state.initial.actions : []),
      ...transitionsOf(state).flatMap((transition) => transition.actions),
    ];
    return actions.map((action) => ({ id, action }));
  });

/** Guards, and those that `and`, `or` and `not` combine; `stateIn` says what it is and counts for none. */
const guardsOf = (machine: AnyStateMachine): { id: string; guard: unknown }[] => [
  ...transitionsOfAll(machine).flatMap(({ source, guard }) =>
    partsOf(guard).map((part) => ({ id: source.id, guard: part })),
  ),
];

function partsOf(guard: unknown): unknown[] {
  if (guard === undefined || (typeof guard === 'function' && 'stateValue' in guard)) return [];
  if (typeof guard === 'function' && 'guards' in guard && Array.isArray(guard.guards))
    return guard.guards.flatMap(partsOf);
  return [guard];
}

/** A part is named when it is a name, or a name with parameters. */
const isNamed = (part: unknown): boolean => nameOf(part) !== undefined;

function nameOf(part: unknown): string | undefined {
  if (typeof part === 'string') return part;
  return typeof part === 'object' && part !== null && 'type' in part ? String(part.type) : undefined;
}

/** `raise` may be written in place: its event says what it is. */
const isLiteralRaise = (action: unknown): boolean =>
  typeof action === 'function' &&
  'type' in action &&
  action.type === 'xstate.raise' &&
  'event' in action &&
  typeof action.event === 'object' &&
  (!('delay' in action) || action.delay === undefined);

const names = (states: object): string => Object.keys(states).join(', ');
