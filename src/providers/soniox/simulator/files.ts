// The simulated REST interface: uploads, jobs and their deletion. A job is worked on as soon as it is made.
import { objectOf } from '../../kit/json.ts';
import { formOf } from '../../kit/simulator/checks.ts';
import { Remembered, routed } from '../../kit/simulator/routes.ts';
import { textOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { refusal, tokensOf } from './words.ts';

interface Job {
  /** As it is asked about. */
  shown: Record<string, unknown>;
  transcript?: Record<string, unknown>;
}

class Account {
  readonly files = new Remembered<Uint8Array>();
  readonly jobs = new Remembered<Job>();
}

const NOT_AUDIO = 'Audio decode error: the file is not an audio file.';

export async function answerFiles(
  request: SimulatedRequest,
  tools: SimulatorTools,
): Promise<SimulatedAnswer | undefined> {
  const account = tools.shared(() => new Account());
  const { method, url } = request;
  const [, job] = /^\/v1\/transcriptions\/([^/]+)\/transcript$/.exec(url.pathname) ?? [];
  if (method === 'GET' && job !== undefined) return shown(account.jobs.get(job)?.transcript);
  return routed(request, {
    'GET /v1/models': () => ok({ models: [] }),
    'POST /v1/files': () => upload(request, tools, account),
    'DELETE /v1/files/*': (id) => gone(account.files.take(id)),
    'POST /v1/transcriptions': () => create(request, tools, account),
    'GET /v1/transcriptions/*': (id) => shown(account.jobs.get(id)?.shown),
    'DELETE /v1/transcriptions/*': (id) => gone(account.jobs.take(id)),
  });
}

const ok = (body: Readonly<Record<string, unknown>>, status = 200): SimulatedAnswer => ({ status, body });
const shown = (kept: Readonly<Record<string, unknown>> | undefined) => (kept === undefined ? refusal(404) : ok(kept));
const gone = (kept: unknown): SimulatedAnswer => (kept === undefined ? refusal(404) : { status: 204 });

async function upload(request: SimulatedRequest, { newId }: SimulatorTools, { files }: Account) {
  const file = (await formOf(request))?.get('file');
  if (!(file instanceof Blob)) return refusal(400, 'The form has no file.');
  const id = `file-${newId()}`;
  files.set(id, new Uint8Array(await file.arrayBuffer()));
  return ok({ id, filename: 'audio', size: file.size, created_at: '2026-01-01T00:00:00Z' }, 201);
}

function create({ body }: SimulatedRequest, tools: SimulatorTools, account: Account): SimulatedAnswer {
  const asked = objectOf(new TextDecoder().decode(body));
  const bytes = account.files.get(String(asked.file_id));
  if (!String(asked.model).startsWith('stt-async-')) return refusal(400, 'Invalid model specified.');
  if (bytes === undefined) return refusal(404, 'File not found.');
  const id = `job-${tools.newId()}`;
  const job: Job = { shown: { ...asked, id, status: 'queued' } };
  account.jobs.set(id, job);
  void work(job, bytes, tools);
  return ok({ ...job.shown }, 201);
}

async function work(job: Job, bytes: Uint8Array, tools: SimulatorTools) {
  const { shown } = job;
  shown.status = 'processing';
  const heard = await tools.transcribe(bytes, undefined).catch(() => undefined);
  if (heard === undefined) {
    Object.assign(shown, { status: 'error', error_type: 'invalid_audio', error_message: NOT_AUDIO });
    return;
  }
  const { turns, seconds } = heard;
  const tokens = turns.flatMap((turn, index) => {
    const speaker = shown.enable_speaker_diarization === true ? { speaker: String(1 + (index % 2)) } : {};
    const all = tokensOf(turn, speaker);
    return all.map((token, at) => (index > 0 && at === 0 ? { ...token, text: ` ${token.text}` } : token));
  });
  job.transcript = { id: shown.id, text: textOf(turns), tokens };
  Object.assign(shown, { status: 'completed', audio_duration_ms: Math.round(seconds * 1_000) });
}
