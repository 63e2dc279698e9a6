// Speechmatics as its clients meet it: who is let in, where requests go, and how it refuses. Sessions are live.ts, jobs jobs.ts.
import { authorizationOf, type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { routed } from '../../kit/simulator/routes.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest } from '../../simulation.ts';
import { createJob, jobsOf, shownJob, transcriptOf } from './jobs.ts';
import { Session } from './live.ts';

const KEY_STATUS: Readonly<Record<KeyFault, number>> = { missing: 401, bad: 401, broke: 403, limited: 429 };

const WORDS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Permission Denied',
  403: 'Forbidden',
  404: 'Path not found',
  410: 'Job Expired',
  413: 'Payload Too Large',
  423: 'Job Locked',
  429: 'Rate Limited',
};

export const simulator: ProviderSimulator = {
  provider: 'speechmatics',

  quirks: {
    'late-start': '<ms>: `RecognitionStarted` comes so many milliseconds after it was asked for',
    'no-audio-added': 'audio is heard and never confirmed',
    'read-speed': '<n>: audio is read at so many times real time, and confirmed as it is; 4 when no number is given',
    'swallow-force': '`ForceEndOfUtterance` ends no turn',
    'empty-slices': 'a final without results comes before each turn',
    'duration-limit': '<seconds>: warns behind so much audio that the contract is used up, and hears no more',
    'error-type': '<type>: an `Error` of this type comes in place of `RecognitionStarted`',
  },

  upgrade(request, tools) {
    if (!/^\/v2\/?$/.test(request.url.pathname)) return { refuse: refusal(404) };
    const key = authorizationOf(request, 'bearer') ?? request.url.searchParams.get('jwt') ?? undefined;
    const fault = keyFault(key);
    if (fault === 'missing' || fault === 'bad') return { refuse: refusal(401) };
    return { connect: (peer) => new Session(peer, tools, fault) };
  },

  async http(request, tools) {
    const fault = keyFault(authorizationOf(request, 'bearer'));
    if (fault !== undefined) return refusal(KEY_STATUS[fault]);
    const jobs = jobsOf(tools);
    const found = (answer: SimulatedAnswer | undefined) => answer ?? refusal(404);
    const answered = routed(request, {
      'POST /v2/jobs': () => createJob(request, tools),
      'GET /v2/jobs': () => ({ status: 200, body: { jobs: [] } }),
      'GET /v2/jobs/*': (id) => found(shownJob(jobs.get(id))),
      'GET /v2/jobs/*/transcript': (id) => found(transcriptOf(jobs.get(id), formatOf(request))),
      'DELETE /v2/jobs/*': (id) => found(shownJob(jobs.take(id))),
    });
    return answered ?? refusal(404);
  },

  refusal,

  failure: () => ({
    messages: [{ message: 'Error', type: 'internal_error', reason: 'An internal error occurred.' }],
    close: { code: 1011, reason: 'internal_error' },
  }),

  isFinal: ({ message }) => message === 'AddTranscript',
};

const formatOf = ({ url }: SimulatedRequest): string => url.searchParams.get('format') ?? 'json-v2';

function refusal(status: number): SimulatedAnswer {
  const error = WORDS[status] ?? (status >= 500 ? 'Internal Server Error' : 'Not found');
  return { status, body: { code: status, error, detail: `${error}.` } };
}
