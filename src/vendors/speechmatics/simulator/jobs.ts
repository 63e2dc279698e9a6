// The simulated jobs for files: made with the file in one form.
import { Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import { fileIn, formOf, members, oneOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type FileJob, fileJobsOf } from '../../kit/simulator/jobs.ts';
import { ok } from '../../kit/simulator/routes.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { resultsOf, transcriptOf as textOf } from './results.ts';

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
  if (wrong !== undefined) return ok({ code: 400, error: 'Bad Request', detail: wrong }, 400);
  const { language } = objectIn(config.transcription_config);
  const { id } = fileJobsOf(tools).make(config, file, language === 'auto' ? undefined : language, tools);
  return ok({ id }, 201);
}

export function shownJob(job: FileJob | undefined): SimulatedAnswer | undefined {
  if (job === undefined) return undefined;
  const { id, status, asked: config, seconds } = job;
  const errors = status === 'failed' ? { errors: [{ timestamp: '2026', message: 'The audio cannot be decoded' }] } : {};
  const created_at = '2026-01-01T00:00:00.000Z';
  return ok({ job: { id, status: STATUS[status], created_at, config, duration: Math.ceil(seconds), ...errors } });
}

export function transcriptOf(job: FileJob | undefined, format: string): SimulatedAnswer | undefined {
  if (job?.status !== 'done') return undefined;
  const { id, asked, seconds, turns } = job;
  const isDiarized = objectIn(asked.transcription_config).diarization === 'speaker';
  const results = turns.flatMap((turn, at) => resultsOf(turn, isDiarized ? `S${(at % 2) + 1}` : undefined));
  if (format === 'txt') return ok(textOf(results));
  const metadata = { type: 'transcription', language_pack_info: { word_delimiter: ' ' } };
  return ok({ format: '2.9', job: { id, duration: Math.ceil(seconds) }, metadata, results });
}
