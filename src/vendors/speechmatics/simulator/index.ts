// Speechmatics as its clients meet it: who is let in, where requests go, and how it refuses. Sessions are live.ts, jobs jobs.ts.
import { authorizationOf, keyFault, keyRefusal } from '../../kit/simulator/credentials.ts';
import { fileJobsOf } from '../../kit/simulator/jobs.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest } from '../../simulation.ts';
import { createJob, shownJob, transcriptOf } from './jobs.ts';
import { Session } from './live.ts';

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
    settles:
      'slices of a turn are settled while it goes on, so many seconds after they were spoken; 1 without a number',
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
    const refused = keyRefusal(authorizationOf(request, 'bearer'), refusal);
    if (refused !== undefined) return refused;
    const { jobs } = fileJobsOf(tools);
    const answered = await routed(request, {
      'POST /v2/jobs': () => createJob(request, tools),
      'GET /v2/jobs': () => ok({ jobs: [] }),
      'GET /v2/jobs/*': (id) => shownJob(jobs.get(id)),
      'GET /v2/jobs/*/transcript': (id) => transcriptOf(jobs.get(id), formatOf(request)),
      'DELETE /v2/jobs/*': (id) => shownJob(jobs.take(id)),
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
