// What Gladia's clients come back for: files that are uploaded and transcribed as jobs, and live sessions after their end.
// https://docs.gladia.io/api-reference/v2/pre-recorded/init
import { callbackAt, callbackMethod, callbacksOf, jsonPost, withShownUrl } from '../../compat/callbacks.ts';
import {
  type Captions,
  type JobEndpoints,
  type JobMeans,
  type JobState,
  pageOf,
  type SessionEndpoints,
  type ShownFile,
  type ShownJob,
  type ShownSession,
  type WriteCallback,
} from '../../compat/jobs.ts';
import { audioAt, badRequest, refuseMembers, withShownAddress } from '../../compat/params.ts';
import { jsonAnswer, warningsIn } from '../../compat/request.ts';
import { toMilliseconds, turnsOf } from '../../compat/transcript.ts';
import { countIn, type JsonObject, listIn, objectIn, textIn } from '../../kit/json.ts';
import { fileMessage, jobMessage, metadataMessage, transcriptionMessage } from '../messages.ts';
import { utteranceOf } from './conversation.ts';
import { fileRequest, plainFile } from './params.ts';

const FILES = '/file';
const PATH = '/v2/pre-recorded';
/** What would be made of the transcript. */
const UNSERVED = [
  ...['translation', 'summarization', 'named_entity_recognition', 'sentiment_analysis'],
  ...[
    'chapterization',
    'moderation',
    'audio_to_llm',
    'structured_data_extraction',
    'sentences',
    'diarization_enhanced',
  ],
];
const SUBTITLES = ['srt', 'vtt'] as const;

const fileOf = ({ id, filename, bytes, audio }: ShownFile) =>
  fileMessage(id, filename, bytes, audio?.seconds ?? 0, audio?.channels ?? 1);

/** Without the result in lists: of many jobs that is too much. */
function jobOf(job: ShownJob, captions?: Captions): JsonObject {
  const { id, file, asked, state } = job;
  const { custom_metadata, ...request_params } = asked;
  const result = captions !== undefined && state.type === 'done' ? resultOf(job, state, captions) : null;
  return jobMessage(
    { id, kind: 'pre-recorded', status: state.type === 'failed' ? 'error' : state.type },
    job,
    fileOf(file),
    { request_params, ...(custom_metadata === undefined ? {} : { custom_metadata }) },
    state.type === 'failed' ? state.refusal : undefined,
    result,
  );
}

const secondsOf = ({ createdAt, endedAt }: { createdAt: Date; endedAt: Date | undefined }): number =>
  ((endedAt ?? createdAt).getTime() - createdAt.getTime()) / 1_000;

function resultOf(job: ShownJob, { heard }: Extract<JobState, { type: 'done' }>, captions: Captions) {
  const { text, duration } = heard.transcription;
  const utterances = turnsOf(heard.transcription).map((turn) => utteranceOf(turn, ''));
  const subtitles = () =>
    formatsOf(job.asked).map((format) => ({ format, subtitles: captions(heard.transcription, format) }));
  return {
    metadata: { ...metadataMessage(duration, 1, duration, secondsOf(job)), ...warningsIn(heard.transcription) },
    transcription: {
      ...transcriptionMessage(text, utterances),
      ...(job.asked.subtitles === true ? { subtitles: subtitles() } : {}),
    },
  };
}

/** Throws an ApiError. */
function formatsOf({ subtitles_config }: JsonObject): (typeof SUBTITLES)[number][] {
  const asked = listIn(objectIn(subtitles_config).formats);
  const known = SUBTITLES.filter((format) => asked.includes(format));
  if (known.length < asked.length)
    throw badRequest('subtitles_config', `\`subtitles_config.formats\` has ${SUBTITLES.join(' and ')}.`);
  return asked.length === 0 ? ['srt'] : known;
}

/** An address alone is one as well. Throws an ApiError. */
function callbackIn({ callback, callback_url, callback_config }: JsonObject) {
  const { url, method } = objectIn(callback_config);
  const isNamed = textIn(url) || textIn(callback_url);
  if (callback === true && !isNamed)
    throw badRequest(
      'callback_config',
      '`callback_config` is missing: {"url":"https://example.com/","method":"POST"}.',
    );
  if (callback === false || !isNamed) return {};
  return callbacksOf(
    textIn(url)
      ? callbackAt(url, 'callback_config.url', { method: callbackMethod(method, 'callback_config.method') })
      : callbackAt(callback_url, 'callback_url'),
  );
}

