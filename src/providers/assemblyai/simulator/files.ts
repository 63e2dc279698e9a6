// The simulated v2 endpoints for files: uploads, jobs and their deletion. A job is worked on as soon as it is made.

import { objectOf } from '../../refusals.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { languageOf } from '../languages.ts';
import { type Account, accountOf, type Job } from './account.ts';
import { millisecondsOf } from './turns.ts';

const refused = (status: number, error: string): SimulatedAnswer => ({ status, body: { error } });
const NOT_FOUND = refused(404, 'Not found');

/** Answers what is known of `/v2`; the key was looked at before. */
export function fileAnswer(request: SimulatedRequest, tools: SimulatorTools): SimulatedAnswer {
  const { method, url } = request;
  const account = accountOf(tools.clock);
  if (method === 'POST' && url.pathname === '/v2/upload') return upload(request, account);
  if (method === 'POST' && url.pathname === '/v2/transcript') return create(request, tools, account);
  if (method === 'GET' && url.pathname === '/v2/transcript') {
    const limit = Number(url.searchParams.get('limit') ?? 10);
    return { status: 200, body: { page_details: { limit, result_count: 0 }, transcripts: [] } };
  }
  const id = /^\/v2\/transcript\/([^/]+)$/.exec(url.pathname)?.[1];
  if (id === undefined || (method !== 'GET' && method !== 'DELETE')) return NOT_FOUND;
  const job = method === 'GET' ? account.jobs.get(id) : account.jobs.take(id);
  if (job === undefined) return refused(404, 'Transcript not found');
  return { status: 200, body: method === 'GET' ? job : { ...job, text: 'Deleted by user.', words: null } };
}

function upload({ body, headers, url }: SimulatedRequest, account: Account): SimulatedAnswer {
  if (body.byteLength === 0) return refused(422, 'Upload failed, please try again');
  const id = account.newId('upload');
  account.uploads.set(id, { key: headers.authorization ?? '', bytes: body });
  return { status: 200, body: { upload_url: `${url.origin}/upload/${id}` } };
}

function create({ body, headers }: SimulatedRequest, tools: SimulatorTools, account: Account): SimulatedAnswer {
  const asked = objectOf(new TextDecoder().decode(body));
  const wrong = faultOf(asked);
  if (wrong !== undefined) return refused(400, wrong);
  const upload = account.uploads.get(String(asked.audio_url).split('/').at(-1) as string);
  if (upload !== undefined && upload.key !== headers.authorization) return refused(403, 'Cannot access uploaded file');
  const id = account.newId('transcript');
  const job: Job = { ...asked, id, status: 'queued' };
  account.jobs.set(id, job);
  void work(job, upload?.bytes, tools);
  return { status: 200, body: { ...job } };
}

/** What is wrong with a job, in AssemblyAI's way. */
function faultOf(asked: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof asked.audio_url !== 'string') return 'audio_url is required';
  if (asked.language_detection === true && asked.language_code !== undefined)
    return 'language_code and language_detection cannot be used together';
  if (asked.redact_pii === true && !Array.isArray(asked.redact_pii_policies))
    return 'redact_pii_policies is required with redact_pii';
  return undefined;
}

/** Changes the job in place, as polls see it. */
async function work(job: Job, bytes: Uint8Array | undefined, tools: SimulatorTools): Promise<void> {
  if (bytes === undefined) {
    fail(job, 'Download error, unable to download the audio file');
    return;
  }
  job.status = 'processing';
  const language = typeof job.language_code === 'string' ? job.language_code : 'en_us';
  try {
    const { seconds, turns } = await tools.transcribe(bytes, languageOf(language));
    const words = turns.flatMap((turn) => turn.words).map(wordOf);
    Object.assign(job, {
      status: 'completed',
      text: turns.map(({ text }) => text).join(' '),
      audio_duration: seconds,
      confidence: 0.9,
      language_code: language,
      words,
      utterances:
        job.speaker_labels === true
          ? turns.map((turn) => ({ ...span(turn), text: turn.text, speaker: 'A', words: turn.words.map(wordOf) }))
          : null,
    });
  } catch {
    fail(job, 'Transcoding failed. File does not appear to contain audio.');
  }
}

function fail(job: Job, error: string): void {
  Object.assign(job, { status: 'error', error });
}

interface Span {
  start: number;
  end: number;
  confidence?: number;
}

const span = ({ start, end, confidence = 0.9 }: Span) => ({
  start: millisecondsOf(start),
  end: millisecondsOf(end),
  confidence,
});

const wordOf = (word: Span & { word: string; speaker?: number }) => ({
  text: word.word,
  ...span(word),
  speaker: word.speaker === undefined ? null : String.fromCharCode(65 + word.speaker),
});
