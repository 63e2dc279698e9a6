// What an operation of the HTTP interface is, before it is written as OpenAPI: its answers and headers, and the errors that it may
// answer with. Statuses and messages are the catalogue's.
import type { TObject, TSchema } from '@sinclair/typebox';
import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import { grouped, type Json, type SchemaBook } from '../schemas/schemas.ts';

/** One form of an answer. */
export interface Form {
  /** Of several: one of them. */
  schema: TSchema | readonly TSchema[] | TextForm;
  example: unknown;
}

/** A body that is not JSON. */
export interface TextForm {
  /** What the text is. */
  text: string;
  /** Of an event stream: what each `data` is. */
  events?: readonly TSchema[];
}

export interface Answer {
  description: string;
  /** Beside those that every answer has. */
  headers?: readonly string[];
  /** By content type, without parameters. */
  forms: Readonly<Record<string, Form>>;
  /** The connection becomes a WebSocket. */
  isSocket?: boolean;
}

export interface Operation {
  /** Stable: programs generated from the document call it so. */
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** With `{name}` for what is filled in. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** `key`: an API key; `upload`: that, or a client token whose key allows it; `metrics`: the operator's token. */
  security: 'none' | 'key' | 'upload' | 'metrics' | 'key or token';
  /** What is filled into the path. */
  segments?: Readonly<Record<string, Json>>;
  query?: TObject;
  /** Headers of the request. */
  headers?: Readonly<Record<string, Json>>;
  /** `also`: another form that it may have. */
  body?: RequestBody & { required: boolean; also?: RequestBody };
  answers: Readonly<Record<string, Answer>>;
  errors: readonly ErrorCode[];
  /** What follows `curl`, with `{base}` for the address of the gateway, and the key in VOXGATE_KEY. */
  curl: string;
}

interface RequestBody {
  type: 'application/json' | 'multipart/form-data';
  schema: TSchema;
  example: Json;
}

/** Of the header, where a request may be sent again. */
export const IDEMPOTENCY_KEY: Operation['headers'] & object = {
  'Idempotency-Key': {
    description:
      'Requests with the same key and the same form are worked on, and charged, once: for 24 hours the first answer is given again.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
    example: '9f1c0f2e-4a76-4a0b-8f0e-6c1f0d8a7b35',
  },
};

/** What may befall any request. */
const ANYWHERE: readonly ErrorCode[] = ['uri_too_long', 'internal_error'];

/** Refusals of these may say when to come back. */
const WITH_RETRY_AFTER: readonly number[] = [409, 429, 503];

/** The errors of an operation as OpenAPI responses, one for each status: these codes and those of every request. */
export function errorResponses(codes: readonly ErrorCode[], isKeyed: boolean, book: SchemaBook): Record<string, Json> {
  const byStatus = grouped([...codes, ...ANYWHERE], (code) => ERROR_CATALOGUE[code].status ?? 400);
  return Object.fromEntries(
    [...byStatus]
      .sort(([one], [other]) => one - other)
      .map(([status, each]) => [`${status}`, response(status, each, isKeyed, book)]),
  );
}

