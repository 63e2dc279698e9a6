// A client token at the door: may it open a session? Evaluated purely on the token's own claims; no actor runs for it, and
// a session that it opened never looks at it again.
import { assign, setup } from 'xstate';

export interface ClientTokenInput {
  /** Epoch milliseconds. */
  expiresAtMs: number;
  parentRevoked: boolean;
}

export type ClientTokenDecision = 'allowed' | 'token_expired' | 'key_revoked' | 'token_not_allowed';

export interface ClientTokenContext extends ClientTokenInput {
  decision: ClientTokenDecision | null;
}

export type ClientTokenEvent =
  /** A handshake presents the token. */
  | { type: 'token.present'; nowMs: number }
  /** Someone asks for a token with this token, or uses it on REST. */
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
    isParentRevoked: ({ context }) => context.parentRevoked,
    isAlive: ({ context, event }) => event.type === 'token.present' && event.nowMs < context.expiresAtMs,
  },
}).createMachine({
  id: 'client-token',
  description: 'A short-lived client token; it gates the handshake only.',
  // Pure transitions build a throw-away actor without input; a context that tolerates that is twice as fast.
  context: ({ input }) => ({
    expiresAtMs: input?.expiresAtMs ?? 0,
    parentRevoked: input?.parentRevoked ?? false,
    decision: null,
  }),
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
          { guard: 'isAlive', actions: { type: 'decide', params: { decision: 'allowed' } } },
          { target: 'expired', actions: { type: 'decide', params: { decision: 'token_expired' } } },
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
