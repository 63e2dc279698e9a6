// A Riva server as its clients meet it: one call, and no requests. It asks for no key; what is in front of it looks at one that is
// shown. Calls are live.ts.
import { authorizationOf, keyRefusal } from '../../kit/simulator/credentials.ts';
import { callRefusals } from '../../kit/simulator/grpc-call.ts';
import type { ProviderSimulator } from '../../simulation.ts';
import { PATH, streamingRecognize } from '../proto.ts';
import { StreamingCall } from './live.ts';

const refusal = callRefusals({
  400: 'Error: Invalid request.',
  401: 'Authentication failed.',
  403: 'The account has no credits left.',
  404: 'Method not found.',
  429: 'Too many concurrent requests.',
  500: 'Triton failed.',
  503: 'Server is not ready.',
});

export const simulator: ProviderSimulator = {
  provider: 'nvidia',
  quirks: {
    'no-words': 'results have no words',
    'no-model': 'the server has no model for streams',
  },
  grpc: { [PATH]: streamingRecognize },

  upgrade(request, tools) {
    if (request.url.pathname !== PATH) return { refuse: refusal(404) };
    const refused = keyRefusal(authorizationOf(request, 'bearer') ?? 'none', refusal);
    if (refused !== undefined) return { refuse: refused };
    return { connect: (peer) => new StreamingCall(peer, tools) };
  },

  http: async () => refusal(404),
  refusal,
  failure: () => ({ messages: [], close: { code: 4013, reason: 'INTERNAL: Triton failed.' } }),
  isFinal: ({ results }) => Array.isArray(results) && results.some(({ isFinal }) => isFinal === true),
};
