// A Vosk server as its clients meet it: one path, and no requests but for the upgrade. It asks for no key; a proxy in front of it
// looks at one that is shown. Sessions are live.ts.
import { authorizationOf, keyRefusal } from '../../kit/simulator/credentials.ts';
import type { ProviderSimulator, SimulatedAnswer } from '../../simulation.ts';
import { Session } from './live.ts';

export const simulator: ProviderSimulator = {
  provider: 'vosk',

  quirks: {
    'in-c++': 'the server in C++: the configuration is audio with an answer, the end waits for one more message',
    'no-words': 'results have no words, as those of a server that was not told to give them',
    alternatives: 'results are a list of alternatives',
    speed: '<n>: audio is taken up no faster than n times real time; what comes faster waits, without an answer',
  },

  upgrade(request, tools) {
    if (request.url.pathname !== '/') return { refuse: refusal(404) };
    const refused = keyRefusal(authorizationOf(request, 'bearer') ?? 'none', refusal, 402);
    if (refused !== undefined) return { refuse: refused };
    return { connect: (peer) => new Session(peer, tools) };
  },

  http: async () => refusal(404),

  refusal,

  failure: () => ({ messages: [], close: { code: 1011, reason: '' } }),

  isFinal: (message) => 'text' in message || 'alternatives' in message,
};

/** What the WebSocket library of the server says. */
function refusal(status: number): SimulatedAnswer {
  const body = `Failed to open a WebSocket connection: ${status}.\n`;
  return { status, headers: { 'content-type': 'text/plain' }, body };
}
