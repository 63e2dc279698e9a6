// Gladia as its clients meet it: routes, keys, and how it refuses. Sessions are live.ts, files files.ts.

import type { ProviderSimulator, SimulatedAnswer } from '../../kit/simulation.ts';
import { keyRefusal } from '../../kit/simulator/credentials.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { refusalBody } from '../messages.ts';
import { Account, create, REQUEST_ID, shown, upload } from './account.ts';
import { begin, Session } from './live.ts';

const WORDS: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'gladia key is incorrect or expired',
  402: 'Payment required',
  403: 'Your plan does not allow this',
  404: 'Not found',
  413: 'Payload too large',
  422: 'Invalid parameter(s).',
  429: 'Maximum number of concurrent sessions reached',
};

export const simulator: ProviderSimulator = {
  provider: 'gladia',

  quirks: {
    'no-acknowledgments': 'audio is heard and never acknowledged',
    'refuses-audio': '<n>: the n-th chunk of audio is not taken; the first when no number is given',
    'close-for-good': '<code>: the session is closed with this code behind its first second; 4408 when none is given',
    'error-code': '<code>: an `error` with this code comes behind the first second of audio',
    'socket-elsewhere': 'the answer names a WebSocket on another host',
    'no-end-session': 'closes with 1000 without `end_session`',
  },

  upgrade({ url }, tools) {
    if (url.pathname !== '/v2/live') return { refuse: refusal(404) };
    const asked = tools.shared(() => new Account()).sessions.get(url.searchParams.get('token') ?? '');
    if (asked === undefined) return { refuse: refusal(401) };
    return { connect: (peer) => new Session(peer, tools, asked) };
  },

  async http(request, tools) {
    if (!request.url.pathname.startsWith('/v2/')) return refusal(404);
    const account = tools.shared(() => new Account());
    const refused = keyRefusal(request.headers['x-gladia-key'], refusal);
    if (refused !== undefined) return refused;
    const answered = await routed(request, {
      'POST /v2/live': () => begin(request, tools, account),
      'POST /v2/upload': () => upload(request, tools, account),
      'POST /v2/pre-recorded': () => create(request, tools, account),
      'GET /v2/pre-recorded': () => ok({ first: null, items: [] }),
      'GET /v2/pre-recorded/*': (id) => shown(account.jobs.get(id)),
      'DELETE /v2/pre-recorded/*': (id) => shown(account.jobs.take(id), 202),
    });
    return answered ?? refusal(404);
  },

  refusal,

  failure: () => ({
    messages: [{ type: 'error', data: { code: 'internal_error', message: 'Internal error' } }],
    close: { code: 1011, reason: 'Internal error' },
  }),

  isFinal: ({ type, data }) => type === 'transcript' && (data as { is_final?: unknown }).is_final === true,
};

function refusal(status: number): SimulatedAnswer {
  const message = WORDS[status] ?? (status >= 500 ? 'Internal server error' : 'Not found');
  return { status, body: refusalBody(status, message, REQUEST_ID) };
}
