// One connection to a provider, from dialling to its end. It decides deadlines and outcome; the host (src/upstream/upstream-host.ts)
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
  drainMs: number;
}

export interface UpstreamContext extends UpstreamInput {
  failure: LegFailure | null;
}

export type UpstreamEvent =
  | { type: 'wire.opened' }
  /** The connection failed or ended out of order; the codec has said what that means. */
  | { type: 'wire.failed'; failure: LegFailure }
  | { type: 'provider.ready' }
  | { type: 'provider.failed'; failure: LegFailure }
  | { type: 'provider.finished' }
  /** Speech went in and nothing came out for the provider's stall limit. */
  | { type: 'provider.stalled' }
  | { type: 'leg.finish' }
  /** The session has no more use for this leg. */
  | { type: 'leg.close' };

export interface UpstreamOutput {
  /** Null when the leg finished, or was released by its session. */
  failure: LegFailure | null;
}

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
    tellFinished: declaredAction('tellFinished'),
    tellFailed: declaredAction('tellFailed'),
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
  },
}).createMachine({
  id: 'upstream',
  description: 'One connection to one provider.',
  context: ({ input }) => ({ ...input, failure: null }),
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
        'leg.finish': 'finishing',
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
      entry: 'sendFinish',
      on: {
        'provider.finished': 'finished',
        'provider.failed': { target: 'failed', actions: 'noteFailure' },
        'wire.failed': { target: 'failed', actions: 'noteFailure' },
      },
      after: {
        drainTime: {
          target: 'failed',
          actions: {
            type: 'noteDeadline',
            params: {
              reason: 'stalled',
              code: 'drain_timeout',
              message: 'The provider did not finish in time after the end of the audio.',
            },
          },
        },
      },
    },
    finished: { type: 'final', entry: 'tellFinished' },
    failed: { type: 'final', entry: 'tellFailed' },
    released: { type: 'final' },
  },
  output: ({ context }) => ({ failure: context.failure }),
  options: { maxIterations: 200 },
});
