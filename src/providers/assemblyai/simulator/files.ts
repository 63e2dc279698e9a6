// The simulated v2 endpoints for files: uploads, jobs and their deletion. A job is worked on as soon as it is made.

import { objectOf } from '../../kit/json.ts';
import { millisecondsOf, textOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { languageOf } from '../languages.ts';
import { type Account, answer } from './account.ts';

type Job = Record<string, unknown>;

export function upload({ body, headers, url }: SimulatedRequest, account: Account, id: string): SimulatedAnswer {
  if (body.byteLength === 0) return answer(422, 'Upload failed, please try again');
  account.uploads.set(`upload-${id}`, { key: headers.authorization, bytes: body });
  return { status: 200, body: { upload_url: `${url.origin}/upload/upload-${id}` } };
}

export function create(
  { body, headers }: SimulatedRequest,
  tools: SimulatorTools,
  account: Account,
  id: string,
): SimulatedAnswer {
  const asked = objectOf(new TextDecoder().decode(body));
  const wrong = faultOf(asked);
  if (wrong !== undefined) return answer(400, wrong);
  const upload = account.uploads.get(String(asked.audio_url).split('/').at(-1) as string);
  if (upload !== undefined && upload.key !== headers.authorization) return answer(403, 'Cannot access uploaded file');
  const job: Job = { ...asked, id: `transcript-${id}`, status: 'queued' };
  account.jobs.set(`transcript-${id}`, job);
  void work(job, upload?.bytes, tools);
  return { status: 200, body: { ...job } };
}

export function remove(account: Account, id: string): SimulatedAnswer {
  const job = account.jobs.take(id);
  if (job === undefined) return answer(404, 'Transcript not found');
  return { status: 200, body: { ...job, text: 'Deleted by user.', words: null } };
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
  const fail = (error: string) => Object.assign(job, { status: 'error', error });
  if (bytes === undefined) {
    fail('Download error, unable to download the audio file');
    return;
  }
  job.status = 'processing';
  const language = typeof job.language_code === 'string' ? job.language_code : 'en_us';
  const heard = await tools.transcribe(bytes, languageOf(language)).catch(() => undefined);
  if (heard === undefined) {
    fail('Transcoding failed. File does not appear to contain audio.');
    return;
  }
  const utterances = heard.turns.map((turn) => ({
    ...{ text: turn.text, ...span(turn), speaker: 'A' },
    words: turn.words.map((word) => ({ text: word.word, ...span(word), speaker: null })),
  }));
  Object.assign(job, {
    status: 'completed',
    text: textOf(heard.turns),
    audio_duration: heard.seconds,
    confidence: 0.9,
    language_code: language,
    words: utterances.flatMap(({ words }) => words),
    utterances: job.speaker_labels === true ? utterances : null,
  });
}

const span = ({ start, end, confidence = 0.9 }: { start: number; end: number; confidence?: number }) => ({
  start: millisecondsOf(start),
  end: millisecondsOf(end),
  confidence,
});
