// The simulated v2 endpoints for files: uploads, jobs and their deletion.
import type { JsonObject } from '../../kit/json.ts';
import { bodyOf } from '../../kit/simulator/checks.ts';
import type { FileJob } from '../../kit/simulator/jobs.ts';
import { ok } from '../../kit/simulator/routes.ts';
import { millisecondsOf, textOf } from '../../kit/simulator/words.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { languageOf } from '../languages.ts';
import { type Account, answer } from './account.ts';

export function upload({ body, headers, url }: SimulatedRequest, account: Account, id: string): SimulatedAnswer {
  if (body.byteLength === 0) return answer(422, 'Upload failed, please try again');
  account.uploads.set(`upload-${id}`, body);
  account.owners.set(`upload-${id}`, headers.authorization);
  return ok({ upload_url: `${url.origin}/upload/upload-${id}` });
}

export function create(request: SimulatedRequest, tools: SimulatorTools, account: Account): SimulatedAnswer {
  const asked = bodyOf(request);
  const wrong = faultOf(asked);
  if (wrong !== undefined) return answer(400, wrong);
  const upload = String(asked.audio_url).split('/').at(-1) as string;
  const file = account.uploads.get(upload);
  if (file !== undefined && account.owners.get(upload) !== request.headers.authorization)
    return answer(403, 'Cannot access uploaded file');
  const { id } = account.make(asked, file, languageOf(languageIn(asked)), tools);
  return ok({ ...asked, id, status: 'queued' });
}

export function remove(account: Account, id: string): SimulatedAnswer {
  const job = account.jobs.take(id);
  const answered = shown(job);
  return job === undefined ? answered : ok({ ...(answered.body as JsonObject), text: 'Deleted by user.', words: null });
}

/** What is wrong with a job, in AssemblyAI's way. */
function faultOf(asked: JsonObject): string | undefined {
  if (typeof asked.audio_url !== 'string') return 'audio_url is required';
  if (asked.language_detection === true && asked.language_code !== undefined)
    return 'language_code and language_detection cannot be used together';
  if (asked.redact_pii === true && !Array.isArray(asked.redact_pii_policies))
    return 'redact_pii_policies is required with redact_pii';
  return undefined;
}

const STATUS = { working: 'processing', done: 'completed', failed: 'error' } as const;

export function shown(job: FileJob | undefined): SimulatedAnswer {
  if (job === undefined) return answer(404, 'Transcript not found');
  const { id, asked, status, isMissing } = job;
  const error = isMissing
    ? 'Download error, unable to download the audio file'
    : 'Transcoding failed. File does not appear to contain audio.';
  return ok({ ...asked, id, status: STATUS[status], ...{ working: {}, done: told(job), failed: { error } }[status] });
}

function told({ asked, seconds, turns }: FileJob) {
  const utterances = turns.map((turn) => ({
    ...{ text: turn.text, ...span(turn), speaker: 'A' },
    words: turn.words.map((word) => ({ text: word.word, ...span(word), speaker: null })),
  }));
  return {
    text: textOf(turns),
    audio_duration: seconds,
    confidence: 0.9,
    language_code: languageIn(asked),
    words: utterances.flatMap(({ words }) => words),
    utterances: asked.speaker_labels === true ? utterances : null,
  };
}

const languageIn = ({ language_code }: JsonObject): string =>
  typeof language_code === 'string' ? language_code : 'en_us';

const span = ({ start, end, confidence = 0.9 }: { start: number; end: number; confidence?: number }) => ({
  start: millisecondsOf(start),
  end: millisecondsOf(end),
  confidence,
});
