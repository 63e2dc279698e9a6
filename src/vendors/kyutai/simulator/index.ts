// A moshi-server as its clients meet it: one path, ids in a header or the query, and MessagePack. Sessions are live.ts.
import { encode } from '@msgpack/msgpack';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import type { ProviderSimulator, SimulatedAnswer } from '../../simulation.ts';
import { PAUSING, Session } from './live.ts';

export const simulator: ProviderSimulator = {
  provider: 'kyutai',

  quirks: {
    settles: 'words of a turn are told while it goes on, so many seconds after they were spoken; 1 without a number',
    'no-free-channels': 'every place is taken: an error and a close behind the upgrade',
    speed: '<n>: the model steps no faster than n times real time; audio that comes faster waits',
  },

  upgrade(request, tools) {
    if (request.url.pathname !== '/api/asr-streaming') return { refuse: refusal(404) };
    const { searchParams } = request.url;
    const key = request.headers['kyutai-api-key'] ?? searchParams.get('auth_id') ?? undefined;
    // It knows ids or does not; the others are what a proxy in front of it says.
    const refused = keyRefusal(key, refusal, 402);
    if (refused !== undefined) return { refuse: refused };
    return { connect: (peer) => new Session(peer, tools) };
  },

  http: async () => refusal(404),

  refusal,

  failure: () => ({ messages: [{ type: 'Error', message: 'internal error' }], close: { code: 1011, reason: '' } }),

  // Words stay, whatever follows; what ends a turn is a marker, or a likely pause.
  isFinal: ({ type, prs }) => type === 'Marker' || prs === PAUSING,

  encode: (message) => encode(message),
};

function refusal(status: number): SimulatedAnswer {
  return { status, headers: { 'content-type': 'text/plain' }, body: `status ${status}` };
}
