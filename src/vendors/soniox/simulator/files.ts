// The simulated REST interface: uploads, jobs and their deletion.
import { bodyOf, fileIn, formOf } from '../../kit/simulator/checks.ts';
import { type FileJob, type FileJobs, fileJobsOf } from '../../kit/simulator/jobs.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { textOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { refusal, tokensOf } from './words.ts';

const FAILURE = { error_type: 'invalid_audio', error_message: 'Audio decode error: the file is not an audio file.' };
const STATUS = { working: 'processing', done: 'completed', failed: 'error' } as const;

export async function answerFiles(request: SimulatedRequest, tools: SimulatorTools) {
  const kept = fileJobsOf(tools);
  const gone = (thing: unknown) => (thing === undefined ? undefined : { status: 204 });
  return routed(request, {
    'GET /v1/models': () => ok({ models: [] }),
    'POST /v1/files': () => upload(request, tools, kept),
    'DELETE /v1/files/*': (id) => gone(kept.uploads.take(id)),
    'POST /v1/transcriptions': () => create(request, tools, kept),
    'GET /v1/transcriptions/*': (id) => shown(kept.jobs.get(id)),
    'GET /v1/transcriptions/*/transcript': (id) => transcriptOf(kept.jobs.get(id)),
    'DELETE /v1/transcriptions/*': (id) => gone(kept.jobs.take(id)),
  });
}

async function upload(request: SimulatedRequest, { newId }: SimulatorTools, { uploads }: FileJobs) {
  const file = await fileIn(await formOf(request), 'file');
  if (file === undefined) return refusal(400, 'The form has no file.');
  const id = `file-${newId()}`;
  uploads.set(id, file);
  return ok({ id, filename: 'audio', size: file.length, created_at: '2026-01-01T00:00:00Z' }, 201);
}

function create(request: SimulatedRequest, tools: SimulatorTools, kept: FileJobs): SimulatedAnswer {
  const asked = bodyOf(request);
  const file = kept.uploads.get(String(asked.file_id));
  if (!String(asked.model).startsWith('stt-async-')) return refusal(400, 'Invalid model specified.');
  if (file === undefined) return refusal(404, 'File not found.');
  const { id } = kept.make(asked, file, undefined, tools);
  return ok({ ...asked, id, status: 'queued' }, 201);
}

function shown(job: FileJob | undefined): SimulatedAnswer | undefined {
  if (job === undefined) return undefined;
  const { id, asked, status, seconds } = job;
  const more = { working: {}, done: { audio_duration_ms: Math.round(seconds * 1_000) }, failed: FAILURE }[status];
  return ok({ ...asked, id, status: STATUS[status], ...more });
}

function transcriptOf(job: FileJob | undefined): SimulatedAnswer | undefined {
  if (job?.status !== 'done') return undefined;
  const { id, asked, turns } = job;
  const tokens = turns.flatMap((turn, index) => {
    const speaker = asked.enable_speaker_diarization === true ? { speaker: String(1 + (index % 2)) } : {};
    const all = tokensOf(turn, speaker);
    return all.map((token, at) => (index > 0 && at === 0 ? { ...token, text: ` ${token.text}` } : token));
  });
  return ok({ id, text: textOf(turns), tokens });
}
