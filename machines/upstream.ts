// One connection to a provider, from dialling to its end. It decides deadlines and outcome; the host (src/live/upstream/upstream-host.ts)
// holds the wire and the codec and tells this chart what came of them.
import { assign, setup } from 'xstate';
import { declaredAction } from './declared.ts';
import type { LegFailure } from './events.ts';

export interface UpstreamInput {
  /** Actor id of this leg on its node. */
  legId: string;
  model: string;
  connectMs: number;
  readyMs: number;
  /** How long the provider may take to finish before it is overdue, and to answer where it is asked for a sign of life. */
  drainMs: number;
}

export interface UpstreamContext extends UpstreamInput {
  /** How long a leg that is alive is given to finish. */
  waitMs: number;
  /** The connection has given the sign of life that was requested of it when it was to finish. */
  isAlive: boolean;
  failure: LegFailure | null;
}

export type UpstreamEvent =
  | { type: 'wire.opened' }
  /** The sign of life that was requested: any message, or the answer to a ping. */
  | { type: 'wire.alive' }
  /** The connection failed or ended out of order; the codec has said what that means. */
  | { type: 'wire.failed'; failure: LegFailure }
  | { type: 'provider.ready' }
  | { type: 'provider.failed'; failure: LegFailure }
  | { type: 'provider.finished' }
  /** Speech went in and nothing came out for the provider's stall limit; or it is overdue, and its session waits no longer. */
  | { type: 'provider.stalled' }
  /** `waitMs`: how long the session waits for what is left, as long as the connection is alive; absent: for the drain time. */
  | { type: 'leg.finish'; waitMs?: number }
  /** The session has no more use for this leg. */
  | { type: 'leg.close' };

export interface UpstreamOutput {
  /** Null when the leg finished, or was released by its session. */
  failure: LegFailure | null;
}

/** What a leg has failed with that was asked to finish and did not. */
export const unfinished: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'drain_timeout',
  message: 'The provider did not finish in time after the end of the audio.',
};

export const upstreamMachine = setup({
  types: {
    context: {} as UpstreamContext,
    events: {} as UpstreamEvent,
    input: {} as UpstreamInput,
    output: {} as UpstreamOutput,
    tags: {} as 'accepts-audio',
  },
  actions: {
    dial: declaredAction('dial'),
    sendHello: declaredAction('sendHello'),
    tellReady: declaredAction('tellReady'),
    sendFinish: declaredAction('sendFinish'),
    /** `wire.alive` follows from a connection that is. */
    askForSign: declaredAction('askForSign'),
    /** The session may know of something better than to wait on. */
    tellOverdue: declaredAction('tellOverdue'),
    tellFinished: declaredAction('tellFinished'),
    tellFailed: declaredAction('tellFailed'),
    noteWait: assign({
      waitMs: ({ context, event }) => Math.max(context.drainMs, (event.type === 'leg.finish' && event.waitMs) || 0),
    }),
    noteSign: assign({ isAlive: true }),
    noteFailure: assign({
      failure: ({ context, event }) => ('failure' in event ? event.failure : context.failure),
    }),
    noteDeadline: assign({
      failure: (_, params: Pick<LegFailure, 'reason' | 'code' | 'message'>): LegFailure => ({
        kind: 'next',
        ...params,
      }),
    }),
  },
  delays: {
    connectTime: ({ context }) => context.connectMs,
    readyTime: ({ context }) => context.readyMs,
    drainTime: ({ context }) => context.drainMs,
    timeLeft: ({ context }) => context.waitMs - context.drainMs,
  },
  guards: {
    mayBeSlow: ({ context }) => context.isAlive && context.waitMs > context.drainMs,
  },
}).createMachine({
  id: 'upstream',
  description: 'One connection to one provider.',
  context: ({ input }) => ({ ...input, waitMs: input.drainMs, isAlive: false, failure: null }),
  initial: 'dialling',
  on: {
    'leg.close': '.released',
  },
  states: {
    dialling: {
      entry: 'dial',
      on: {
        'wire.opened': 'handshaking',
        'wire.failed': { target: 'failed', actions: 'noteFailure' },
      },
      after: {
        connectTime: {
          target: 'failed',
          actions: {
            type: 'noteDeadline',
            params: {
              reason: 'connect_timeout',
              code: 'connect_timeout',
              message: 'The provider did not accept the connection in time.',
            },
          },
        },
      },
    },
    handshaking: {
      entry: 'sendHello',
      on: {
        'provider.ready': 'streaming',
        'provider.failed': { target: 'failed', actions: 'noteFailure' },
        'wire.failed': { target: 'failed', actions: 'noteFailure' },
      },
      after: {
        readyTime: {
          target: 'failed',
          actions: {
            type: 'noteDeadline',
            params: {
              reason: 'connect_timeout',
              code: 'ready_timeout',
              message: 'The provider accepted the connection and then did not get ready in time.',
            },
          },
        },
      },
    },
    streaming: {
      tags: 'accepts-audio',
      entry: 'tellReady',
      on: {
        'leg.finish': { target: 'finishing', actions: 'noteWait' },
        'provider.failed': { target: 'failed', actions: 'noteFailure' },
        'provider.stalled': {
          target: 'failed',
          actions: {
            type: 'noteDeadline',
            params: {
              reason: 'stalled',
              code: 'stalled',
              message: 'The provider heard speech and said nothing for its stall limit.',
            },
          },
        },
        'wire.failed': { target: 'failed', actions: 'noteFailure' },
      },
    },
    finishing: {
      entry: ['sendFinish', 'askForSign'],
      on: {
        'wire.alive': { actions: 'noteSign' },
        'provider.finished': 'finished',
        'provider.failed': { target: 'failed', actions: 'noteFailure' },
        'wire.failed': { target: 'failed', actions: 'noteFailure' },
      },
      after: {
        drainTime: [
          { guard: 'mayBeSlow', target: 'overdue' },
          { target: 'failed', actions: { type: 'noteDeadline', params: unfinished } },
        ],
      },
    },
    overdue: {
      description: 'Slow, and alive. The wire tells when it no longer is.',
      entry: 'tellOverdue',
      on: {
        'provider.finished': 'finished',
        'provider.stalled': { target: 'failed', actions: { type: 'noteDeadline', params: unfinished } },
        'provider.failed': { target: 'failed', actions: 'noteFailure' },
        'wire.failed': { target: 'failed', actions: 'noteFailure' },
      },
      after: {
        timeLeft: { target: 'failed', actions: { type: 'noteDeadline', params: unfinished } },
      },
    },
    finished: { type: 'final', entry: 'tellFinished' },
    failed: { type: 'final', entry: 'tellFailed' },
    released: { type: 'final' },
  },
  output: ({ context }) => ({ failure: context.failure }),
  options: { maxIterations: 200 },
});
