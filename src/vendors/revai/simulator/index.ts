// Rev AI as its clients meet it: routes, tokens, and how it refuses. Sessions are live.ts, jobs jobs.ts.

import type { ProviderSimulator } from '../../kit/simulation.ts';
import { authorizationOf, type KeyFault, keyFault, keyRefusal } from '../../kit/simulator/credentials.ts';
import { fileJobsOf, ok, routed } from '../../kit/simulator/routes.ts';
import { closedAtOnce } from '../../kit/simulator/session.ts';
import { createJob, refusal, shown, transcriptOf } from './jobs.ts';
import { optionsOf, Session } from './live.ts';

/** Live, what is wrong with a token is told by a close behind the upgrade. */
const KEY_CLOSES: Readonly<Record<KeyFault, readonly [code: number, reason: string]>> = {
  missing: [4001, 'Unauthorized'],
  bad: [4001, 'Unauthorized'],
  broke: [4003, 'Insufficient credits'],
  limited: [4029, 'Too many requests'],
};

export const simulator: ProviderSimulator = {
  provider: 'revai',

  quirks: {
    'late-connected': '<ms>: `connected` comes so many milliseconds after the upgrade',
    'no-worker': 'the session is closed with 4013: no worker was free in time',
    'shutting-down': '<seconds>: the session is closed with 4010 behind so much audio; 1 when no number is given',
    'out-of-credit': '<seconds>: the session is closed with 4003 behind so much audio; 1 when no number is given',
  },

  upgrade(request, tools) {
    const { pathname, searchParams } = request.url;
    if (pathname !== '/speechtotext/v1/stream') return { refuse: refusal(404) };
    const fault = keyFault(searchParams.get('access_token') ?? authorizationOf(request, 'bearer'));
    const options = optionsOf(searchParams);
    return {
      connect(peer) {
        if (fault !== undefined) return closedAtOnce(peer, ...KEY_CLOSES[fault]);
        if (tools.quirk('no-worker') !== undefined) return closedAtOnce(peer, 4013, 'No worker is available');
        if (typeof options === 'string') return closedAtOnce(peer, 4002, options);
        return new Session(peer, tools, options);
      },
    };
  },

  async http(request, tools) {
    if (!request.url.pathname.startsWith('/speechtotext/v1/')) return refusal(404);
    const refused = keyRefusal(authorizationOf(request, 'bearer'), refusal);
    if (refused !== undefined) return refused;
    const { jobs } = fileJobsOf(tools);
    const answered = await routed(request, {
      'GET /speechtotext/v1/account': () => ok({ email: 'a@example.com', balance_seconds: 3_600 }),
      'POST /speechtotext/v1/jobs': () => createJob(request, tools),
      'GET /speechtotext/v1/jobs/*': (id) => shown(jobs.get(id)),
      'GET /speechtotext/v1/jobs/*/transcript': (id) => transcriptOf(jobs.get(id), request.headers.accept),
      'DELETE /speechtotext/v1/jobs/*': (id) => jobs.take(id) && { status: 204 },
    });
    return answered ?? refusal(404);
  },

  refusal,

  failure: () => ({ messages: [], close: { code: 1011, reason: 'Internal error' } }),

  isFinal: ({ type }) => type === 'final',
};
