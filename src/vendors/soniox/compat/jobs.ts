// Files of Soniox' clients: an upload, a transcription that is requested, looked after until it is completed, and fetched.
// https://soniox.com/docs/stt/api-reference
import { booleanIn } from '../../../api/boolean.ts';
import { authHeader, callbackAt, callbacksOf, jsonPost, withShownUrl } from '../../compat/callbacks.ts';
import type { Answer, Handshake } from '../../compat/dialect.ts';
import {
  type JobAudio,
  type JobEndpoints,
  type JobMeans,
  type JobRequest,
  pageOf,
  placeOf,
  type ShownFile,
  type ShownJob,
  type WriteCallback,
} from '../../compat/jobs.ts';
import { badRequest, ownParameters, refuseAddresses, withShownAddress } from '../../compat/params.ts';
import { jsonAnswer, warningsIn } from '../../compat/request.ts';
import { turnsOf } from '../../compat/transcript.ts';
import { type JsonObject, textIn } from '../../kit/json.ts';
import { fileMessage, jobMessage, refusalBody, transcriptMessage } from '../messages.ts';
import { millisecondsOf, tokensOf } from './conversation.ts';
import { FLAGS, requestOf } from './params.ts';

const FILES = '/v1/files';
const PATH = '/v1/transcriptions';
const MODEL = 'stt-async-v5';
/** In the place of the value of a header. */
const MASK = '*'.repeat(18);

const fileOf = ({ id, filename, bytes, createdAt, fields }: ShownFile) => ({
  ...fileMessage(id, filename, bytes, createdAt),
  client_reference_id: fields.get('client_reference_id') ?? null,
});

/** Throws an ApiError. */
function open(asked: JsonObject, { query }: Handshake): JobRequest & JobAudio {
  const request = requestOf(asked, ownParameters(query), 'batch');
  const model = request.model ?? MODEL;
  return { ...request, model, ...audioIn(asked), asked: shownOf(asked), ...webhookIn(asked) };
}

/** Throws an ApiError. */
function webhookIn({ webhook_url, webhook_auth_header_name: name, webhook_auth_header_value: value }: JsonObject) {
  const headers = authHeader(name, value, ['webhook_auth_header_name', 'webhook_auth_header_value']);
  return callbacksOf(callbackAt(webhook_url, 'webhook_url', { headers }));
}

/** Without secrets. */
function shownOf(asked: JsonObject): JsonObject {
  const shown = withShownUrl(withShownAddress(asked, 'audio_url'), 'webhook_url');
  return textIn(asked.webhook_auth_header_value) ? { ...shown, webhook_auth_header_value: MASK } : shown;
}

/** https://soniox.com/docs/stt/async/webhooks */
export const callbackPost: WriteCallback = ({ id, state }, callback) =>
  jsonPost(callback, { id, status: STATUS[state.type] });

/** Throws an ApiError. */
function audioIn(asked: JsonObject): JobAudio {
  const fileId = textIn(asked.file_id);
  const url = textIn(asked.audio_url);
  if (fileId !== undefined) {
    refuseAddresses(asked, ['audio_url']);
    return { fileId };
  }
  if (url !== undefined) return { source: { url, param: 'audio_url' } };
  throw badRequest(
    'file_id',
    '`file_id` is missing: upload the file to /v1/files and name it by its id, or send its address as `audio_url`.',
  );
}

const STATUS = { queued: 'queued', processing: 'processing', done: 'completed', failed: 'error' } as const;

const jobOf = ({ id, file, asked, createdAt, state, callbackStatus = null }: ShownJob): JsonObject =>
  jobMessage(id, asked, STATUS[state.type], {
    ...{ created_at: createdAt.toISOString(), filename: file.filename },
    audio_url: textIn(asked.audio_url) ?? null,
    ...(textIn(asked.webhook_url) ? { webhook_status_code: callbackStatus } : {}),
    model: textIn(asked.model) ?? MODEL,
    // Clients require both, whatever was requested.
    ...Object.fromEntries(FLAGS.map((name) => [name, booleanIn(asked[name]) === true])),
    ...(state.type === 'done' ? { audio_duration_ms: millisecondsOf(state.heard.transcription.duration) } : {}),
    ...(state.type === 'failed' ? { error_type: state.refusal.code, error_message: state.refusal.message } : {}),
  });

function transcriptOf({ id, state }: ShownJob, { requestId }: JobMeans): Answer {
  if (state.type !== 'done') {
    // Clients that wait for a transcription fetch its transcript whatever its status is: they see the reason here alone.
    const reason = state.type === 'failed' ? `: ${state.refusal.message}` : ', and has to be completed first.';
    const message = `The transcription has the status ${STATUS[state.type]}${reason}`;
    const error_type = 'transcription_invalid_state';
    return jsonAnswer(refusalBody(409, message, requestId, { type: error_type }), 409);
  }
  const { transcription } = state.heard;
  const tokens = turnsOf(transcription).flatMap((turn, at) => tokensOf(turn, at === 0 ? '' : ' '));
  return jsonAnswer(transcriptMessage(id, transcription.text, tokens, warningsIn(transcription)));
}

function cursorPageOf<Item extends ShownFile | ShownJob>(all: readonly Item[], query: URLSearchParams) {
  const { items, last } = pageOf(all, query.get('limit'), query.get('cursor'));
  return { items, next_page_cursor: last === undefined ? null : placeOf(last) };
}

const countOf = ({ length }: readonly unknown[]): Answer =>
  jsonAnswer({ total: length, public_api: length, playground: 0 });

const GONE: Answer = { status: 204, headers: {}, body: '' };

export const jobs: JobEndpoints = {
  [`POST ${FILES}`]: { does: 'keep', takes: { part: 'file' }, answer: (file) => jsonAnswer(fileOf(file), 201) },
  [`GET ${FILES}`]: {
    does: 'listFiles',
    answer(all, { query }) {
      const { items, next_page_cursor } = cursorPageOf(all, query);
      return jsonAnswer({ files: items.map(fileOf), next_page_cursor });
    },
  },
  [`GET ${FILES}/count`]: { does: 'listFiles', answer: countOf },
  [`GET ${FILES}/:id`]: { does: 'showFile', answer: (file) => jsonAnswer(fileOf(file)) },
  [`DELETE ${FILES}/:id`]: { does: 'removeFile', answer: () => GONE },
  [`POST ${PATH}`]: { does: 'ask', open, answer: (job) => jsonAnswer(jobOf(job), 201) },
  [`GET ${PATH}`]: {
    does: 'list',
    answer(all, { query }) {
      const { items, next_page_cursor } = cursorPageOf(all, query);
      return jsonAnswer({ transcriptions: items.map(jobOf), next_page_cursor });
    },
  },
  [`GET ${PATH}/count`]: { does: 'list', answer: countOf },
  [`GET ${PATH}/:id`]: { does: 'show', answer: (job) => jsonAnswer(jobOf(job)) },
  [`GET ${PATH}/:id/transcript`]: { does: 'show', answer: transcriptOf },
  [`DELETE ${PATH}/:id`]: { does: 'remove', answer: () => GONE },
};
