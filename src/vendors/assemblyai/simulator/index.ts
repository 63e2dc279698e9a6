// AssemblyAI as its clients meet it: routes, keys, and how it fails in its own words. Sessions are live.ts, files files.ts.

import type { ProviderSimulator, SimulatedAnswer } from '../../kit/simulation.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { Account, answer, create, refusedKey, remove, shown, tokenAnswer, upload } from './account.ts';
import { openSession } from './live.ts';

const CANCELLED = 'Session Cancelled: An error occurred';

const WORDS: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  402: 'Insufficient funds',
  403: 'Cannot access uploaded file',
};

export const simulator: ProviderSimulator = {
  provider: 'assemblyai',

  quirks: {
    'begin-late': '<ms>: `Begin` comes so many milliseconds after the connection',
    regime:
      '<a|b|c|d>: turns end unformatted and again formatted, once and formatted throughout, once and unformatted, or once and formatted',
    'formatted-late': '<ms>: the formatted version of a turn comes so many milliseconds after its end',
    'formatted-never': 'the formatted version of a turn never comes',
    'incorrect-padding':
      '<n>: the first sessions are refused with a good key, as badly padded; 1 when no number is given',
    'other-model': '<name>: `Begin` says that this model was applied',
    'pending-speakers': 'the speaker of the last word of a turn is told behind its end, by `SpeakerRevision`',
    'ahead-max': '<ms>: so many milliseconds of audio may wait to be heard, in place of five minutes',
    'swallow-force-endpoint': '`ForceEndpoint` ends no turn',
    'no-termination': '`Terminate` is answered with the turns in flight, and then with nothing',
    'concurrent-1008': 'sessions are refused as too many, with close code 1008',
    'concurrent-3009': 'sessions are refused as too many, with close code 3009',
  },

  upgrade(request, tools) {
    if (request.url.pathname !== '/v3/ws') return { refuse: refusal(404) };
    const account = tools.shared(() => new Account());
    return { connect: (peer) => openSession(peer, request, tools, account) };
  },

  async http(request, tools) {
    const { pathname, searchParams } = request.url;
    const account = tools.shared(() => new Account());
    // Not AssemblyAI's: whether sessions were terminated, as their charge depends on it.
    if (pathname === '/simulator/sessions') return ok(account.sessions);
    const refused = refusedKey(request.headers.authorization);
    if (refused !== undefined) return refused.answer;
    const id = tools.newId();
    const jobs = { limit: Number(searchParams.get('limit') ?? 10), result_count: 0 };
    const answered = await routed(request, {
      'GET /v3/token': () => tokenAnswer(account, request.url, id),
      'POST /v2/upload': () => upload(request, account, id),
      'POST /v2/transcript': () => create(request, tools, account),
      'GET /v2/transcript': () => ok({ page_details: jobs, transcripts: [] }),
      'GET /v2/transcript/*': (job) => shown(account.jobs.get(job)),
      'DELETE /v2/transcript/*': (job) => remove(account, job),
    });
    return answered ?? refusal(404);
  },

  refusal,

  failure: () => ({
    messages: [{ type: 'Error', error_code: 3005, error: CANCELLED }],
    close: { code: 3005, reason: CANCELLED },
  }),

  isFinal: (message) => message.type === 'Turn' && message.end_of_turn === true,
};

/** Credentials are refused as a key of that kind is. */
function refusal(status: number): SimulatedAnswer {
  const key = { 401: 'bad', 429: 'limited' }[status];
  const words = WORDS[status] ?? (status >= 500 ? 'Server error, please try again' : 'Not found');
  return refusedKey(key ?? 'good')?.answer ?? answer(status, words);
}
