// Which model of a chain is tried next, after which pause, and when to give up. One for each live session.
// It knows members by their place in the chain; who they are, and whose breaker is open, its host tells it.
import { assign, setup } from 'xstate';
import { declaredAction } from './declared.ts';
import type { FailureKind } from './events.ts';

/** Longest pause between two attempts. */
const BACK_OFF_MS_MAX = 2_000;
/** Losses inside the gateway that an incident is forgiven. They say nothing of a model, and come in swarms when the bus is ill. */
const OWN_LOSSES_MAX = 30;
/** Longest pause that a provider is granted where nothing else is left to try. */
const RETRY_AFTER_MS_MAX = 10_000;

export interface FailoverInput {
  /** Actor id of the session. */
  ownerId: string;
  /** Number of models in the chain. */
  members: number;
  /** The member that is tried first: {@link firstCandidate}. */
  first: number;
  limits: {
    /** Retries of one model within an incident. */
    retries: number;
    /** Times the whole chain is begun again within an incident. */
    rounds: number;
    /** First back-off; it doubles with each failed attempt of an incident. */
    backOffMs: number;
  };
}

export interface FailoverContext extends FailoverInput {
  index: number;
  retriesLeft: number;
  roundsLeft: number;
  /** Failed attempts of the current incident. An incident is over when a turn gets its final, or a leg has held for a while. */
  failures: number;
  kind: FailureKind | null;
  /** Whether the last failure was a loss inside the gateway, and how many the incident had. */
  own: boolean;
  ownLosses: number;
  /** Members whose credential was refused: they are not tried again. */
  barred: number[];
  /** Members tried in this round of the incident. */
  tried: number[];
  /** Members whose breaker was open when the last attempt failed: they are tried only when no other is left. */
  open: number[];
  mayRetry: boolean;
  /** How long the provider that failed last asked to be left alone. */
  retryAfterMs: number;
}

export type FailoverEvent =
  /**
   * The member that was chosen last has failed. `mayRetry`: the node's budget has room for another attempt at the same. `own`:
   * its leg was lost inside the gateway.
   */
  | { type: 'attempt.failed'; kind: FailureKind; open: number[]; mayRetry: boolean; retryAfterMs: number; own: boolean }
  /** A turn got its final, or the leg has held for a while: what went wrong before is over. */
  | { type: 'attempt.held' };

type Chain = Pick<FailoverContext, 'members' | 'barred' | 'open'>;

/** The first member from `from` on that may be tried, or -1; with `evenOpen`, breakers do not count. */
function candidateFrom({ members, barred, open }: Chain, from: number, evenOpen: boolean): number {
  for (let index = from; index < members; index++)
    if (!barred.includes(index) && (evenOpen || !open.includes(index))) return index;
  return -1;
}

/** The member to begin with. A breaker never refuses the last candidate: with all of them open it is the first. */
export function firstCandidate(members: number, open: readonly number[]): number {
  return Math.max(0, candidateFrom({ members, barred: [], open: [...open] }, 0, false));
}

/** The next member after the current one, or -1. One with an open breaker is left out as long as any other is left. */
const nextOf = (context: FailoverContext): number => candidateFrom(context, context.index + 1, false);

/** Where a further round begins, or -1. */
function roundOf(context: FailoverContext): number {
  const closed = candidateFrom(context, 0, false);
  return closed >= 0 ? closed : candidateFrom(context, 0, true);
}

/** A member that this round left out because of its breaker alone, or -1. */
const passedOver = ({ members, barred, tried }: FailoverContext): number =>
  candidateFrom({ members, barred: [...barred, ...tried], open: [] }, 0, true);

