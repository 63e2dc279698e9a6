// Files of Speechmatics' clients: a job is requested with its file, and looked after until it is done.
// https://docs.speechmatics.com/api-ref/batch/create-a-new-job
import { type AudioSource, shownAddress } from '../../../api/audio-source.ts';
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
import { badRequest, refuseMembers } from '../../compat/params.ts';
import { jsonAnswer, textAnswer, warningsIn } from '../../compat/request.ts';
import { type HeardTurn, turnsOf } from '../../compat/transcript.ts';
import { type JsonObject, listIn, objectIn, objectOf, textIn } from '../../kit/json.ts';
import { fileTranscript, jobMessage } from '../messages.ts';
import { heardResults } from './conversation.ts';
import { refused } from './errors.ts';
import { delimiterOf, requestOf } from './params.ts';

/** What would be told elsewhere, or be made of the transcript. */
const UNSERVED = [
  ...['notification_config', 'translation_config', 'summarization_config', 'sentiment_analysis_config'],
  ...['topic_detection_config', 'auto_chapters_config', 'audio_events_config', 'text_data'],
];

/** Throws an ApiError. */
function open(fields: ReadonlyMap<string, string>, { query }: Handshake): JobRequest & { source?: AudioSource } {
  const asked = objectOf(fields.get('config') ?? '');
  if (asked.type !== 'transcription')
    throw badRequest(
      'config',
      '`config` is JSON, such as {"type":"transcription","transcription_config":{"language":"en"}}.',
    );
  refuseMembers(asked, UNSERVED);
  const request = requestOf(query, objectIn(asked.transcription_config), 'batch');
  const source = sourceIn(asked);
  if (source === undefined) return { ...request, asked };
  return { ...request, source, asked: { ...asked, fetch_data: { url: shownAddress(source.url) } } };
}

/** Throws an ApiError. */
function sourceIn({ fetch_data }: JsonObject): AudioSource | undefined {
  if (fetch_data === undefined || fetch_data === null) return undefined;
  const { url, auth_headers } = objectIn(fetch_data);
  if (listIn(auth_headers).length > 0)
    throw badRequest(
      'fetch_data.auth_headers',
      '`fetch_data.auth_headers` is not served: the gateway sends no credentials to other servers. Use a presigned link, or upload the file.',
    );
  const text = textIn(url);
  if (text === undefined || text === '')
    throw badRequest('fetch_data.url', '`fetch_data.url` is missing: the address of the audio.');
  return { url: text, param: 'fetch_data.url' };
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
