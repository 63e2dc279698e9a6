// The operations that turn speech into text, and those that come before: models and client tokens.

import { Type } from '@sinclair/typebox';
import { ErrorAnswer } from '../../api/error-body.ts';
import type { ErrorCode } from '../../api/error-catalogue.ts';
import { FileForm, FileObject, JobAnswer, TranscriptionQuery } from '../../api/jobs.ts';
import { Model, ModelList, ModelsQuery, ShortModelList } from '../../api/models.ts';
import { ListenQuery } from '../../api/request-parameters.ts';
import { TokenRequest, TokenResponse } from '../../api/tokens.ts';
import {
  DiarizedTranscription,
  TranscriptDelta,
  TranscriptDone,
  Transcription,
  TranscriptSegment,
  VerboseTranscription,
} from '../../api/transcriptions.ts';
import * as examples from '../schemas/examples.ts';
import {
  FILE_CODES,
  IDEMPOTENCY_KEY,
  KEY_CODES,
  LIVE_CODES,
  type Operation,
  QUERY_CODES,
  TOKEN_CODES,
} from './operation.ts';

/** Of a slug. */
const slugSegments = {
  provider: { type: 'string', description: 'The part of the slug before the slash.', example: 'local' },
  model: { type: 'string', description: 'The part of the slug after the slash.', example: 'commands-en' },
};

const listModels: Operation = {
  id: 'listModels',
  method: 'get',
  path: '/v1/models',
  tag: 'Models',
  summary: 'List models',
  description:
    'The models that there are, with the prices in force and whether you can use them. The shape is that of OpenAI’s list, with more members.',
  security: 'key',
  query: ModelsQuery,
  answers: {
    200: {
      description: 'The models.',
      forms: {
        'application/json': {
          schema: Type.Union([ModelList, ShortModelList]),
          example: { object: 'list', data: [examples.model] },
        },
      },
    },
  },
  errors: [...KEY_CODES, ...QUERY_CODES],
  curl: 'curl {base}/v1/models -H "Authorization: Bearer $VOXGATE_KEY"',
};

const getModel: Operation = {
  id: 'getModel',
  method: 'get',
  path: '/v1/models/{provider}/{model}',
  tag: 'Models',
  summary: 'Get a model',
  description: 'One model, by its slug.',
  security: 'key',
  segments: slugSegments,
  answers: {
    200: { description: 'The model.', forms: { 'application/json': { schema: Model, example: examples.model } } },
  },
  errors: [...KEY_CODES, 'model_not_found', 'not_found'],
  curl: 'curl {base}/v1/models/local/commands-en -H "Authorization: Bearer $VOXGATE_KEY"',
};

const getModelBySlug: Operation = {
  ...getModel,
  id: 'getModelBySlug',
  path: '/v1/models/{slug}',
  summary: 'Get a model by its escaped slug',
  description: 'The same, with the slash of the slug percent-encoded, as OpenAI’s libraries send it.',
  segments: { slug: { type: 'string', description: 'The slug.', example: 'local/commands-en' } },
  curl: 'curl {base}/v1/models/local%2Fcommands-en -H "Authorization: Bearer $VOXGATE_KEY"',
};

const createToken: Operation = {
  id: 'createToken',
  method: 'post',
  path: '/v1/tokens',
  tag: 'Tokens',
  summary: 'Mint a client token',
  description:
    'A short-lived credential for a browser or a device: it opens `/v1/listen` and nothing else, on the bill and within the limits of the key that minted it. The body may be left out. `RateLimit-*` is of tokens here, which are fewer than requests.',
  security: 'key',
  body: { required: false, type: 'application/json', schema: TokenRequest, example: { ttl_seconds: 60 } },
  answers: {
    200: {
      description: 'The token.',
      forms: { 'application/json': { schema: TokenResponse, example: examples.token } },
    },
  },
  errors: [
    ...KEY_CODES,
    ...QUERY_CODES,
    'scope_not_allowed',
    'request_timeout',
    'file_too_large',
    'unsupported_media_type',
  ],
  curl: `curl {base}/v1/tokens -H "Authorization: Bearer $VOXGATE_KEY" -H 'Content-Type: application/json' -d '{"ttl_seconds":60}'`,
};

