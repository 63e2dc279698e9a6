// The refusals of an operation as OpenAPI responses: one for each status, with the codes that may occur.
import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import { grouped } from '../grouped.ts';
import { headersOf, RATE_LIMIT_HEADERS } from '../headers.ts';
import type { Json, SchemaBook } from '../schemas/json-schema.ts';

/** What may befall any request. */
const ANYWHERE: readonly ErrorCode[] = ['uri_too_long', 'internal_error'];

/** Refusals of these may say when to come back. */
const WITH_RETRY_AFTER: readonly number[] = [409, 429, 503];

/** Responses by status, for these codes and those of every request. */
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
