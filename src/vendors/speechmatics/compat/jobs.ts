// Files of Speechmatics' clients: a job is requested with its file, and looked after until it is done.
// https://docs.speechmatics.com/api-ref/batch/create-a-new-job
import { booleanIn } from '../../../api/boolean.ts';
import type { Answer, Handshake } from '../../compat/dialect.ts';
import {
  type JobEndpoints,
  type JobMeans,
  type JobRequest,
  type JobState,
  pageOf,
  type ShownJob,
} from '../../compat/jobs.ts';
import { badRequest, refuseAddresses, refuseMembers } from '../../compat/params.ts';
import { jsonAnswer, textAnswer, warningsIn } from '../../compat/request.ts';
import { type HeardTurn, turnsOf } from '../../compat/transcript.ts';
import { type JsonObject, objectIn, objectOf } from '../../kit/json.ts';
import { fileTranscript, jobMessage } from '../messages.ts';
import { heardResults } from './conversation.ts';
import { refused } from './errors.ts';
import { delimiterOf, requestOf } from './params.ts';

/** What would be fetched or told elsewhere, or be made of the transcript. */
const UNSERVED = [
  ...['notification_config', 'translation_config', 'summarization_config', 'sentiment_analysis_config'],
  ...['topic_detection_config', 'auto_chapters_config', 'audio_events_config', 'text_data'],
];

/** Throws an ApiError. */
function open(fields: ReadonlyMap<string, string>, { query }: Handshake): JobRequest {
  const asked = objectOf(fields.get('config') ?? '');
  if (asked.type !== 'transcription')
    throw badRequest(
      'config',
      '`config` is JSON, such as {"type":"transcription","transcription_config":{"language":"en"}}.',
    );
  refuseAddresses(asked, ['fetch_data']);
  refuseMembers(asked, UNSERVED);
  return { ...requestOf(query, objectIn(asked.transcription_config), 'batch'), asked };
}

const STATUS = { queued: 'running', processing: 'running', done: 'done', failed: 'rejected' } as const;

function jobOf({ id, file, asked, createdAt, endedAt, state }: ShownJob): JsonObject {
  const error = state.type === 'failed' && { timestamp: endedAt?.toISOString(), message: state.refusal.message };
  return jobMessage(id, STATUS[state.type], createdAt, file.filename, asked, {
    ...(state.type === 'done' ? { duration: Math.ceil(state.heard.transcription.duration) } : {}),
    ...(error === false ? {} : { errors: [error] }),
  });
}

type Done = Extract<JobState, { type: 'done' }>;

function transcriptOf(job: ShownJob, { query, captions }: JobMeans): Answer {
  const { state, asked } = job;
  if (state.type === 'failed') return refused(404, state.refusal.message, 'Job rejected');
  if (state.type !== 'done') return refused(404, 'The job is not done yet.', 'Transcription not ready');
  switch (query.get('format') ?? 'json-v2') {
    case 'json-v2':
      return jsonAnswer(wholeOf(job, state));
    case 'txt':
      return textAnswer(linesOf(turnsOf(state.heard.transcription), objectIn(asked.transcription_config)));
    case 'srt':
      return textAnswer(captions(state.heard.transcription, 'srt', { nameOf: (speaker) => `S${speaker + 1}` }));
    default:
      return refused(400, '`format` has to be json-v2, txt or srt.');
  }
}

function wholeOf(job: ShownJob, { heard: { transcription } }: Done): JsonObject {
  const { config, status: _, ...known } = jobOf(job);
  const { transcription_config } = objectIn(config);
  const created_at = job.endedAt?.toISOString();
  const word_delimiter = delimiterOf(objectIn(transcription_config).language);
  const metadata = {
    ...{ created_at, type: 'transcription', transcription_config, language_pack_info: { word_delimiter } },
    ...warningsIn(transcription),
  };
  return fileTranscript(known, metadata, turnsOf(transcription).flatMap(heardResults));
}

/** Whoever speaks is named where that was requested. */
function linesOf(turns: readonly HeardTurn[], { diarization, language }: JsonObject): string {
  if (diarization !== 'speaker') return `${turns.map(({ text }) => text).join(delimiterOf(language))}\n`;
  return turns
    .map(({ text, speaker }, at) => {
      const isSame = at > 0 && turns[at - 1]?.speaker === speaker;
      return isSame ? `${text}\n` : `SPEAKER: ${speaker === undefined ? 'UU' : `S${speaker + 1}`}\n${text}\n`;
    })
    .join('');
}

/** As places are written. */
function timeOf(text: string | null): string | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

const PATH = '/v2/jobs';

export const jobs: JobEndpoints = {
  [`POST ${PATH}`]: { does: 'keepAndAsk', part: 'data_file', open, answer: ({ id }) => jsonAnswer({ id }, 201) },
  [`GET ${PATH}`]: {
    does: 'list',
    answer: (all, { query }) =>
      jsonAnswer({ jobs: pageOf(all, query.get('limit'), timeOf(query.get('created_before'))).items.map(jobOf) }),
  },
  [`GET ${PATH}/:id`]: { does: 'show', answer: (job) => jsonAnswer({ job: jobOf(job) }) },
  [`GET ${PATH}/:id/transcript`]: { does: 'show', answer: transcriptOf },
  [`DELETE ${PATH}/:id`]: {
    does: 'remove',
    unless: (job, { query }) =>
      STATUS[job.state.type] === 'running' && booleanIn(query.get('force')) !== true
        ? refused(423, 'The job is under way. Add `force=true` to end it.')
        : undefined,
    answer: (job) => jsonAnswer({ job: { ...jobOf(job), status: 'deleted' } }),
  },
};
