// What a request for one of the gateway's own jobs asks for: the fields of a transcription, and those of the job. They are kept as they
// came, so that the next start of the node can do the same work.
import { apiError } from '../api/errors.ts';
import { JOB_FIELDS, RETENTION_SECONDS } from '../api/jobs.ts';
import { tagsText } from '../api/tags.ts';
import { ResponseFormat } from '../api/transcriptions.ts';
import type { Field } from '../http/multipart/form-fields.ts';
import { isWebhookSecret, SECRET_BYTES_MAX, SECRET_BYTES_MIN } from '../runtime/outbound/signature.ts';
import type { JsonObject } from '../vendors/kit/json.ts';

/** Of all fields, as JSON. */
export const FIELDS_BYTES_MAX = 8 * 1024;

export interface OwnRequest {
  /** Those of the transcription, as they came. */
  fields: readonly Field[];
  model: string;
  responseFormat: ResponseFormat;
  retentionSeconds: number;
  /** The audio, among the files of the node; empty where it is at an address. */
  audio: string;
  contentType: string | undefined;
  /** As the client wrote it. It may have a signature, so it is kept sealed only. */
  audioUrl: string | undefined;
  /** Where the end of the job is posted, as it may be shown. */
  webhookUrl: string | undefined;
  /** Those of the request with those of its key, as one text. */
  tags: string | undefined;
}

/** What a form asks for. */
export interface AskedInForm extends Pick<OwnRequest, 'fields' | 'model' | 'responseFormat' | 'retentionSeconds'> {
  /** As the client wrote it. */
  webhook: { url: string; secret: string | undefined } | undefined;
}

const FORMATS = ResponseFormat.anyOf.map((each) => each.const);

/**
 * @param audioUrl of a form without a file
 * @throws ApiError naming the field at fault
 */
export function readOwnRequest(form: readonly Field[], audioUrl = ''): AskedInForm {
  const bytes = Buffer.byteLength(JSON.stringify(form)) + audioUrl.length;
  if (bytes > FIELDS_BYTES_MAX)
    throw apiError(
      'invalid_request',
      `The fields other than the file have ${bytes} bytes as JSON. A job accepts at most ${FIELDS_BYTES_MAX}. Send less, or use /v1/audio/transcriptions.`,
    );
  const one = new Map(form);
  if ((one.get('stream') ?? 'false') !== 'false')
    throw apiError('invalid_request', 'Jobs do not support `stream`. Leave it out, or use /v1/audio/transcriptions.', {
      param: 'stream',
    });
  const asked = one.get('response_format') || 'json';
  const responseFormat = FORMATS.find((each) => each === asked);
  if (responseFormat === undefined)
    throw apiError('invalid_request', `\`response_format\` is one of ${FORMATS.join(', ')}.`, {
      param: 'response_format',
    });
  return {
    fields: form.filter(([name]) => !JOB_FIELDS.includes(name)),
    model: one.get('model') ?? '',
    responseFormat,
    retentionSeconds: retentionOf(one.get('retention_seconds')),
    webhook: webhookOf(one.get('webhook_url') ?? '', one.get('webhook_secret') ?? ''),
  };
}

function webhookOf(url: string, secret: string): AskedInForm['webhook'] {
  if (secret !== '' && !isWebhookSecret(secret))
    throw apiError(
      'invalid_request',
      `\`webhook_secret\` must be \`whsec_\` and the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} random bytes. Your server uses it to verify posts.`,
      { param: 'webhook_secret' },
    );
  if (url !== '') return { url, secret: secret === '' ? undefined : secret };
  if (secret === '') return undefined;
  throw apiError('invalid_request', '`webhook_secret` needs a `webhook_url`. Send one, or leave the secret out.', {
    param: 'webhook_url',
  });
}

function retentionOf(text: string | undefined): number {
  const { min, max, default: usual } = RETENTION_SECONDS;
  if (text === undefined || text === '') return usual;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw apiError(
    'invalid_request',
    `\`retention_seconds\` is an integer from ${min} to ${max}; ${usual} when absent.`,
    {
      param: 'retention_seconds',
    },
  );
}

/** The fields of a transcription that all formats can be made of. */
export function wholeFields({ fields, responseFormat }: Pick<OwnRequest, 'fields' | 'responseFormat'>): Field[] {
  const others = fields.filter(
    ([name]) => !['response_format', 'stream'].includes(name) && !name.startsWith('timestamp_granularities'),
  );
  const hasSpeakers = responseFormat === 'diarized_json' && !others.some(([name]) => name === 'diarization');
  return [...others, ...(hasSpeakers ? ([['diarization', 'true']] as const) : []), ['response_format', 'verbose_json']];
}

/** What is posted is made of the job, so it is kept for the attempts: six of them within this time. */
const WEBHOOK_KEPT_SECONDS = 3_600;

/** How long the job is kept after its end. */
export const keptMsOf = ({
  retentionSeconds,
  webhookUrl,
}: Pick<OwnRequest, 'retentionSeconds' | 'webhookUrl'>): number =>
  1_000 * Math.max(retentionSeconds, webhookUrl === undefined ? 0 : WEBHOOK_KEPT_SECONDS);

export const keptRequest = (request: OwnRequest): JsonObject => ({
  ...request,
  contentType: request.contentType ?? null,
  audioUrl: request.audioUrl ?? null,
  webhookUrl: request.webhookUrl ?? null,
  tags: request.tags ?? null,
});

/** What was kept of a request. */
export function askedOf(asked: JsonObject): OwnRequest {
  const {
    fields = [],
    model = '',
    responseFormat = 'json',
    retentionSeconds,
    audio = '',
    contentType,
    audioUrl,
    webhookUrl,
    tags,
  } = asked;
  return {
    fields: fields as unknown as Field[],
    model: String(model),
    responseFormat: responseFormat as ResponseFormat,
    retentionSeconds: Number(retentionSeconds ?? RETENTION_SECONDS.default),
    audio: String(audio),
    contentType: typeof contentType === 'string' ? contentType : undefined,
    audioUrl: typeof audioUrl === 'string' ? audioUrl : undefined,
    webhookUrl: typeof webhookUrl === 'string' ? webhookUrl : undefined,
    tags: tagsText(tags),
  };
}
