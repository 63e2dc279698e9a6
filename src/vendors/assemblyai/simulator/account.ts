// What the simulated AssemblyAI keeps beyond one request: keys, temporary tokens, uploads, jobs and how sessions ended; and its v2
// endpoints for files.
import { Type } from '@sinclair/typebox';
import type { JsonObject } from '../../kit/json.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { bodyOf, members, valuesOf, wrongIn } from '../../kit/simulator/checks.ts';
import { type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { type FileJob, FileJobs, ok, Remembered } from '../../kit/simulator/routes.ts';
import { millisecondsOf, textOf } from '../../kit/simulator/words.ts';
import { languageOf } from '../api.ts';
import { completed, deleted, transcriptMessage } from '../messages.ts';

export const answer = (status: number, error: string): SimulatedAnswer => ({ status, body: { error } });

/** How long a session may last, unless its token says less. */
export const LONGEST_SECONDS = 10_800;

/** How each fault of a key is told: the reason of a close, and the answer to a request. */
const KEY_FAULTS: Readonly<Record<Exclude<KeyFault, 'missing'>, { reason: string; answer: SimulatedAnswer }>> = {
  bad: {
    reason: 'Unauthorized Connection: Missing Authorization header',
    answer: answer(401, 'Authentication error, API token missing/invalid'),
  },
  broke: {
    reason: 'Unauthorized Connection: Insufficient account balance',
    answer: answer(400, 'Your current account balance is negative. Please top up to continue.'),
  },
  limited: {
    reason: 'Unauthorized Connection: Too many concurrent sessions',
    answer: { ...answer(429, 'Too many requests'), headers: { 'retry-after': '30' } },
  },
};

/** What is wrong with a key. `Bearer` before it is a mistake AssemblyAI does not forgive. */
export function refusedKey(key: string | undefined) {
  const fault = /^bearer\b/i.test(key ?? '') ? 'bad' : keyFault(key);
  return fault === undefined ? undefined : KEY_FAULTS[fault === 'missing' ? 'bad' : fault];
}

/** Everything that outlives a request. */
export class Account extends FileJobs {
  /** The keys of uploads. */
  readonly owners = new Remembered<string | undefined>();
  /** Seconds that a session opened with the token may last. */
  readonly tokens = new Remembered<number>();
  /** Sessions whose key was good and called badly padded. */
  misread = 0;
  /** An abandoned session was left without `Terminate`: AssemblyAI would continue charging it. */
  readonly sessions = { open: 0, terminated: 0, abandoned: 0 };
}

const TokenQuery = members(
  { expires_in_seconds: Type.Integer({ minimum: 1, maximum: 600 }) },
  { max_session_duration_seconds: Type.Integer({ minimum: 60, maximum: 10_800 }) },
);

/** `GET /v3/token`: good for one session. */
export function tokenAnswer({ tokens }: Account, { searchParams }: URL, id: string): SimulatedAnswer {
  const asked = valuesOf(searchParams, TokenQuery);
  const wrong = wrongIn(TokenQuery, asked);
  if (wrong !== undefined) return answer(422, wrong);
  const token = `token-${id}`;
  tokens.set(token, (asked.max_session_duration_seconds as number | undefined) ?? LONGEST_SECONDS);
  return ok({ token, expires_in_seconds: asked.expires_in_seconds });
}

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
  return ok(transcriptMessage(id, asked, 'queued', {}));
}

export function remove(account: Account, id: string): SimulatedAnswer {
  const job = account.jobs.take(id);
  const answered = shown(job);
  return job === undefined ? answered : ok(deleted(answered.body as JsonObject));
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
  const more = { working: {}, done: told(job), failed: { error } }[status];
  return ok(transcriptMessage(id, asked, STATUS[status], more));
}

function told({ asked, seconds, turns }: FileJob) {
  const utterances = turns.map((turn) => ({
    ...{ text: turn.text, ...span(turn), speaker: 'A' },
    words: turn.words.map((word) => ({ text: word.word, ...span(word), speaker: null })),
  }));
  const words = utterances.flatMap((utterance) => utterance.words);
  const heard = { text: textOf(turns), words, confidence: 0.9, seconds };
  return {
    ...completed(heard, asked.speaker_labels === true ? utterances : undefined),
    language_code: languageIn(asked),
  };
}

const languageIn = ({ language_code }: JsonObject): string =>
  typeof language_code === 'string' ? language_code : 'en_us';

const span = ({ start, end, confidence = 0.9 }: { start: number; end: number; confidence?: number }) => ({
  start: millisecondsOf(start),
  end: millisecondsOf(end),
  confidence,
});
