// One node of the gateway, from its start to its end. The host (src/node/gateway.ts) opens and closes what the states name.
import { assign, setup } from 'xstate';
import { declaredAction, declaredPromise } from './declared.ts';

export interface NodeInput {
  /** How long live sessions may continue once the node drains. */
  drainMs: number;
}

export interface NodeContext extends NodeInput {
  error: string | null;
}

export type NodeEvent =
  /** SIGTERM, SIGINT, or the operator. */
  | { type: 'node.drain' }
  /** The node cannot continue: it drains, and its end tells why. */
  | { type: 'node.failed'; error: string }
  /** The last live session has ended. */
  | { type: 'sessions.gone' }
  /** A second signal: do not wait. */
  | { type: 'node.stop' };

export interface NodeOutput {
  error: string | null;
}

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const nodeMachine = setup({
  types: {
    context: {} as NodeContext,
    events: {} as NodeEvent,
    input: {} as NodeInput,
    output: {} as NodeOutput,
    tags: {} as 'ready',
  },
  actors: {
    /** Opens the store, the bus and the providers. */
    start: declaredPromise<void, void>('start'),
    /** Opens the server. */
    listen: declaredPromise<void, void>('listen'),
    /** Closes what is open, in the reverse order. */
    stop: declaredPromise<void, void>('stop'),
  },
  actions: {
    /** Readiness off, no new sessions, live ones are told. */
    beginDrain: declaredAction('beginDrain'),
    noteError: assign({ error: (_, params: { error: unknown }) => sentence(params.error) }),
    noteFailure: assign({
      error: ({ context, event }) => context.error ?? (event.type === 'node.failed' ? event.error : null),
    }),
  },
  guards: {
    hasFailed: ({ context }) => context.error !== null,
  },
  delays: {
    drain: ({ context }) => context.drainMs,
  },
}).createMachine({
  id: 'node',
  description: 'One node, from its start to its end.',
  context: ({ input }) => ({ ...input, error: null }),
  initial: 'starting',
  states: {
    starting: {
      invoke: {
        id: 'start',
        src: 'start',
        onDone: 'opening',
        onError: {
          target: 'stopping',
          actions: { type: 'noteError', params: ({ event }) => ({ error: event.error }) },
        },
      },
      // What is half open is not drained: that is done as soon as everything is.
      on: { 'node.stop': 'stopping', 'node.failed': { actions: 'noteFailure' } },
    },
    opening: {
      invoke: {
        id: 'listen',
        src: 'listen',
        onDone: 'serving',
        onError: {
          target: 'stopping',
          actions: { type: 'noteError', params: ({ event }) => ({ error: event.error }) },
        },
      },
      on: { 'node.stop': 'stopping', 'node.failed': { actions: 'noteFailure' } },
    },
    serving: {
      tags: 'ready',
      always: { guard: 'hasFailed', target: 'draining' },
      on: {
        'node.drain': 'draining',
        'node.failed': { target: 'draining', actions: 'noteFailure' },
        'node.stop': 'stopping',
      },
    },
    draining: {
      entry: 'beginDrain',
      on: {
        'sessions.gone': 'stopping',
        'node.failed': { actions: 'noteFailure' },
        'node.stop': 'stopping',
      },
      after: { drain: 'stopping' },
    },
    stopping: {
      invoke: {
        id: 'stop',
        src: 'stop',
        onDone: 'stopped',
        onError: { target: 'stopped', actions: { type: 'noteError', params: ({ event }) => ({ error: event.error }) } },
      },
    },
    stopped: { type: 'final' },
  },
  output: ({ context }) => ({ error: context.error }),
  options: { maxIterations: 200 },
});
