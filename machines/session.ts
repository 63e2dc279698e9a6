// One live session: which leg carries it, how it ends, and which limits end it. Audio and text pass it by; the host
// (src/session) holds the sockets, the audio pipeline and the texts, and tells this chart of boundaries only.
import { assign, raise, setup } from 'xstate';
import { declaredAction, declaredPromise } from './declared.ts';
import type { SessionEndReason } from './events.ts';
import type { SessionContext, SessionError, SessionEvent, SessionInput, SessionOutput } from './session-types.ts';
import { turnMachine } from './turn.ts';

/** Longest pause between two attempts. */
const BACK_OFF_MS_MAX = 2_000;

const isCurrent = (context: SessionContext, event: { generation: number }) => event.generation === context.generation;

/** The first member of the chain from `from` on that may be tried, or -1. */
const candidateFrom = ({ chain, barred }: SessionContext, from: number): number =>
  chain.findIndex((_, index) => index >= from && !barred.includes(index));

/** A request that is wrong must not be sent again as it is; anything else is worth another try later. */
function lossCode({ failure, attempts }: SessionContext): string {
  if (failure?.kind === 'caller') return 'invalid_provider_params';
  return attempts.length > 1 ? 'upstream_exhausted' : 'upstream_failed';
}

export const sessionMachine = setup({
  types: {
    context: {} as SessionContext,
    events: {} as SessionEvent,
    input: {} as SessionInput,
    output: {} as SessionOutput,
    tags: {} as 'accepts-audio' | 'buffering',
  },
  actors: {
    turn: turnMachine,
    /** Resolves when the last events are on their way and the usage is recorded. */
    settle: declaredPromise<void, { sessionId: string }>('settle'),
  },
  actions: {
    openLeg: declaredAction('openLeg'),
    closeLeg: declaredAction('closeLeg'),
    openGate: declaredAction('openGate'),
    closeGate: declaredAction('closeGate'),
    finishLeg: declaredAction('finishLeg'),
    endAudio: declaredAction('endAudio'),
    announceDrain: declaredAction('announceDrain'),
    announceEnd: declaredAction('announceEnd'),
    nextGeneration: assign({ generation: ({ context }) => context.generation + 1 }),
    noteFailure: assign({
      failure: ({ event }) => (event.type === 'upstream.failed' ? event.failure : null),
      attempts: ({ context, event }) =>
        event.type === 'upstream.failed'
          ? [...context.attempts, { model: context.chain[context.index] ?? '', reason: event.failure.reason }]
          : context.attempts,
      barred: ({ context, event }) =>
        event.type === 'upstream.failed' && event.failure.kind === 'account'
          ? [...context.barred, context.index]
          : context.barred,
    }),
    takeRetry: assign({ retriesLeft: ({ context }) => context.retriesLeft - 1 }),
    nextModel: assign({
      index: ({ context }) => candidateFrom(context, context.index + 1),
      retriesLeft: ({ context }) => context.limits.retries,
    }),
    beginRound: assign({
      index: ({ context }) => candidateFrom(context, 0),
      retriesLeft: ({ context }) => context.limits.retries,
      roundsLeft: ({ context }) => context.roundsLeft - 1,
    }),
    endIncident: assign({
      attempts: [],
      failure: null,
      retriesLeft: ({ context }) => context.limits.retries,
      roundsLeft: ({ context }) => context.limits.rounds,
    }),
    noteEnd: assign({
      reason: (_, params: { reason: SessionEndReason; error: SessionError | null }) => params.reason,
      error: (_, params: { reason: SessionEndReason; error: SessionError | null }) => params.error,
    }),
    /** Audio ends because the client ended it, unless something else was noted before. */
    noteFinished: assign({ reason: ({ context }) => context.reason ?? 'client_closed' }),
    noteLost: assign({
      reason: 'upstream',
      error: ({ context }) => ({
        code: lossCode(context),
        message: context.failure?.message ?? 'The provider failed.',
      }),
    }),
  },
  guards: {
    isCurrentLeg: ({ context, event }) => 'generation' in event && isCurrent(context, event),
    isCallersFault: ({ context }) => context.failure?.kind === 'caller',
    mayRetry: ({ context }) => context.failure?.kind === 'retry' && context.retriesLeft > 0,
    hasNext: ({ context }) => candidateFrom(context, context.index + 1) >= 0,
    mayBeginAgain: ({ context }) => context.roundsLeft > 0 && candidateFrom(context, 0) >= 0,
  },
  delays: {
    longest: ({ context }) => context.limits.longestMs,
    drain: ({ context }) => context.limits.drainMs,
    settleTime: ({ context }) => context.limits.settleMs,
    backOff: ({ context }) =>
      Math.min(BACK_OFF_MS_MAX, context.limits.backOffMs * 2 ** Math.max(0, context.attempts.length - 1)),
  },
}).createMachine({
  id: 'session',
  description: 'One live session, from its first leg to its settlement.',
  context: ({ input }) => ({
    ...input,
    index: 0,
    generation: 0,
    retriesLeft: input.limits.retries,
    roundsLeft: input.limits.rounds,
    attempts: [],
    failure: null,
    barred: [],
    reason: null,
    error: null,
  }),
  initial: 'live',
  states: {
    live: {
      type: 'parallel',
      invoke: {
        id: 'turn',
        src: 'turn',
        input: ({ context }) => ({ sessionId: context.sessionId, twinMs: context.limits.twinMs }),
        onError: {
          target: 'settling',
          actions: {
            type: 'noteEnd',
            params: { reason: 'error', error: { code: 'internal_error', message: 'The turn chart failed.' } },
          },
        },
      },
      on: {
        'session.abort': {
          target: 'settling',
          actions: { type: 'noteEnd', params: ({ event }) => ({ reason: event.reason, error: event.error }) },
        },
      },
      states: {
        link: {
          initial: 'dialling',
          states: {
            dialling: {
              tags: 'buffering',
              entry: ['nextGeneration', 'openLeg'],
              on: {
                'upstream.ready': { guard: 'isCurrentLeg', target: 'streaming' },
                'upstream.failed': { guard: 'isCurrentLeg', target: 'deciding', actions: 'noteFailure' },
              },
            },
            streaming: {
              tags: 'accepts-audio',
              entry: 'openGate',
              exit: 'closeGate',
              on: {
                'audio.drained': 'finishing',
                'upstream.failed': { guard: 'isCurrentLeg', target: 'deciding', actions: 'noteFailure' },
                'turn.settled': { actions: 'endIncident' },
              },
            },
            finishing: {
              entry: 'finishLeg',
              on: {
                'upstream.finished': { guard: 'isCurrentLeg', target: '#session.settling', actions: 'noteFinished' },
                'upstream.failed': { guard: 'isCurrentLeg', target: 'deciding', actions: 'noteFailure' },
                'turn.settled': { actions: 'endIncident' },
              },
            },
            deciding: {
              tags: 'buffering',
              entry: 'closeLeg',
              always: [
                { guard: 'isCallersFault', target: '#session.settling', actions: 'noteLost' },
                { guard: 'mayRetry', target: 'backingOff', actions: 'takeRetry' },
                { guard: 'hasNext', target: 'dialling', actions: 'nextModel' },
                { guard: 'mayBeginAgain', target: 'backingOff', actions: 'beginRound' },
                { target: '#session.settling', actions: 'noteLost' },
              ],
            },
            backingOff: {
              tags: 'buffering',
              after: { backOff: 'dialling' },
            },
          },
        },
        client: {
          initial: 'open',
          states: {
            open: {
              on: {
                'client.close': {
                  target: 'ending',
                  actions: { type: 'noteEnd', params: { reason: 'client_closed', error: null } },
                },
                'client.gone': {
                  target: 'ending',
                  actions: { type: 'noteEnd', params: { reason: 'client_closed', error: null } },
                },
                'session.idle': {
                  target: 'ending',
                  actions: {
                    type: 'noteEnd',
                    params: {
                      reason: 'idle',
                      error: {
                        code: 'session_idle',
                        message:
                          'No audio and no keepalive came for the idle limit. Send {"type":"keepalive"} while there is no audio.',
                      },
                    },
                  },
                },
                'session.too_long': {
                  target: 'ending',
                  actions: {
                    type: 'noteEnd',
                    params: {
                      reason: 'too_long',
                      error: {
                        code: 'session_too_long',
                        message: 'The session reached its longest duration. Open a new one to go on.',
                      },
                    },
                  },
                },
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
                'session.too_long': {
                  target: '#session.settling',
                  actions: {
                    type: 'noteEnd',
                    params: {
                      reason: 'too_long',
                      error: {
                        code: 'session_too_long',
                        message: 'The session reached its longest duration before all its audio was transcribed.',
                      },
                    },
                  },
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
              entry: raise({
                type: 'session.stop',
                reason: 'draining',
                error: {
                  code: 'node_draining',
                  message: 'This node is being shut down. Connect again; another node answers.',
                },
              }),
            },
          },
        },
      },
    },
    settling: {
      entry: ['closeLeg', 'announceEnd'],
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
  output: ({ context }) => ({
    reason: context.reason ?? 'error',
    error: context.error,
    attempts: context.attempts,
  }),
  options: { maxIterations: 200 },
});
