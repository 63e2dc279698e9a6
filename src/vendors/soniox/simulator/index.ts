// Soniox as its clients meet it: who is let in, where requests go, and how it refuses. Sessions are live.ts, files files.ts.

import { authorizationOf, subprotocolsOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest } from '../../kit/simulation.ts';
import { type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { answerFiles, errorOf, KEY_FAULTS, refusal } from './files.ts';
import { SonioxSession } from './live.ts';

export const simulator: ProviderSimulator = {
  provider: 'soniox',
  quirks: {
    settles:
      'tokens of a turn become final while it goes on, so many seconds after they were spoken; 1 without a number',
    'cannot-continue':
      'after so many seconds of audio it asks for the session to be opened anew; 1 when no number is given',
    'one-message': 'the last tokens of a turn, its mark and the first tokens of the next come in one message',
  },
  refusal: (status) => refusal(status),
  failure: () => ({ messages: [errorOf(500)], close: { code: 1011, reason: '' } }),
  isFinal: ({ tokens }) => Array.isArray(tokens) && tokens.some(({ is_final }) => is_final === true),
  // Each message says how far all audio is final.
  keepsOrder: true,

  upgrade(request, tools) {
    if (request.url.pathname !== '/transcribe-websocket') return { refuse: refusal(404) };
    const [name, temporary] = subprotocolsOf(request.headers['sec-websocket-protocol']);
    const key = authorizationOf(request.headers.authorization) ?? (name === 'soniox-api-key' ? temporary : undefined);
    const fault = keyFault(key);
    // Without one it has to come in the first message, as it did before headers were taken.
    if (fault !== undefined && fault !== 'missing') return { refuse: keyRefusal(fault) };
    return {
      ...(temporary === undefined ? {} : { subprotocol: 'soniox-api-key' }),
      connect: (peer) => new SonioxSession(peer, tools, key),
    };
  },

  async http(request, tools) {
    const fault = keyFault(keyOf(request));
    if (fault !== undefined) return keyRefusal(fault);
    return (await answerFiles(request, tools)) ?? refusal(404);
  },
};

const keyOf = (request: SimulatedRequest): string | undefined => authorizationOf(request.headers.authorization);

const keyRefusal = (fault: KeyFault): SimulatedAnswer => refusal(...KEY_FAULTS[fault]);