/** Without secrets. */
function shownOf(asked: JsonObject): JsonObject {
  const shown = withShownUrl(withShownAddress(asked, 'audio_url'), 'callback_url');
  const { callback_config: config } = asked;
  return config === objectIn(config) ? { ...shown, callback_config: withShownUrl(objectIn(config), 'url') } : shown;
}

/** https://docs.gladia.io/api-reference/v2/pre-recorded/callback/success */
export const callbackPost: WriteCallback = (job, callback, { captions }) => {
  const { id, state, asked } = job;
  const custom = asked.custom_metadata === undefined ? {} : { custom_metadata: asked.custom_metadata };
  if (state.type === 'done')
    return jsonPost(callback, {
      ...{ id, event: 'transcription.success', payload: resultOf(job, state, captions) },
      ...custom,
    });
  const { status: code, message } = state.refusal;
  return jsonPost(callback, { id, event: 'transcription.error', error: { code, message }, ...custom });
};

export const jobs: JobEndpoints = {
  'POST /v2/upload': {
    does: 'keep',
    takes: { part: 'audio' },
    isMeasured: true,
    answer: (file, { url }) => jsonAnswer({ audio_url: url(`${FILES}/${file.id}`), audio_metadata: fileOf(file) }),
  },
  [`POST ${PATH}`]: {
    does: 'ask',
    open(said, { query }) {
      const asked = plainFile(said);
      const audio = audioAt(asked.audio_url, `/compat/gladia${FILES}`, 'audio_url');
      refuseMembers(asked, UNSERVED);
      formatsOf(asked);
      return { ...fileRequest(query, asked), ...audio, asked: shownOf(asked), ...callbackIn(asked) };
    },
    answer: ({ id }, { url }) => jsonAnswer({ id, result_url: url(`${PATH}/${id}`) }, 201),
  },
  [`GET ${PATH}`]: {
    does: 'list',
    answer: (all, means) => listed(PATH, all, means, (job) => jobOf(job)),
  },
  [`GET ${PATH}/:id`]: { does: 'show', answer: (job, { captions }) => jsonAnswer(jobOf(job, captions)) },
  [`DELETE ${PATH}/:id`]: { does: 'remove', answer: (job) => jsonAnswer({ id: job.id }, 202) },
};

const SESSIONS = '/v2/live';

const channelsOf = ({ asked }: ShownSession): number => countIn(asked.channels) ?? 1;

const statusOf = ({ endedAt, failure }: ShownSession) =>
  endedAt === undefined ? 'processing' : failure === undefined ? 'done' : 'error';

/** A session that failed has what was heard until then. Without the result in lists: of many sessions that is too much. */
function sessionOf(session: ShownSession, hasResult = false): JsonObject {
  const { asked: request_params, failure } = session;
  const result = hasResult && session.endedAt !== undefined ? sessionResult(session) : null;
  // The audio is not kept.
  return jobMessage(
    { id: session.id, kind: 'live', status: statusOf(session) },
    session,
    null,
    { request_params },
    failure,
    result,
  );
}

function sessionResult(session: ShownSession): JsonObject {
  const { seconds } = session;
  const channels = channelsOf(session);
  const utterances = session.turns().map((turn) => utteranceOf(turn, ''));
  return {
    metadata: metadataMessage(seconds, channels, toMilliseconds(seconds * channels), secondsOf(session)),
    transcription: transcriptionMessage(utterances.map(({ text }) => text).join(' '), utterances),
  };
}

export const sessions: SessionEndpoints = {
  [`GET ${SESSIONS}`]: {
    does: 'list',
    answer: (all, means) => listed(SESSIONS, all, means, (session) => sessionOf(session)),
  },
  [`GET ${SESSIONS}/:id`]: {
    does: 'show',
    answer: (session) => jsonAnswer(sessionOf(session, true)),
  },
  [`DELETE ${SESSIONS}/:id`]: { does: 'remove', answer: ({ id }) => jsonAnswer({ id }, 202) },
};

/** A page of a list: an offset and a limit, and addresses of the pages beside it. @param all newest first */
function listed<Item extends { readonly id: string; readonly createdAt: Date }>(
  path: string,
  all: readonly Item[],
  { query, url }: Pick<JobMeans, 'query' | 'url'>,
  summaryOf: (item: Item) => JsonObject,
) {
  const offset = countIn(Number(query.get('offset'))) ?? 0;
  const { items, limit, last } = pageOf(all.slice(offset), query.get('limit'));
  const at = (from: number) => url(`${path}?offset=${from}&limit=${limit}`);
  const next = last === undefined ? null : at(offset + items.length);
  return jsonAnswer({ first: at(0), current: at(offset), next, items: items.map(summaryOf) });
}