export const failoverMachine = setup({
  types: {
    context: {} as FailoverContext,
    events: {} as FailoverEvent,
    input: {} as FailoverInput,
  },
  actions: {
    /** The chosen member is to be tried now. */
    tellChosen: declaredAction('tellChosen'),
    noteFailure: assign(({ context, event }) =>
      event.type === 'attempt.failed'
        ? {
            failures: context.failures + 1,
            kind: event.kind,
            own: event.own,
            open: event.open,
            mayRetry: event.mayRetry,
            retryAfterMs: event.retryAfterMs,
            tried: [...context.tried, context.index],
            barred: event.kind === 'account' ? [...context.barred, context.index] : context.barred,
          }
        : {},
    ),
    /** It was no attempt at the model. */
    forgive: assign({
      ownLosses: ({ context }) => context.ownLosses + 1,
      tried: ({ context }) => context.tried.slice(0, -1),
    }),
    takeRetry: assign({ retriesLeft: ({ context }) => context.retriesLeft - 1 }),
    takeNext: assign({ index: ({ context }) => nextOf(context), retriesLeft: ({ context }) => context.limits.retries }),
    takePassedOver: assign({
      index: ({ context }) => passedOver(context),
      retriesLeft: ({ context }) => context.limits.retries,
    }),
    beginRound: assign({
      index: ({ context }) => roundOf(context),
      retriesLeft: ({ context }) => context.limits.retries,
      roundsLeft: ({ context }) => context.roundsLeft - 1,
      tried: [],
    }),
    endIncident: assign({
      failures: 0,
      kind: null,
      ownLosses: 0,
      tried: [],
      retriesLeft: ({ context }) => context.limits.retries,
      roundsLeft: ({ context }) => context.limits.rounds,
    }),
  },
  guards: {
    isCallersFault: ({ context }) => context.kind === 'caller',
    isForgiven: ({ context }) => context.own && context.kind === 'retry' && context.ownLosses < OWN_LOSSES_MAX,
    isWorthRetry: ({ context }) => context.kind === 'retry' && context.retriesLeft > 0 && context.mayRetry,
    hasNext: ({ context }) => nextOf(context) >= 0,
    mayBeginAgain: ({ context }) => context.roundsLeft > 0 && roundOf(context) >= 0,
    hasPassedOver: ({ context }) => passedOver(context) >= 0,
  },
  delays: {
    backOff: ({ context: { limits, failures, retryAfterMs } }) =>
      Math.max(
        Math.min(BACK_OFF_MS_MAX, limits.backOffMs * 2 ** Math.max(0, failures - 1)),
        Math.min(RETRY_AFTER_MS_MAX, retryAfterMs),
      ),
  },
}).createMachine({
  id: 'failover',
  description: 'Which model of a chain is tried next, and when to give up.',
  context: ({ input }) => ({
    ...input,
    index: input.first,
    retriesLeft: input.limits.retries,
    roundsLeft: input.limits.rounds,
    failures: 0,
    kind: null,
    own: false,
    ownLosses: 0,
    barred: [],
    tried: [],
    open: [],
    mayRetry: true,
    retryAfterMs: 0,
  }),
  initial: 'trying',
  states: {
    trying: {
      description: 'The chosen model has the audio.',
      on: {
        'attempt.failed': { target: 'deciding', actions: 'noteFailure' },
        'attempt.held': { actions: 'endIncident' },
      },
    },
    deciding: {
      always: [
        { guard: 'isCallersFault', target: 'refused' },
        { guard: 'isForgiven', target: 'pausing', actions: 'forgive' },
        { guard: 'isWorthRetry', target: 'pausing', actions: 'takeRetry' },
        { guard: 'hasNext', target: 'trying', actions: ['takeNext', 'tellChosen'] },
        { guard: 'mayBeginAgain', target: 'pausing', actions: 'beginRound' },
        { guard: 'hasPassedOver', target: 'trying', actions: ['takePassedOver', 'tellChosen'] },
        { target: 'exhausted' },
      ],
    },
    pausing: {
      after: { backOff: { target: 'trying', actions: 'tellChosen' } },
    },
    refused: { description: 'The request itself is wrong.', type: 'final' },
    exhausted: { description: 'Nothing is left to try.', type: 'final' },
  },
  options: { maxIterations: 200 },
});
