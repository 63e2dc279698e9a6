// Speechmatics as its clients meet it: who is let in, where requests go, how it refuses, and jobs for files. Sessions are in live.ts.

import { Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import { authorizationOf } from '../../kit/offered-keys.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { fileIn, formOf, members, oneOf, wrongIn } from '../../kit/simulator/checks.ts';
import { keyFault, keyRefusal } from '../../kit/simulator/credentials.ts';
import { type FileJob, fileJobsOf, ok, routed } from '../../kit/simulator/routes.ts';
import { errorBody, fileTranscript, jobMessage } from '../messages.ts';
import { heardResults, Session, textOf } from './live.ts';

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
    const key = authorizationOf(request.headers.authorization) ?? request.url.searchParams.get('jwt') ?? undefined;
    const fault = keyFault(key);
    if (fault === 'missing' || fault === 'bad') return { refuse: refusal(401) };
    return { connect: (peer) => new Session(peer, tools, fault) };
  },

  async http(request, tools) {
    const refused = keyRefusal(authorizationOf(request.headers.authorization), refusal);
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
  return { status, body: errorBody(status, error, `${error}.`) };
}

const CREATED = new Date('2026-01-01T00:00:00.000Z');
const STATUS = { working: 'running', done: 'done', failed: 'rejected' } as const;

const Config = members(
  {
    type: Type.Literal('transcription'),
    transcription_config: members(
      { language: Type.String({ pattern: '^(auto|multi|[a-z]{2,3}(_[a-z]{2})*)$' }) },
      {
        model: oneOf('standard', 'enhanced', 'melia-1'),
        diarization: oneOf('none', 'speaker', 'channel'),
        // What a session may be told and a job may not.
        ...{ max_delay: Type.Never(), enable_partials: Type.Never(), conversation_config: Type.Never() },
      },
      'ignored',
    ),
  },
  {},
  'ignored',
);

export async function createJob(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const file = await fileIn(form, 'data_file');
  const config = objectIn(jsonOf(String(form?.get('config') ?? '')));
  const wrong = wrongIn(Config, config) ?? (file === undefined ? 'data_file or fetch_data is required' : undefined);
  if (wrong !== undefined) return ok(errorBody(400, 'Bad Request', wrong), 400);
  const { language } = objectIn(config.transcription_config);
  const { id } = fileJobsOf(tools).make(config, file, language === 'auto' ? undefined : language, tools);
  return ok({ id }, 201);
}

export function shownJob(job: FileJob | undefined): SimulatedAnswer | undefined {
  if (job === undefined) return undefined;
  const { id, status, asked: config, seconds } = job;
  const errors = status === 'failed' ? { errors: [{ timestamp: '2026', message: 'The audio cannot be decoded' }] } : {};
  const more = { duration: Math.ceil(seconds), ...errors };
  return ok({ job: jobMessage(id, STATUS[status], CREATED, 'audio', config, more) });
}

export function transcriptOf(job: FileJob | undefined, format: string): SimulatedAnswer | undefined {
  if (job?.status !== 'done') return undefined;
  const { id, asked, seconds, turns } = job;
  const isDiarized = objectIn(asked.transcription_config).diarization === 'speaker';
  const results = turns.flatMap((turn, at) => heardResults(turn, isDiarized ? at % 2 : undefined));
  if (format === 'txt') return ok(textOf(results));
  const metadata = { type: 'transcription', language_pack_info: { word_delimiter: ' ' } };
  return ok(fileTranscript({ id, duration: Math.ceil(seconds) }, metadata, results));
}
