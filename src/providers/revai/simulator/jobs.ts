// The simulated jobs for files: made with the file in one form, worked on at once, and kept until they are removed.
import { Type } from '@sinclair/typebox';
import { jsonOf, type Members, objectIn } from '../../kit/json.ts';
import { faultIn, formOf, members, oneOf } from '../../kit/simulator/checks.ts';
import { Remembered } from '../../kit/simulator/routes.ts';
import { textOf } from '../../kit/simulator/words.ts';
import type { HeardTurn, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { elementsOf } from './elements.ts';

interface Job {
  id: string;
  status: 'in_progress' | 'transcribed' | 'failed';
  options: Members;
  seconds: number;
  turns: readonly HeardTurn[];
}

const flag = Type.Boolean();
const Options = members(
  {},
  {
    transcriber: oneOf('machine', 'low_cost', 'fusion'),
    language: Type.String({ pattern: '^[a-z]{2,3}$' }),
    ...{ skip_diarization: flag, skip_punctuation: flag, skip_postprocessing: flag },
    ...{ filter_profanity: flag, remove_disfluencies: flag },
    diarization_type: oneOf('standard', 'premium'),
    speakers_count: Type.Integer({ minimum: 1 }),
    custom_vocabulary_id: Type.String(),
    custom_vocabularies: Type.Array(Type.Object({ phrases: Type.Array(Type.String()) })),
    delete_after_seconds: Type.Integer({ minimum: 0, maximum: 2_592_000 }),
    metadata: Type.String({ maxLength: 512 }),
  },
);

export const jobsOf = (tools: SimulatorTools): Remembered<Job> => tools.shared(() => new Remembered<Job>());

export async function createJob(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const media = form?.get('media');
  const options = objectIn(jsonOf(String(form?.get('options') ?? '{}')));
  const fault =
    faultIn(Options, options) ?? (media instanceof File ? undefined : { member: 'media', message: 'is required' });
  if (fault !== undefined)
    return {
      status: 400,
      body: { title: 'Your request parameters are invalid.', parameters: { [fault.member]: [fault.message] } },
    };
  const job: Job = { id: `job${tools.newId()}`, status: 'in_progress', options, seconds: 0, turns: [] };
  jobsOf(tools).set(job.id, job);
  void work(job, new Uint8Array(await (media as File).arrayBuffer()), tools);
  return { ...(shownJob(job) as SimulatedAnswer), status: 200 };
}

async function work(job: Job, bytes: Uint8Array, tools: SimulatorTools): Promise<void> {
  const { language = 'en' } = job.options;
  const heard = await tools.transcribe(bytes, String(language)).catch(() => undefined);
  Object.assign(job, heard === undefined ? { status: 'failed' } : { status: 'transcribed', ...heard });
}

export function shownJob(job: Job | undefined): SimulatedAnswer | number {
  if (job === undefined) return 404;
  const { id, status, seconds } = job;
  const failure =
    status === 'failed' ? { failure: 'invalid_media', failure_detail: 'The media cannot be decoded.' } : {};
  const done = status === 'transcribed' ? { duration_seconds: seconds } : {};
  return { status: 200, body: { id, status, created_on: '2026-01-01T00:00:00Z', type: 'async', ...done, ...failure } };
}

/** Without an `Accept` it knows, there is none. */
export function transcriptOf(job: Job | undefined, accept = ''): SimulatedAnswer | number {
  if (job === undefined) return 404;
  if (job.status !== 'transcribed') return 409;
  const { turns, options } = job;
  if (accept.startsWith('text/plain')) return { status: 200, body: textOf(turns) };
  if (!accept.startsWith('application/vnd.rev.transcript.v1.0+json')) return 406;
  const isDiarized = options.skip_diarization !== true;
  const monologues = turns.map((turn, at) => ({ speaker: isDiarized ? at % 2 : 0, elements: elementsOf(turn) }));
  return { status: 200, body: { monologues } };
}
