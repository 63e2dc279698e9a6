// A client token: may it open a session, or upload a file? Evaluated purely on the token's own claims and on what its parent key is
// worth now; no actor runs for it, and a session that it opened never looks at it again.
import { assign, setup } from 'xstate';
import type { ApiKeyDecision } from './api-key.ts';

export interface ClientTokenInput {
  /** Epoch milliseconds. */
  expiresAtMs: number;
}

export type ClientTokenDecision = ApiKeyDecision | 'token_expired' | 'scope_not_allowed' | 'token_not_allowed';

export interface ClientTokenContext extends ClientTokenInput {
  decision: ClientTokenDecision | null;
}

export type ClientTokenEvent =
  /** A handshake or an upload presents the token. `parent`: what its key would be told; `mayListen`: whether that key has the scope for it. */
  | { type: 'token.present'; nowMs: number; parent: ApiKeyDecision; mayListen: boolean }
  /** Someone asks for a token with this token, or uses it on REST for anything but an upload. */
  | { type: 'token.misuse' };

export const clientTokenMachine = setup({
  types: {
    context: {} as ClientTokenContext,
    events: {} as ClientTokenEvent,
    input: {} as ClientTokenInput,
  },
  actions: {
    decide: assign({ decision: (_, params: { decision: ClientTokenDecision }) => params.decision }),
  },
  guards: {
    isParentRevoked: ({ event }) => event.type === 'token.present' && event.parent === 'key_revoked',
    isOver: ({ context, event }) => event.type === 'token.present' && event.nowMs >= context.expiresAtMs,
    isParentExpired: ({ event }) => event.type === 'token.present' && event.parent === 'key_expired',
    isSuspended: ({ event }) => event.type === 'token.present' && event.parent === 'account_suspended',
    mayListen: ({ event }) => event.type === 'token.present' && event.mayListen,
  },
}).createMachine({
  id: 'client-token',
  description: 'A short-lived client token; it gates the handshake only.',
  // Pure transitions build a throw-away actor without input; a context that tolerates that is twice as fast.
  context: ({ input }) => ({ expiresAtMs: input?.expiresAtMs ?? 0, decision: null }),
  initial: 'valid',
  on: {
    'token.misuse': { actions: { type: 'decide', params: { decision: 'token_not_allowed' } } },
  },
  states: {
    valid: {
      on: {
        'token.present': [
          {
            guard: 'isParentRevoked',
            target: 'revoked',
            actions: { type: 'decide', params: { decision: 'key_revoked' } },
          },
          { guard: 'isOver', target: 'expired', actions: { type: 'decide', params: { decision: 'token_expired' } } },
          // What follows may be lifted again while the token lives.
          { guard: 'isParentExpired', actions: { type: 'decide', params: { decision: 'key_expired' } } },
          { guard: 'isSuspended', actions: { type: 'decide', params: { decision: 'account_suspended' } } },
          { guard: 'mayListen', actions: { type: 'decide', params: { decision: 'allowed' } } },
          { actions: { type: 'decide', params: { decision: 'scope_not_allowed' } } },
        ],
      },
    },
    expired: {
      on: { 'token.present': { actions: { type: 'decide', params: { decision: 'token_expired' } } } },
    },
    revoked: {
      on: { 'token.present': { actions: { type: 'decide', params: { decision: 'key_revoked' } } } },
    },
  },
  options: { maxIterations: 200 },
});
