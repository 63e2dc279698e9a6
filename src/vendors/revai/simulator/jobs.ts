// The simulated jobs for files: made with the file in one form. And how requests are refused.
import { Type } from '@sinclair/typebox';
import { jsonOf, objectIn } from '../../kit/json.ts';
import type { SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../kit/simulation.ts';
import { faultIn, fileIn, formOf, members, oneOf } from '../../kit/simulator/checks.ts';
import { type FileJob, fileJobsOf, ok } from '../../kit/simulator/routes.ts';
import { type HeardText, markedWordsOf, textOf } from '../../kit/simulator/words.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Authorization has been denied for this request.',
  403: 'You are not authorized to access this resource.',
  404: 'Could not find resource.',
  406: 'Invalid accept header.',
  409: 'Transcript is not ready.',
  413: 'The media is too large.',
  415: 'The media type is not supported.',
  429: 'Too many requests.',
};

const STATUS = { working: 'in_progress', done: 'transcribed', failed: 'failed' } as const;

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

export function refusal(status: number, more: object = {}): SimulatedAnswer {
  const title = TITLES[status] ?? (status >= 500 ? 'Internal server error.' : 'Not found.');
  return ok({ type: `https://www.rev.ai/api/v1/errors/${status}`, title, status, ...more }, status);
}

export async function createJob(request: SimulatedRequest, tools: SimulatorTools): Promise<SimulatedAnswer> {
  const form = await formOf(request);
  const media = await fileIn(form, 'media');
  const options = objectIn(jsonOf(String(form?.get('options') ?? '{}')));
  const { member, message } = faultIn(Options, options) ?? { member: 'media', message: 'is required' };
  if (media === undefined || member !== 'media') return refusal(400, { parameters: { [member]: [message] } });
  const { language = 'en' } = options;
  return shown(fileJobsOf(tools).make(options, media, language, tools)) as SimulatedAnswer;
}

export function shown(job: FileJob | undefined): SimulatedAnswer | undefined {
  if (job === undefined) return undefined;
  const { id, status, seconds } = job;
  const more = {
    working: {},
    done: { duration_seconds: seconds },
    failed: { failure: 'invalid_media', failure_detail: 'The media cannot be decoded.' },
  }[status];
  return ok({ id, status: STATUS[status], created_on: '2026-01-01T00:00:00Z', type: 'async', ...more });
}

/** Without an `Accept` it knows, there is none. */
export function transcriptOf(job: FileJob | undefined, accept = ''): SimulatedAnswer | undefined {
  if (job?.status !== 'done') return job && refusal(409);
  const { turns, asked } = job;
  if (accept.startsWith('text/plain')) return ok(textOf(turns));
  if (!accept.startsWith('application/vnd.rev.transcript.v1.0+json')) return refusal(406);
  const isDiarized = asked.skip_diarization !== true;
  return ok({
    monologues: turns.map((turn, at) => ({ speaker: isDiarized ? at % 2 : 0, elements: elementsOf(turn) })),
  });
}

const punct = (value: string) => ({ type: 'punct', value });

export const elementsOf = (heard: HeardText) =>
  markedWordsOf(heard).flatMap(({ word, mark, start, end, confidence = 0.95 }, index) => [
    ...(index === 0 ? [] : [punct(' ')]),
    { type: 'text', value: word, ts: start, end_ts: end, confidence },
    ...(mark === undefined ? [] : [punct(mark)]),
  ]);
