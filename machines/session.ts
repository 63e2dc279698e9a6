// One live session: which leg carries it, how it ends, and which limits end it. Audio and text pass it by; the host
// (src/live/session) holds the sockets, the audio pipeline and the texts, and tells this chart of boundaries only.
import { assign, raise, setup } from 'xstate';
import { declaredAction, declaredPromise } from './declared.ts';
import { failoverMachine } from './failover.ts';
import type { SessionEnd } from './session/ends.ts';
import * as ends from './session/ends.ts';
import { changed, lastLost, lost, overlong } from './session/transitions.ts';
import type { SessionContext, SessionEvent, SessionInput, SessionOutput } from './session/types.ts';

/** How long an expiring leg waits for the end of a turn before it is replaced in the middle of one. */
const EXPIRY_MS = 30_000;
/** A turn that was ended for that has its final by then, or is heard again. */
const ENDED_MS = 35_000;

const isCurrent = (context: SessionContext, event: { generation: number }) => event.generation === context.generation;

export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as SessionInput,
    output: {} as SessionOutput,
    tags: {} as 'accepts-audio' | 'buffering',
  },
  actors: {
    failover: failoverMachine,
    /** Resolves when the last events are on their way and the usage is recorded. */
    settle: declaredPromise<void, { sessionId: string }>('settle'),
  },
  actions: {
    openLeg: declaredAction('openLeg'),
    closeLeg: declaredAction('closeLeg'),
    openGate: declaredAction('openGate'),
    closeGate: declaredAction('closeGate'),
    finishLeg: declaredAction('finishLeg'),
    endTurn: declaredAction('endTurn'),
    endAudio: declaredAction('endAudio'),
    /** No turn gets a final any more. */
    endTurns: declaredAction('endTurns'),
    /** The leg is released; audio that came meanwhile wants another. */
    rest: declaredAction('rest'),
    /** Asks the failover chart what comes after the failure noted last. */
    decide: declaredAction('decide'),
    /** The leg has held for a while. */
    tellHeld: declaredAction('tellHeld'),
    announceExpiry: declaredAction('announceExpiry'),
    announceDrain: declaredAction('announceDrain'),
    announceEnd: declaredAction('announceEnd'),
    nextGeneration: assign({ generation: ({ context }) => context.generation + 1 }),
    noteFailure: assign({
      failure: ({ event }) => (event.type === 'upstream.failed' ? event.failure : null),
      attempts: ({ context, event }) =>
        event.type === 'upstream.failed'
          ? [...context.attempts, { model: context.chain[context.index] ?? '', reason: event.failure.reason }]
          : context.attempts,
    }),
    takeChoice: assign({
      index: ({ context, event }) => (event.type === 'failover.chosen' ? event.index : context.index),
    }),
    endIncident: assign({ attempts: [], failure: null }),
    noteConfigured: assign(({ context, event }) => {
      if (event.type !== 'session.configured') return {};
      const { chain, next, steadyMs, isInPlace } = event;
      const limits = { ...context.limits, steadyMs: Math.max(context.limits.steadyMs, steadyMs) };
      return isInPlace === true ? { chain, index: next, next: null, limits } : { chain, next, limits };
    }),
    noteNext: assign(({ event }) =>
      event.type === 'session.returning' || event.type === 'session.bounded' ? { next: event.index } : {},
    ),
    /** From now on another member has it, where the client wants that. What befell the one before is over. */
    takeNext: assign(({ context: { next } }) =>
      next === null ? {} : { index: next, next: null, attempts: [], failure: null },
    ),
    noteEnd: assign({
      reason: (_, params: SessionEnd) => params.reason,
      error: (_, params: SessionEnd) => params.error,
    }),
    /** Audio ends because the client ended it, unless something else was noted before. */
    noteFinished: assign({ reason: ({ context }) => context.reason ?? 'client_closed' }),
    noteLost: assign({
      reason: 'upstream',
      error: ({ context }) => ({
        code: ends.lossCode(context),
        message: context.failure?.ownKey ?? context.failure?.message ?? 'The provider failed.',
      }),
    }),
  },
  guards: {
    /** The audio that the client ended cannot all be paid for: that is why the session ends now. */
    isUnpaid: ({ event }) => event.type === 'session.stop' && (event.reason === 'credit' || event.reason === 'ledger'),
    /** Attempts have failed, and nothing has come of the audio since. */
    hasIncident: ({ context }) => context.attempts.length > 0 || context.failure !== null,
    isCurrentLeg: ({ context, event }) => 'generation' in event && isCurrent(context, event),
    /** The same, and it is the last that was to be heard of it. */
    isOutgoingLeg: ({ context, event }) => 'generation' in event && isCurrent(context, event) && context.next !== null,
    isChanging: ({ context }) => context.next !== null,
    isInPlace: ({ event }) => event.type === 'session.configured' && event.isInPlace === true,
  },
  delays: {
    longest: ({ context }) => context.limits.longestMs,
    drain: ({ context }) => context.limits.drainMs,
    settleTime: ({ context }) => context.limits.settleMs,
    steady: ({ context }) => context.limits.steadyMs,
    expiry: EXPIRY_MS,
    ended: ENDED_MS,
  },
}).createMachine({
  id: 'session',
  description: 'One live session, from its first leg to its settlement.',
  context: ({ input }) => ({
    ...input,
    index: input.first,
    generation: 0,
    attempts: [],
    failure: null,
    next: null,
    reason: null,
    error: null,
  }),
  initial: 'live',
  states: {
    live: {
      type: 'parallel',
      invoke: [
        {
          id: 'failover',
          src: 'failover',
          input: ({ context: { sessionId, chain, first, limits } }) => ({
            ownerId: sessionId,
            members: chain.length,
            first,
            limits: (({ retries, rounds, retryMs, backOffMs }) => ({ retries, rounds, retryMs, backOffMs }))(limits),
          }),
          onDone: { target: 'settling', actions: 'noteLost' },
          onError: { target: 'settling', actions: { type: 'noteEnd', params: ends.failoverFailed } },
        },
      ],
      on: {
        'session.abort': {
          target: 'settling',
          actions: { type: 'noteEnd', params: ({ event }) => ({ reason: event.reason, error: event.error }) },
        },
        'audio.settled': { target: 'settling', actions: 'noteFinished' },
      },
      states: {
        link: {
          initial: 'dialling',
          states: {
            dialling: {
              tags: 'buffering',
              entry: ['nextGeneration', 'openLeg'],
              on: {
                'upstream.ready': { guard: 'isCurrentLeg', target: 'streaming', actions: 'openGate' },
                'upstream.failed': lost,
                'session.configured': { target: 'replacing', actions: 'noteConfigured' },
              },
            },
            streaming: {
              tags: 'accepts-audio',
              on: {
                'audio.drained': 'finishing',
                'audio.quiet': 'suspending',
                'upstream.failed': lost,
                'upstream.expiring': { guard: 'isCurrentLeg', target: 'expiring' },
                'session.configured': changed,
                'session.returning': { target: 'replacing', actions: 'noteNext' },
                'session.bounded': { target: 'replacing', actions: 'noteNext' },
                'turn.settled': { guard: 'hasIncident', actions: 'endIncident' },
              },
              after: { steady: { actions: ['endIncident', 'tellHeld'] } },
            },
            expiring: {
              description:
                "The provider's limit on a leg's duration is near, or the client wants another: after this turn a new one takes over.",
              tags: 'accepts-audio',
              entry: 'announceExpiry',
              on: {
                'audio.drained': 'finishing',
                'upstream.failed': lastLost,
                'session.configured': { actions: 'noteConfigured' },
                'session.bounded': { target: 'replacing', actions: 'noteNext' },
                'turn.settled': { target: 'replacing', actions: 'endIncident' },
              },
              after: { expiry: overlong, ended: 'replacing' },
            },
            replacing: {
              tags: 'buffering',
              entry: ['closeLeg', 'takeNext'],
              always: 'dialling',
            },
            suspending: {
              description: 'No audio comes: the leg says what is left, and is let go of.',
              entry: ['closeGate', 'finishLeg'],
              on: {
                'upstream.finished': { guard: 'isCurrentLeg', target: 'suspended', actions: 'endIncident' },
                'upstream.failed': lastLost,
                'session.configured': { actions: 'noteConfigured' },
                // Audio comes, and the leg owes nothing: nobody waits for its goodbye.
                'audio.waiting': { target: 'suspended', actions: 'endIncident' },
                'turn.settled': { guard: 'hasIncident', actions: 'endIncident' },
              },
            },
            suspended: {
              description: 'There is nothing to be heard, and no connection until there is.',
              tags: 'buffering',
              entry: ['closeLeg', 'rest', 'takeNext'],
              on: {
                'audio.waiting': 'dialling',
                'session.configured': { actions: ['noteConfigured', 'takeNext'] },
              },
            },
            finishing: {
              entry: ['closeGate', 'finishLeg'],
              on: {
                'upstream.finished': { guard: 'isCurrentLeg', target: '#session.settling', actions: 'noteFinished' },
                'upstream.failed': lastLost,
                'session.configured': { actions: 'noteConfigured' },
                'turn.settled': { guard: 'hasIncident', actions: 'endIncident' },
              },
            },
            deciding: {
              description: 'The failover chart says which model is next; it may take a pause before.',
              tags: 'buffering',
              entry: ['closeLeg', 'decide'],
              on: {
                'failover.chosen': { target: 'dialling', actions: 'takeChoice' },
                'session.configured': { target: 'replacing', actions: 'noteConfigured' },
              },
            },
          },
        },
        client: {
          initial: 'open',
          states: {
            open: {
              on: {
                'client.close': { target: 'ending', actions: { type: 'noteEnd', params: ends.closedByClient } },
                'client.gone': { target: 'ending', actions: { type: 'noteEnd', params: ends.closedByClient } },
                'session.idle': { target: 'ending', actions: { type: 'noteEnd', params: ends.idle } },
                'session.too_long': { target: 'ending', actions: { type: 'noteEnd', params: ends.longest } },
                'session.stop': {
                  target: 'ending',
                  actions: { type: 'noteEnd', params: ({ event }) => ({ reason: event.reason, error: event.error }) },
                },
              },
            },
            ending: {
              description: 'No more audio is taken; what was taken gets its finals.',
              entry: 'endAudio',
              on: {
                'session.stop': {
                  guard: 'isUnpaid',
                  actions: { type: 'noteEnd', params: ({ event }) => ({ reason: event.reason, error: event.error }) },
                },
                'session.too_long': {
                  target: '#session.settling',
                  actions: { type: 'noteEnd', params: ends.longestWhileEnding },
                },
              },
            },
          },
        },
        limits: {
          initial: 'within',
          // The longest duration holds in every state of this region, so it is counted from the start and never again.
          after: { longest: { actions: raise({ type: 'session.too_long' }) } },
          states: {
            within: { on: { 'node.drain': 'draining' } },
            draining: {
              entry: 'announceDrain',
              on: { 'turn.settled': 'drained' },
              after: { drain: 'drained' },
            },
            drained: {
              entry: raise({ type: 'session.stop', ...ends.drained }),
            },
          },
        },
      },
    },
    settling: {
      entry: ['closeLeg', 'announceEnd', 'endTurns'],
      invoke: {
        id: 'settle',
        src: 'settle',
        input: ({ context }) => ({ sessionId: context.sessionId }),
        onDone: 'closed',
        onError: 'closed',
      },
      after: { settleTime: 'closed' },
    },
    closed: { type: 'final' },
  },
  output: ({ context: { reason, error, attempts } }) => ({ reason: reason ?? 'error', error, attempts }),
  options: { maxIterations: 200 },
});