const createTranscription: Operation = {
  id: 'createTranscription',
  method: 'post',
  path: '/v1/audio/transcriptions',
  tag: 'Files',
  summary: 'Transcribe a file',
  description:
    'One call: the form uploads the audio, the answer is the transcript. Fields come in any order; a large file whose fields are all in front of it is with the provider while it still arrives. `audio_url` names a file that the gateway fetches instead: in a form without `file`, or in a JSON object. OpenAI’s client libraries work unchanged.',
  security: 'upload',
  query: TranscriptionQuery,
  headers: IDEMPOTENCY_KEY,
  body: {
    required: true,
    type: 'multipart/form-data',
    schema: FileForm,
    example: { model: 'local/commands-en', response_format: 'verbose_json', file: '(the bytes of the file)' },
    also: {
      type: 'application/json',
      schema: FileObject,
      example: { model: 'local/commands-en', audio_url: 'https://example.com/commands.wav' },
    },
  },
  answers: {
    200: {
      description: 'The transcript, in the form that `response_format` and `stream` ask for.',
      headers: ['Voxgate-Warning', 'Idempotency-Replayed'],
      forms: {
        'application/json': {
          schema: [Transcription, VerboseTranscription, DiarizedTranscription],
          example: examples.verbose,
        },
        'text/plain': {
          schema: { text: 'The text, with `response_format=text`; subtitles with `srt`.' },
          example: 'set the temperature to twenty one degrees\n',
        },
        'text/vtt': {
          schema: { text: 'Subtitles as WebVTT.' },
          example: 'WEBVTT\n\n00:00:00.310 --> 00:00:02.780\nset the temperature to twenty one degrees\n',
        },
        'text/event-stream': {
          schema: {
            text: 'Server-sent events, with `stream=true`. When the work fails behind the first of them, the last one is an `error` with the body of a refusal.',
            events: [TranscriptDelta, TranscriptSegment, TranscriptDone, ErrorAnswer],
          },
          example: 'data: {"type":"transcript.text.delta","delta":"set the"}\n\n',
        },
      },
    },
    202: {
      description: 'The job, with `async=true`.',
      headers: ['Idempotency-Replayed'],
      forms: { 'application/json': { schema: JobAnswer, example: examples.job } },
    },
  },
  errors: [...KEY_CODES, ...TOKEN_CODES, ...QUERY_CODES, ...FILE_CODES],
  curl: 'curl {base}/v1/audio/transcriptions -H "Authorization: Bearer $VOXGATE_KEY" \\\n  -F model=local/commands-en -F response_format=verbose_json -F file=@commands.wav',
};

const handshakeCodes: readonly ErrorCode[] = [...KEY_CODES, ...QUERY_CODES, ...LIVE_CODES];

const listen: Operation = {
  id: 'listen',
  method: 'get',
  path: '/v1/listen',
  tag: 'Live',
  summary: 'Transcribe live',
  description:
    'Opens a WebSocket: audio goes in, transcripts come out. The messages of both directions are in [/asyncapi.json](/asyncapi.json) and on [/docs/live](/docs/live). A credential is taken from the header `Authorization`, else from the subprotocol pair `bearer, <credential>`, else from `api_key`. With the last two a refusal is told on the socket, as an `error` event and a close code, because browsers cannot read a refused handshake.',
  security: 'key or token',
  query: ListenQuery,
  answers: {
    101: { description: 'The socket is open.', forms: {}, isSocket: true },
  },
  errors: handshakeCodes,
  curl: 'curl -N "{base}/v1/listen?model=local/commands-en" -H "Authorization: Bearer $VOXGATE_KEY" \\\n  -H "Connection: Upgrade" -H "Upgrade: websocket" -H "Sec-WebSocket-Version: 13" -H "Sec-WebSocket-Key: dm94Z2F0ZSBsaXN0ZW5zIQ=="',
};

export const speechOperations: readonly Operation[] = [
  listModels,
  getModel,
  getModelBySlug,
  createTranscription,
  listen,
  createToken,
];
