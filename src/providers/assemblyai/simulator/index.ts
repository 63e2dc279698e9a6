// AssemblyAI as its clients meet it: routes, keys, and how it fails in its own words. Sessions are live.ts, files
// files.ts.
import type { ProviderSimulator, SimulatedAnswer } from '../../simulation.ts';
import { accountOf, KEY_FAULTS, keyFault, tokenAnswer } from './account.ts';
import { fileAnswer } from './files.ts';
import { openSession } from './live.ts';

const CANCELLED = 'Session Cancelled: An error occurred';

/** The key faults that have a status of their own, by it. */
const REFUSALS: Readonly<Record<number, SimulatedAnswer>> = {
  400: { status: 400, body: { error: 'Invalid request' } },
  401: KEY_FAULTS.bad.answer,
  402: { status: 402, body: { error: 'Insufficient funds' } },
  403: { status: 403, body: { error: 'Cannot access uploaded file' } },
  429: KEY_FAULTS.limited.answer,
};

export const simulator: ProviderSimulator = {
  provider: 'assemblyai',

  quirks: {
    'begin-late': '<ms>: `Begin` comes so many milliseconds after the connection',
    regime:
      '<a|b|c|d>: turns end unformatted and again formatted, once and formatted throughout, once and unformatted, or once and formatted',
    'twin-late': '<ms>: the formatted version of a turn comes so many milliseconds after its end',
    'twin-never': 'the formatted version of a turn never comes',
    'swallow-force-endpoint': '`ForceEndpoint` ends no turn',
    'no-termination': '`Terminate` is answered with the turns in flight, and then with nothing',
    'concurrent-1008': 'sessions are refused as too many, with close code 1008',
    'concurrent-3009': 'sessions are refused as too many, with close code 3009',
  },

  upgrade(request, tools) {
    if (request.url.pathname !== '/v3/ws') return { refuse: refusal(404) };
    return { connect: (peer) => openSession(peer, request, tools) };
  },

  async http(request, tools) {
    const { pathname } = request.url;
    const account = accountOf(tools.clock);
    // Not AssemblyAI's: whether sessions were terminated, as their charge depends on it.
    if (pathname === '/simulator/sessions') return { status: 200, body: account.sessions };
    const fault = keyFault(request.headers.authorization);
    if (fault !== undefined) return KEY_FAULTS[fault].answer;
    if (pathname === '/v3/token' && request.method === 'GET') return tokenAnswer(account, request.url);
    return fileAnswer(request, tools);
  },

  refusal,

  failure: () => ({
    messages: [{ type: 'Error', error_code: 3005, error: CANCELLED }],
    close: { code: 3005, reason: CANCELLED },
  }),

  isFinal: (message) => message.type === 'Turn' && message.end_of_turn === true,
};

function refusal(status: number): SimulatedAnswer {
  return (
    REFUSALS[status] ?? { status, body: { error: status >= 500 ? 'Server error, please try again' : 'Not found' } }
  );
}
