// What a request for one of the gateway's own jobs asks for: the fields of a transcription, and those of the job. They are kept as they
// came, so that the next start of the node can do the same work.
import { apiError } from '../api/errors.ts';
import { RETENTION_SECONDS } from '../api/jobs.ts';
import { tagsText } from '../api/tags.ts';
import { ResponseFormat } from '../api/transcriptions.ts';
import type { Field } from '../http/multipart/form-fields.ts';
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
  /** Those of the request with those of its key, as one text. */
  tags: string | undefined;
}

/** What a form asks for. */
export type AskedInForm = Pick<OwnRequest, 'fields' | 'model' | 'responseFormat' | 'retentionSeconds'>;

const FORMATS = ResponseFormat.anyOf.map((each) => each.const);
/** Fields of the job itself. */
export const OWN_FIELDS: readonly string[] = ['retention_seconds'];

/**
 * @param audioUrl of a form without a file
 * @throws ApiError naming the field at fault
 */
export function readOwnRequest(form: readonly Field[], audioUrl = ''): AskedInForm {
  const bytes = Buffer.byteLength(JSON.stringify(form)) + audioUrl.length;
  if (bytes > FIELDS_BYTES_MAX)
    throw apiError(
      'invalid_request',
      `The fields without the file have ${bytes} bytes as JSON, and those of a job may have ${FIELDS_BYTES_MAX}. Send less, or use /v1/audio/transcriptions.`,
    );
  const one = new Map(form);
  if ((one.get('stream') ?? 'false') !== 'false')
    throw apiError('invalid_request', '`stream` is not for jobs. Leave it out, or use /v1/audio/transcriptions.', {
      param: 'stream',
    });
  const asked = one.get('response_format') || 'json';
  const responseFormat = FORMATS.find((each) => each === asked);
  if (responseFormat === undefined)
    throw apiError('invalid_request', `\`response_format\` is one of ${FORMATS.join(', ')}.`, {
      param: 'response_format',
    });
  return {
    fields: form.filter(([name]) => !OWN_FIELDS.includes(name)),
    model: one.get('model') ?? '',
    responseFormat,
    retentionSeconds: retentionOf(one.get('retention_seconds')),
  };
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

export const keptRequest = (request: OwnRequest): JsonObject => ({
  ...request,
  contentType: request.contentType ?? null,
  audioUrl: request.audioUrl ?? null,
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
    tags: tagsText(tags),
  };
}
