// Rev AI as its clients meet it: routes, tokens, and how it refuses. Sessions are live.ts, jobs jobs.ts.
import { authorizationOf, type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { routed } from '../../kit/simulator/routes.ts';
import { closedAtOnce } from '../../kit/simulator/session.ts';
import type { ProviderSimulator, SimulatedAnswer } from '../../simulation.ts';
import { createJob, jobsOf, shownJob, transcriptOf } from './jobs.ts';
import { optionsOf, Session } from './live.ts';

const KEY_STATUS: Readonly<Record<KeyFault, number>> = { missing: 401, bad: 401, broke: 403, limited: 429 };
/** Live, what is wrong with a token is told by a close behind the upgrade. */
const KEY_CLOSES: Readonly<Record<KeyFault, readonly [code: number, reason: string]>> = {
  missing: [4001, 'Unauthorized'],
  bad: [4001, 'Unauthorized'],
  broke: [4003, 'Insufficient credits'],
  limited: [4029, 'Too many requests'],
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Authorization has been denied for this request.',
  403: 'You are not authorized to access this resource.',
  404: 'Could not find resource.',
  406: 'Invalid accept header.',
  409: 'Transcript is not ready.',
  413: 'The media is too large.',
  415: 'The media type is not supported.',
  429: 'Too many requests.',
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
    if (fault !== undefined) return { connect: (peer) => closedAtOnce(peer, ...KEY_CLOSES[fault]) };
    if (tools.quirk('no-worker') !== undefined)
      return { connect: (peer) => closedAtOnce(peer, 4013, 'No worker is available') };
    const options = optionsOf(searchParams);
    if (typeof options === 'string') return { connect: (peer) => closedAtOnce(peer, 4002, options) };
    return { connect: (peer) => new Session(peer, tools, options) };
  },

  async http(request, tools) {
    if (!request.url.pathname.startsWith('/speechtotext/v1/')) return refusal(404);
    const fault = keyFault(authorizationOf(request, 'bearer'));
    if (fault !== undefined) return refusal(KEY_STATUS[fault]);
    const jobs = jobsOf(tools);
    const found = (answer: SimulatedAnswer | number) => (typeof answer === 'number' ? refusal(answer) : answer);
    const answered = routed(request, {
      'GET /speechtotext/v1/account': () => ({ status: 200, body: { email: 'a@example.com', balance_seconds: 3_600 } }),
      'POST /speechtotext/v1/jobs': () => createJob(request, tools),
      'GET /speechtotext/v1/jobs/*': (id) => found(shownJob(jobs.get(id))),
      'GET /speechtotext/v1/jobs/*/transcript': (id) => found(transcriptOf(jobs.get(id), request.headers.accept)),
      'DELETE /speechtotext/v1/jobs/*': (id) => (jobs.take(id) === undefined ? refusal(404) : { status: 204 }),
    });
    return answered ?? refusal(404);
  },

  refusal,

  failure: () => ({ messages: [], close: { code: 1011, reason: 'Internal error' } }),

  isFinal: ({ type }) => type === 'final',
};

function refusal(status: number): SimulatedAnswer {
  const title = TITLES[status] ?? (status >= 500 ? 'Internal server error.' : 'Not found.');
  return { status, body: { type: `https://www.rev.ai/api/v1/errors/${status}`, title, status } };
}
