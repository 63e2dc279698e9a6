// The simulated jobs for files: made with the file in one form, worked on at once, and kept until they are removed.
import { Type } from '@sinclair/typebox';
import { jsonOf, type Members, objectIn } from '../../kit/json.ts';
import { faultIn, formOf, members, oneOf } from '../../kit/simulator/checks.ts';
import { Remembered } from '../../kit/simulator/routes.ts';
import type { HeardTurn, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { resultsOf, transcriptOf as textOf } from './results.ts';

interface Job {
  id: string;
  status: 'running' | 'done' | 'rejected';
  config: Members;
  seconds: number;
  turns: readonly HeardTurn[];
}

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

export const jobsOf = (tools: SimulatorTools): Remembered<Job> => tools.shared(() => new Remembered<Job>());

export async function createJob(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const file = form?.get('data_file');
  const config = objectIn(jsonOf(String(form?.get('config') ?? '')));
  const fault = faultIn(Config, config);
  if (fault !== undefined) return invalid(`${fault.member}: ${fault.message}`);
  if (!(file instanceof File)) return invalid('data_file or fetch_data is required');
  const job: Job = { id: `job${tools.newId()}`, status: 'running', config, seconds: 0, turns: [] };
  jobsOf(tools).set(job.id, job);
  void work(job, new Uint8Array(await file.arrayBuffer()), tools);
  return { status: 201, body: { id: job.id } };
}

const invalid = (detail: string): SimulatedAnswer => ({
  status: 400,
  body: { code: 400, error: 'Bad Request', detail },
});

async function work(job: Job, bytes: Uint8Array, tools: SimulatorTools): Promise<void> {
  const { language } = objectIn(job.config.transcription_config);
  const heard = await tools
    .transcribe(bytes, language === 'auto' ? undefined : String(language))
    .catch(() => undefined);
  Object.assign(job, heard === undefined ? { status: 'rejected' } : { status: 'done', ...heard });
}

export function shownJob(job: Job | undefined): SimulatedAnswer | undefined {
  if (job === undefined) return undefined;
  const { id, status, config, seconds } = job;
  const errors =
    status === 'rejected' ? { errors: [{ timestamp: '2026', message: 'The audio cannot be decoded' }] } : {};
  const created_at = '2026-01-01T00:00:00.000Z';
  return { status: 200, body: { job: { id, status, created_at, config, duration: Math.ceil(seconds), ...errors } } };
}

export function transcriptOf(job: Job | undefined, format: string): SimulatedAnswer | undefined {
  if (job?.status !== 'done') return undefined;
  const { id, config, seconds, turns } = job;
  const isDiarized = objectIn(config.transcription_config).diarization === 'speaker';
  const results = turns.flatMap((turn, at) => resultsOf(turn, isDiarized ? `S${(at % 2) + 1}` : undefined));
  if (format === 'txt') return { status: 200, body: textOf(results) };
  const metadata = { type: 'transcription', language_pack_info: { word_delimiter: ' ' } };
  return { status: 200, body: { format: '2.9', job: { id, duration: Math.ceil(seconds) }, metadata, results } };
}
