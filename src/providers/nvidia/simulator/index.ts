// A Riva server as its clients meet it: one call, and no requests. It asks for no key; what is in front of it looks at one that is
// shown. Calls are live.ts.
import { authorizationOf, keyRefusal } from '../../kit/simulator/credentials.ts';
import type { ProviderSimulator, SimulatedAnswer } from '../../simulation.ts';
import { PATH, streamingRecognize } from '../proto.ts';
import { StreamingCall } from './live.ts';

const WORDS: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Error: Invalid request.'],
  401: ['UNAUTHENTICATED', 'Authentication failed.'],
  403: ['PERMISSION_DENIED', 'The account has no credits left.'],
  404: ['UNIMPLEMENTED', 'Method not found.'],
  429: ['RESOURCE_EXHAUSTED', 'Too many concurrent requests.'],
  503: ['UNAVAILABLE', 'Server is not ready.'],
};

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

function refusal(code: number): SimulatedAnswer {
  const [status, message] = WORDS[code] ?? (code < 500 ? WORDS[400] : ['INTERNAL', 'Triton failed.']) ?? [];
  return { status: code, body: { error: { code, message, status } } };
}
