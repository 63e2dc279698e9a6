// Files of Speechmatics' clients: a job is requested with its file, and looked after until it is done.
// https://docs.speechmatics.com/api-ref/batch/create-a-new-job
import { type AudioSource, shownAddress } from '../../../api/audio-source.ts';
import { booleanIn } from '../../../api/boolean.ts';
import { CALLBACKS_MAX } from '../../../api/bounds.ts';
import { callbackAt, callbackMethod, checkedHeader, wholeForm } from '../../compat/callbacks.ts';
import type { Answer, Handshake } from '../../compat/dialect.ts';
import {
  type Captions,
  type EndedJob,
  type JobCallback,
  type JobEndpoints,
  type JobMeans,
  type JobRequest,
  type JobState,
  pageOf,
  type ShownJob,
  type WriteCallback,
} from '../../compat/jobs.ts';
import { badRequest, refuseMembers } from '../../compat/params.ts';
import { jsonAnswer, textAnswer, warningsIn } from '../../compat/request.ts';
import { type HeardTurn, turnsOf } from '../../compat/transcript.ts';
import { type JsonObject, listIn, objectIn, objectOf, textIn } from '../../kit/json.ts';
import { fileTranscript, jobMessage } from '../messages.ts';
import { heardResults } from './conversation.ts';
import { refused } from './errors.ts';
import { delimiterOf, requestOf } from './params.ts';

/** What would be made of the transcript. */
const UNSERVED = [
  ...['translation_config', 'summarization_config', 'sentiment_analysis_config'],
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
  const callbacks = callbacksIn(asked);
  return {
    ...request,
    ...(source === undefined ? {} : { source }),
    ...(callbacks.length === 0 ? {} : { callbacks }),
    asked: shownOf(asked, source),
  };
}

/** Without secrets. */
function shownOf(asked: JsonObject, source: AudioSource | undefined): JsonObject {
  const { notification_config: config, ...shown } = asked;
  return {
    ...shown,
    ...(source === undefined ? {} : { fetch_data: { url: shownAddress(source.url) } }),
    ...(config === undefined || config === null
      ? {}
      : { notification_config: notificationsIn(config).map(shownNotification) }),
  };
}

const shownNotification = ({ auth_headers: _, ...notification }: JsonObject): JsonObject => ({
  ...notification,
  url: shownAddress(textIn(notification.url) ?? ''),
});

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

/** One alone may come without a list. */
const notificationsIn = (config: unknown): JsonObject[] =>
  (Array.isArray(config) ? config : [config]).map((each) => objectIn(each));

const NOTIFICATIONS = 'notification_config';
/** What may be sent of a job: `transcript` is `transcript.json-v2`. */
const CONTENTS: readonly string[] = [
  ...['jobinfo', 'transcript', 'transcript.json-v2', 'transcript.txt', 'transcript.srt'],
];

/** Throws an ApiError. */
function callbacksIn({ notification_config: config }: JsonObject): JobCallback[] {
  if (config === undefined || config === null) return [];
  const notifications = notificationsIn(config);
  if (notifications.length > CALLBACKS_MAX)
    throw badRequest(
      NOTIFICATIONS,
      `\`${NOTIFICATIONS}\` has ${notifications.length} addresses. Send at most ${CALLBACKS_MAX}.`,
    );
  return notifications.map(({ url, method, contents, auth_headers }) => {
    const callback = callbackAt(url, `${NOTIFICATIONS}.url`, {
      method: callbackMethod(method, `${NOTIFICATIONS}.method`),
      headers: listIn(auth_headers).map(headerIn),
      ...(Array.isArray(contents) ? { contents: contents.map(contentIn) } : {}),
    });
    if (callback === undefined)
      throw badRequest(NOTIFICATIONS, `\`${NOTIFICATIONS}\` is a list, such as [{"url":"https://example.com/"}].`);
    return callback;
  });
}

/** `Authorization: Bearer …`. Throws an ApiError. */
function headerIn(line: unknown): [string, string] {
  const param = `${NOTIFICATIONS}.auth_headers`;
  const [, name, value] = /^([^:]*):[\t ]*(.*)$/s.exec(textIn(line) ?? '') ?? [];
  return checkedHeader(name, value?.trimEnd(), [param, param]);
}

