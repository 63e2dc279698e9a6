// The headers of answers, as the OpenAPI document names them, and which answers have which.
import type { Json } from './schemas/json-schema.ts';

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

/** References to headers by name. Every answer has a request id, but for a socket that was opened. */
export const headersOf = (names: readonly string[], hasRequestId = true): Json =>
  Object.fromEntries(
    [...(hasRequestId ? ['X-Request-Id'] : []), ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
