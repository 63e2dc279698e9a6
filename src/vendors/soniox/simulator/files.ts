// The REST interface of the simulated Soniox: uploads, jobs and their deletion; and how it words refusals and tokens, on connections too.

import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { bodyOf, fileIn, formOf } from '../../kit/simulator/checks.ts';
import type { KeyFault } from '../../kit/simulator/credentials.ts';
import { type FileJob, type FileJobs, fileJobsOf, ok, routed } from '../../kit/simulator/routes.ts';
import { type HeardText, millisecondsOf, textOf, wordsOf } from '../../kit/simulator/words.ts';
import {
  errorMessage,
  fileMessage,
  jobMessage,
  refusalBody,
  type Token,
  tokenMessage,
  transcriptMessage,
} from '../messages.ts';

const WORDS: Readonly<Record<number, string>> = {
  401: 'Incorrect API key provided.',
  402: 'Organization balance exhausted. Please either add funds manually or enable autopay.',
  404: 'Not found.',
  408: 'Request timeout.',
  429: 'Rate limit for your organization has been exceeded.',
  500: 'The server had an error processing your request.',
  503: 'Cannot continue request (code 1). Please restart the request.',
};

export const KEY_FAULTS: Readonly<Record<KeyFault, [status: number, words?: string]>> = {
  missing: [401, 'Missing API key.'],
  bad: [401],
  broke: [402],
  limited: [429],
};

export const errorOf = (status: number, words = WORDS[status] ?? 'Start request is malformed.') =>
  errorMessage(status, words);

/** An answer, in the shape of the REST interface. */
export const refusal = (status: number, words = WORDS[status] ?? 'The request was refused.'): SimulatedAnswer => ({
  status,
  ...(status === 429 ? { headers: { 'retry-after': '5' } } : {}),
  body: refusalBody(status, words, 'request'),
});

/** Parts of words: each begins with a space but the first of all, and long ones come in two. */
export function tokensOf(
  heard: HeardText,
  about: { speaker?: number; language?: string },
  more: { is_final?: boolean } = {},
): Token[] {
  return wordsOf(heard).flatMap(({ word, start, end, confidence = 0.95 }, index) => {
    const text = index === 0 ? word : ` ${word}`;
    const cut = text.length > 6 ? Math.ceil(text.length / 2) : text.length;
    const middle = cut < text.length ? (start + end) / 2 : end;
    const token = (part: string, from: number, until: number): Token =>
      tokenMessage(part, { startMs: millisecondsOf(from), endMs: millisecondsOf(until) }, confidence, about, more);
    return [token(text.slice(0, cut), start, middle), token(text.slice(cut), middle, end)].filter(
      (each) => each.text !== '',
    );
  });
}

const FAILURE = { error_type: 'invalid_audio', error_message: 'Audio decode error: the file is not an audio file.' };
const CREATED = new Date('2026-01-01T00:00:00.000Z');
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
  return ok(fileMessage(id, 'audio', file.length, CREATED), 201);
}

function create(request: SimulatedRequest, tools: SimulatorTools, kept: FileJobs): SimulatedAnswer {
  const asked = bodyOf(request);
  const file = kept.uploads.get(String(asked.file_id));
  if (!String(asked.model).startsWith('stt-async-')) return refusal(400, 'Invalid model specified.');
  if (file === undefined) return refusal(404, 'File not found.');
  const { id } = kept.make(asked, file, undefined, tools);
  return ok(jobMessage(id, asked, 'queued', {}), 201);
}

function shown(job: FileJob | undefined): SimulatedAnswer | undefined {
  if (job === undefined) return undefined;
  const { id, asked, status, seconds } = job;
  const more = { working: {}, done: { audio_duration_ms: Math.round(seconds * 1_000) }, failed: FAILURE }[status];
  return ok(jobMessage(id, asked, STATUS[status], more));
}

function transcriptOf(job: FileJob | undefined): SimulatedAnswer | undefined {
  if (job?.status !== 'done') return undefined;
  const { id, asked, turns } = job;
  const tokens = turns.flatMap((turn, index) => {
    const all = tokensOf(turn, asked.enable_speaker_diarization === true ? { speaker: index % 2 } : {});
    return all.map((token, at) => (index > 0 && at === 0 ? { ...token, text: ` ${token.text}` } : token));
  });
  return ok(transcriptMessage(id, textOf(turns), tokens));
}