/** Throws an ApiError. */
function contentIn(content: unknown): string {
  if (typeof content === 'string' && CONTENTS.includes(content)) return content;
  throw badRequest(
    `${NOTIFICATIONS}.contents`,
    `\`${NOTIFICATIONS}.contents\` has other contents than ${CONTENTS.join(', ')}. The others are not kept or not made here.`,
  );
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
  const { state } = job;
  if (state.type === 'failed') return refused(404, state.refusal.message, 'Job rejected');
  if (state.type !== 'done') return refused(404, 'The job is not done yet.', 'Transcription not ready');
  const format = query.get('format') ?? 'json-v2';
  return transcriptIn(format, job, state, captions) ?? refused(400, '`format` has to be json-v2, txt or srt.');
}

function transcriptIn(format: string, job: ShownJob, state: Done, captions: Captions): Answer | undefined {
  const { transcription } = state.heard;
  switch (format) {
    case 'json-v2':
      return jsonAnswer(wholeOf(job, state));
    case 'txt':
      return textAnswer(linesOf(turnsOf(transcription), objectIn(job.asked.transcription_config)));
    case 'srt':
      return textAnswer(captions(transcription, 'srt', { nameOf: (speaker) => `S${speaker + 1}` }));
    default:
      return undefined;
  }
}

interface Attachment {
  content: string;
  name: string;
  answer: Answer;
}

/** What of a job is sent: of one that failed there is no transcript. */
function attachmentsOf(job: EndedJob, contents: readonly string[], captions: Captions): Attachment[] {
  const { state } = job;
  return contents.flatMap((content) => {
    if (content === 'jobinfo') return [{ content, name: 'jobinfo.json', answer: jsonAnswer({ job: jobOf(job) }) }];
    const format = content.slice('transcript.'.length) || 'json-v2';
    const answer = state.type === 'done' ? transcriptIn(format, job, state, captions) : undefined;
    const name = `transcript.${format === 'json-v2' ? 'json' : format}`;
    return answer === undefined ? [] : [{ content, name, answer }];
  });
}

/** Of an address that the audio could not be fetched from. */
const FETCHED = 'fetch_data.url';

/** https://docs.speechmatics.com/speech-to-text/batch/notifications */
export const callbackPost: WriteCallback = (job, callback, { captions }) => {
  const { id, state } = job;
  const { method, contents = ['transcript'] } = callback;
  const status = state.type === 'done' ? 'success' : failureOf(state.refusal.extras.param);
  const attachments = attachmentsOf(job, contents, captions);
  const [first] = attachments;
  const own = Object.fromEntries(callback.headers);
  const to = { url: withQuery(callback.url, `id=${id}&status=${status}`), method };
  if (contents.length === 0 || first === undefined) return { ...to, headers: own, body: '' };
  if (callback.contents?.length === 1)
    return { ...to, headers: { ...own, ...first.answer.headers }, body: first.answer.body };
  // Without `contents`, receivers find the transcript under the name that it had in the first version.
  const named = callback.contents === undefined ? [{ ...first, content: 'data_file' }] : attachments;
  return { ...to, ...formOf(named, own) };
};

/** The query that is there stays as it is: it may be signed. */
function withQuery(text: string, query: string): string {
  const [url = '', own] = text.split('#', 1)[0]?.split(/\?(.*)/s) ?? [];
  return own ? `${url}?${own}&${query}` : `${url}?${query}`;
}

const failureOf = (param: string | undefined): string => (param === FETCHED ? 'fetch_error' : 'error');

function formOf(attachments: readonly Attachment[], own: Readonly<Record<string, string>>) {
  const { contentType, bytes } = wholeForm(
    attachments.map(({ content, name, answer }) => ({
      disposition: `name="${content}"; filename="${name}"`,
      type: answer.headers['Content-Type'] as string,
      body: answer.body,
    })),
  );
  return { headers: { ...own, 'Content-Type': contentType }, body: bytes };
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