function response(status: number, codes: readonly ErrorCode[], isKeyed: boolean, book: SchemaBook): Json {
  const [first] = codes;
  // Who is refused before the key is known hears nothing of its limits.
  const limits = isKeyed && status !== 401 && status !== 414 ? RATE_LIMIT_HEADERS : [];
  const retry = WITH_RETRY_AFTER.includes(status) ? ['Retry-After'] : [];
  const challenge = status === 401 ? ['WWW-Authenticate'] : [];
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].when}`).join('\n\n'),
    headers: headersOf([...limits, ...retry, ...challenge]),
    content: {
      'application/json': {
        schema: errorSchema(codes, book),
        ...(first === undefined ? {} : { example: exampleOf(first) }),
      },
    },
  };
}

/** The error body with these codes only. */
function errorSchema(codes: readonly ErrorCode[], book: SchemaBook): Json {
  const only = { properties: { code: { type: 'string', enum: codes } } };
  return {
    type: 'object',
    required: ['error'],
    properties: { error: { allOf: [book.reference('Error'), only] } },
  };
}

const exampleOf = (code: ErrorCode): Json => ({
  error: {
    type: ERROR_CATALOGUE[code].type,
    code,
    message: ERROR_CATALOGUE[code].when,
    param: null,
    request_id: 'req_019aa5b0-7c1e-7d3a-9f55-2f8e4b7c6d10',
  },
});

const header = (description: string, schema: Json, example: unknown): Json => ({ description, schema, example });
const whole = { type: 'integer', minimum: 0 };

/** `components.headers`. */
export const HEADERS: Readonly<Record<string, Json>> = {
  'X-Request-Id': header(
    'Id of the request; quote it when you report a fault.',
    { type: 'string', pattern: '^req_' },
    'req_019aa5b0-7c1e-7d3a-9f55-2f8e4b7c6d10',
  ),
  'RateLimit-Limit': header('Requests of the key in a minute.', whole, 600),
  'RateLimit-Remaining': header('How many of them are left now.', whole, 599),
  'RateLimit-Reset': header('Seconds until all of them are there again.', whole, 1),
  'Retry-After': header('Seconds to wait before the request is worth repeating.', { type: 'integer', minimum: 1 }, 5),
  'Voxgate-Warning': header(
    'What was asked for and is not honoured: codes separated by commas, each with the name of the parameter where it is about one. JSON answers also have `warnings`, with messages.',
    { type: 'string' },
    'parameter_ignored;param=summarize',
  ),
  'Idempotency-Replayed': header(
    'Present where this is the answer of an earlier request with the same `Idempotency-Key`.',
    { type: 'string', const: 'true' },
    'true',
  ),
  'WWW-Authenticate': header('Says that a bearer credential is wanted.', { type: 'string' }, 'Bearer'),
  ETag: header('Changes when the document does.', { type: 'string' }, '"1f2e3d4c"'),
  'Content-Disposition': header(
    'A name to save the file under.',
    { type: 'string' },
    'attachment; filename="voxgate-2026-11.csv"',
  ),
};

export const RATE_LIMIT_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** References to headers by name. Every answer has a request id, except for a socket that was opened. */
export const headersOf = (names: readonly string[], hasRequestId = true): Json =>
  Object.fromEntries(
    [...(hasRequestId ? ['X-Request-Id'] : []), ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );

/** Errors of every operation that requires an API key. */
export const KEY_CODES: readonly ErrorCode[] = [
  'missing_credential',
  'invalid_api_key',
  'key_revoked',
  'key_expired',
  'token_not_allowed',
  'origin_not_allowed',
  'account_suspended',
  'rate_limit_exceeded',
  'overloaded',
];

/** Where a client token is taken as well. */
export const TOKEN_CODES: readonly ErrorCode[] = [
  'invalid_token',
  'token_expired',
  'token_used',
  'language_not_allowed',
];

/** Wherever something is asked in the query or the body. */
export const QUERY_CODES: readonly ErrorCode[] = ['invalid_request', 'duplicate_parameter'];

/** Of a chain of models, live or for a file. */
const CHAIN_CODES: readonly ErrorCode[] = [
  'invalid_provider_params',
  'insufficient_credit',
  'max_cost_reached',
  'spend_ceiling_reached',
  'scope_not_allowed',
  'model_not_allowed',
  'region_not_allowed',
  'retention_not_allowed',
  'model_not_found',
  'unsupported_parameter',
  'upstream_not_configured',
  'no_model_available',
  'redaction_unavailable',
  'model_not_priced',
  'ledger_unavailable',
  'upstream_account',
];

export const FILE_CODES: readonly ErrorCode[] = [
  ...CHAIN_CODES,
  'missing_file',
  'unsupported_audio',
  'audio_url_not_allowed',
  'audio_url_failed',
  'request_timeout',
  'idempotency_conflict',
  'file_too_large',
  'audio_too_long',
  'unsupported_media_type',
  'upstream_failed',
  'upstream_exhausted',
  'upstream_bad_response',
  'upstream_timeout',
  'too_many_sessions',
];

/** Of the handshake; what may end an open session is in the table of close codes. */
export const LIVE_CODES: readonly ErrorCode[] = [
  ...CHAIN_CODES,
  ...TOKEN_CODES,
  'not_found',
  'too_many_sessions',
  'node_draining',
];

/** Wherever the ledger is asked. */
export const LEDGER_CODES: readonly ErrorCode[] = ['ledger_unavailable'];

/** Of the console, which is for people and no part of the documents. */
export const CONSOLE_CODES: readonly ErrorCode[] = [
  'invalid_login',
  'login_required',
  'password_required',
  'role_not_allowed',
  'operator_only',
  'last_owner',
  'cross_site_request',
  'invalid_link',
  'email_not_verified',
];
