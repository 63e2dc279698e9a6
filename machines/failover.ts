// Which model of a chain is tried next, after which pause, and when to give up. One for each live session.
// The rules are in failover/decision.ts; the host supplies the candidates and which of their breakers are open.
import { assign, setup } from 'xstate';
import { declaredAction } from './declared.ts';
import {
  carriedOut,
  type Decision,
  decide,
  type FailedAttempt,
  type FailoverLimits,
  type Incident,
  incidentOver,
  noIncident,
  pauseMs,
  SESSION_POLICY,
  type Weighed,
  withFailure,
} from './failover/decision.ts';

export interface FailoverInput {
  /** Actor id of the session. */
  ownerId: string;
  /** Number of models in the chain. */
  members: number;
  /** The member that is tried first. */
  first: number;
  limits: FailoverLimits;
}

/** An incident is over when a turn gets its final, or a leg has held for a while. */
export interface FailoverContext extends Incident {
  ownerId: string;
}

export type FailoverEvent =
  /** The member that was chosen last has failed. */
  | ({ type: 'attempt.failed' } & FailedAttempt)
  /** The answer to `askAgain`. */
  | ({ type: 'attempt.weighed' } & Weighed)
  /** A turn got its final, or the leg has held for a while: what went wrong before is over. */
  | { type: 'attempt.held' }
  /** The chain has that many members now, of which the first `before` are tried no more, and begins again. */
  | { type: 'chain.replaced'; members: number; before: number; first: number }
  /** A member that failed before works again, and has the audio. */
  | { type: 'member.returned'; index: number }
  /** A ceiling on spend is reached: that member takes over, and those that cost too much are tried no more. */
  | { type: 'members.bounded'; index: number; barred: number[] };

const decisionOf = (context: FailoverContext): Decision => decide(context, SESSION_POLICY);
const is =
  (decision: Decision) =>
  ({ context }: { context: FailoverContext }): boolean =>
    decisionOf(context) === decision;

export const failoverMachine = setup({
  types: {
    context: {} as FailoverContext,
    events: {} as FailoverEvent,
    input: {} as FailoverInput,
  },
  actions: {
    /** The chosen member is to be tried now. */
    tellChosen: declaredAction('tellChosen'),
    /** Whether the node has room for another attempt now; `attempt.weighed` follows. */
    askAgain: declaredAction('askAgain'),
    noteFailure: assign(({ context, event }) => {
      if (event.type !== 'attempt.failed') return {};
      const { type: _, ...failed } = event;
      return withFailure(context, failed);
    }),
    beginRound: assign(({ context, event }) => {
      if (event.type !== 'attempt.weighed') return {};
      const { type: _, ...weighed } = event;
      return carriedOut({ ...context, ...weighed }, 'wait');
    }),
    choose: assign(({ context }) => carriedOut(context, decisionOf(context))),
    endIncident: assign(({ context }) => incidentOver(context)),
    returnTo: assign(({ context, event }) =>
      event.type === 'member.returned' ? { ...incidentOver(context), index: event.index } : {},
    ),
    bound: assign(({ context, event }) => {
      if (event.type !== 'members.bounded') return {};
      const barred = [...new Set([...context.barred, ...event.barred])];
      return { ...incidentOver(context), index: event.index, barred };
    }),
    beginChain: assign(({ context, event }) => {
      if (event.type !== 'chain.replaced') return {};
      const { members, before, first } = event;
      return { ...noIncident(members, first, context.limits), barred: Array.from({ length: before }, (_, at) => at) };
    }),
  },
  guards: {
    isNotBarred: ({ context, event }) => event.type === 'member.returned' && !context.barred.includes(event.index),
    hasIncident: ({ context }) => context.failures > 0,
    isCallersFault: is('refused'),
    isForgiven: is('forgiven'),
    isWorthRetry: is('retry'),
    hasNext: is('next'),
    mayBeginAgain: is('round'),
    hasPassedOver: is('passed_over'),
    mayWait: is('wait'),
    hasRoom: ({ event }) => event.type === 'attempt.weighed' && event.mayRetry,
    isLate: ({ context, event }) => event.type === 'attempt.weighed' && event.elapsedMs > context.limits.retryMs,
  },
  delays: {
    backOff: ({ context }) => pauseMs(context, SESSION_POLICY),
    roomTime: ({ context }) => context.limits.backOffMs,
  },
}).createMachine({
  id: 'failover',
  description: 'Which model of a chain is tried next, and when to give up.',
  context: ({ input: { ownerId, members, first, limits } }) => ({ ...noIncident(members, first, limits), ownerId }),
  initial: 'trying',
  on: { 'chain.replaced': { target: '.trying', actions: 'beginChain' } },
  states: {
    trying: {
      description: 'The chosen model has the audio.',
      on: {
        'attempt.failed': { target: 'deciding', actions: 'noteFailure' },
        'attempt.held': { guard: 'hasIncident', actions: 'endIncident' },
        'member.returned': { guard: 'isNotBarred', actions: 'returnTo' },
        'members.bounded': { actions: 'bound' },
      },
    },
    deciding: {
      always: [
        { guard: 'isCallersFault', target: 'refused' },
        { guard: 'isForgiven', target: 'pausing', actions: 'choose' },
        { guard: 'isWorthRetry', target: 'pausing', actions: 'choose' },
        { guard: 'hasNext', target: 'trying', actions: ['choose', 'tellChosen'] },
        { guard: 'mayBeginAgain', target: 'pausing', actions: 'choose' },
        { guard: 'hasPassedOver', target: 'trying', actions: ['choose', 'tellChosen'] },
        { guard: 'mayWait', target: 'waiting' },
        { target: 'exhausted' },
      ],
    },
    pausing: {
      after: { backOff: { target: 'trying', actions: 'tellChosen' } },
    },
    waiting: {
      description: 'No model answers.',
      after: { backOff: 'asking' },
    },
    asking: {
      description: 'A node has only so many second attempts under way.',
      entry: 'askAgain',
      on: {
        'attempt.weighed': [
          { guard: 'hasRoom', target: 'trying', actions: ['beginRound', 'tellChosen'] },
          { guard: 'isLate', target: 'exhausted' },
        ],
      },
      after: { roomTime: { target: 'asking', reenter: true } },
    },
    refused: { description: 'The request itself is wrong.', type: 'final' },
    exhausted: { description: 'Nothing is left to try.', type: 'final' },
  },
  options: { maxIterations: 200 },
});
