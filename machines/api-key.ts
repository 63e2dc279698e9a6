// An API key: what can be done to it, and what a request with it may do. Evaluated purely on its row; no actor runs for it, and
// a session that it opened is ended by the word of its revocation, not by this chart.
import { assign, setup } from 'xstate';
import { declaredAction } from './declared.ts';

export interface ApiKeyInput {
  /** Epoch milliseconds; null for a key that does not expire. */
  expiresAtMs: number | null;
}

export type ApiKeyDecision = 'allowed' | 'key_expired' | 'key_revoked' | 'account_suspended';

export interface ApiKeyContext extends ApiKeyInput {
  /** Until when a rolled key still works, in epoch milliseconds. */
  graceUntilMs: number | null;
  decision: ApiKeyDecision | null;
}

export type ApiKeyEvent =
  /** A request or a handshake presents the key. `suspended`: its organisation is. */
  | { type: 'key.present'; nowMs: number; suspended: boolean }
  /** A new key takes its place; this one works until then. */
  | { type: 'key.roll'; nowMs: number; graceUntilMs: number }
  | { type: 'key.revoke' };

const isReached = (endMs: number | null, nowMs: number): boolean => endMs !== null && nowMs >= endMs;

export const apiKeyMachine = setup({
  types: {
    context: {} as ApiKeyContext,
    events: {} as ApiKeyEvent,
    input: {} as ApiKeyInput,
  },
  actions: {
    decide: assign({ decision: (_, params: { decision: ApiKeyDecision }) => params.decision }),
    noteGrace: assign({
      graceUntilMs: ({ context, event }) => (event.type === 'key.roll' ? event.graceUntilMs : context.graceUntilMs),
    }),
    /** Every node is to hear of it: the key's tokens and sessions end with it. */
    publishRevocation: declaredAction('publishRevocation'),
  },
  guards: {
    isOver: ({ context, event }) =>
      event.type !== 'key.revoke' &&
      (isReached(context.expiresAtMs, event.nowMs) || isReached(context.graceUntilMs, event.nowMs)),
    isSuspended: ({ event }) => event.type === 'key.present' && event.suspended,
    hasNoGrace: ({ event }) => event.type === 'key.roll' && event.graceUntilMs <= event.nowMs,
  },
}).createMachine({
  id: 'api-key',
  description: 'An API key, from its making to its end.',
  // Pure transitions build a throw-away actor without input.
  context: ({ input }) => ({ expiresAtMs: input?.expiresAtMs ?? null, graceUntilMs: null, decision: null }),
  initial: 'active',
  states: {
    active: {
      on: {
        'key.present': [
          { guard: 'isOver', actions: { type: 'decide', params: { decision: 'key_expired' } } },
          { guard: 'isSuspended', actions: { type: 'decide', params: { decision: 'account_suspended' } } },
          { actions: { type: 'decide', params: { decision: 'allowed' } } },
        ],
        'key.roll': [
          { guard: 'isOver', actions: { type: 'decide', params: { decision: 'key_expired' } } },
          { guard: 'hasNoGrace', target: 'revoked', actions: ['noteGrace', 'publishRevocation'] },
          { target: 'rotated', actions: 'noteGrace' },
        ],
        'key.revoke': { target: 'revoked', actions: 'publishRevocation' },
      },
    },
    rotated: {
      description: 'Another key took its place; it works until its grace is over.',
      on: {
        'key.present': [
          { guard: 'isOver', actions: { type: 'decide', params: { decision: 'key_expired' } } },
          { guard: 'isSuspended', actions: { type: 'decide', params: { decision: 'account_suspended' } } },
          { actions: { type: 'decide', params: { decision: 'allowed' } } },
        ],
        'key.revoke': { target: 'revoked', actions: 'publishRevocation' },
      },
    },
    revoked: {
      on: { 'key.present': { actions: { type: 'decide', params: { decision: 'key_revoked' } } } },
    },
  },
  options: { maxIterations: 200 },
});
