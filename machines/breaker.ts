// The circuit breaker of one model under one credential: when calls are kept away from it, and how it is tried again.
// It guards nothing on its own: the code that chooses a model asks for its state, and reports the outcome of the call.
import { assign, setup } from 'xstate';
import type { FailureKind } from './events.ts';

export interface BreakerInput {
  /** Failures in a row that open it. A refused credential opens it at once. */
  failuresMax: number;
  /** How long it stays open the first time; doubles each time it opens again without a success between. */
  openMs: number;
  openMsMax: number;
  /** A probe that says nothing for so long is taken for lost. */
  probeMs: number;
}

export interface BreakerContext extends BreakerInput {
  failures: number;
  /** Times it has opened since the last success. */
  opened: number;
  /** How long it stays open this time. */
  waitMs: number;
}

export type BreakerEvent =
  | { type: 'call.begun' }
  | { type: 'call.succeeded' }
  /** `retryAfterMs`: how long the provider asked to be left alone, 0 where it did not. */
  | { type: 'call.failed'; kind: FailureKind; retryAfterMs: number }
  /** The call ended without telling anything of the provider. */
  | { type: 'call.released' }
  /** Another node has opened its breaker for this time, for its own reasons. */
  | { type: 'hint.opened'; openMs: number };

/** For how long this asks that the provider be left alone. */
function askedMsOf(event: BreakerEvent): number {
  if (event.type === 'hint.opened') return event.openMs;
  return event.type === 'call.failed' ? event.retryAfterMs : 0;
}

/** How long the breaker is open after this. What the provider or another node asks for counts, up to the longest time. */
function waitMsOf({ openMs, openMsMax, opened }: BreakerContext, event: BreakerEvent): number {
  const asked = askedMsOf(event);
  if (event.type === 'hint.opened') return Math.min(openMsMax, asked);
  return Math.min(openMsMax, Math.max(asked, openMs * 2 ** Math.min(opened, 16)));
}

export const breakerMachine = setup({
  types: {
    context: {} as BreakerContext,
    events: {} as BreakerEvent,
    input: {} as BreakerInput,
    tags: {} as 'closed' | 'open' | 'probe',
  },
  actions: {
    countFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    forget: assign({ failures: 0, opened: 0 }),
    noteOpening: assign({
      waitMs: ({ context, event }) => waitMsOf(context, event),
      opened: ({ context }) => context.opened + 1,
    }),
    /** Longer, never shorter: a later word of the provider counts from when it was said. */
    extend: assign({
      waitMs: ({ context, event }) => Math.min(context.openMsMax, Math.max(context.waitMs, askedMsOf(event))),
    }),
  },
  guards: {
    opens: ({ context, event }) =>
      event.type === 'call.failed' &&
      (event.kind === 'account' || event.retryAfterMs > context.openMs || context.failures + 1 >= context.failuresMax),
    asksForTime: ({ context, event }) => event.type === 'call.failed' && event.retryAfterMs > context.openMs,
    outlasts: ({ context, event }) => Math.min(context.openMsMax, askedMsOf(event)) > context.waitMs,
  },
  delays: {
    openTime: ({ context }) => context.waitMs,
    probeTime: ({ context }) => context.probeMs,
  },
}).createMachine({
  id: 'breaker',
  description: 'The circuit breaker of one model under one credential.',
  context: ({ input }) => ({ ...input, failures: 0, opened: 0, waitMs: input.openMs }),
  initial: 'closed',
  states: {
    closed: {
      tags: 'closed',
      on: {
        'call.failed': [{ guard: 'opens', target: 'open', actions: 'noteOpening' }, { actions: 'countFailure' }],
        'call.succeeded': { actions: 'forget' },
        'hint.opened': { target: 'open', actions: 'noteOpening' },
      },
    },
    open: {
      description: 'Calls go elsewhere, unless nothing else is left.',
      tags: 'open',
      on: {
        'call.failed': { guard: 'asksForTime', target: 'open', reenter: true, actions: 'extend' },
        'call.succeeded': { target: 'closed', actions: 'forget' },
        'hint.opened': { guard: 'outlasts', target: 'open', reenter: true, actions: 'extend' },
      },
      after: { openTime: 'halfOpen' },
    },
    halfOpen: {
      description: 'The next call is the probe.',
      tags: 'probe',
      on: {
        'call.begun': 'probing',
        'call.failed': { target: 'open', actions: 'noteOpening' },
        'call.succeeded': { target: 'closed', actions: 'forget' },
        'hint.opened': { target: 'open', actions: 'noteOpening' },
      },
    },
    probing: {
      description: 'One call is under way and will tell; others go elsewhere.',
      tags: 'open',
      on: {
        'call.succeeded': { target: 'closed', actions: 'forget' },
        'call.failed': { target: 'open', actions: 'noteOpening' },
        'call.released': 'halfOpen',
      },
      after: { probeTime: 'halfOpen' },
    },
  },
  options: { maxIterations: 200 },
});
