// What went wrong between the gateway and a provider over HTTP, as failures. Texts of the network's own errors are left out:
// they name addresses of the operator's.
import { errors } from 'undici';
import type { LegFailure } from '../../../../machines/events.ts';
import { clogged, unreachable } from '../leg-failures.ts';

export const poolFull: LegFailure = {
  kind: 'next',
  reason: 'connect_failed',
  code: 'pool_full',
  message: 'Too many requests to the provider wait for a connection.',
};

export const connectTimeout: LegFailure = {
  kind: 'next',
  reason: 'connect_timeout',
  code: 'connect_timeout',
  message: 'The provider could not be reached in time.',
};

export const answerTimeout: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'answer_timeout',
  message: 'The provider did not answer in time.',
};

/** The provider stopped taking the file. */
export const uploadStalled: LegFailure = { ...clogged, code: 'upload_stalled' };

export const badAnswer: LegFailure = {
  kind: 'next',
  reason: 'upstream_error',
  code: 'bad_answer',
  message: 'The provider’s answer cannot be parsed.',
};

export const answerTooLarge: LegFailure = { ...badAnswer, message: 'The provider’s answer is too large.' };

export const requestLimit: LegFailure = {
  kind: 'next',
  reason: 'stalled',
  code: 'request_limit',
  message: 'The provider was asked too many times without a result.',
};

const connectionLost: LegFailure = {
  kind: 'retry',
  reason: 'upstream_closed',
  code: 'connection_lost',
  message: 'The provider closed the connection before its answer was whole.',
};

/** A fault of the gateway's own: the job goes on elsewhere, as a leg does. */
export const internalFault: LegFailure = {
  kind: 'next',
  reason: 'upstream_error',
  code: 'internal_fault',
  message: 'The gateway failed at its request to the provider.',
  own: true,
};

const LOST = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'];
const LATE = ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'];

/** The failure of an error of the HTTP client. */
export function networkFailure(error: unknown): LegFailure {
  const code = String((error as { code?: unknown } | undefined)?.code ?? '');
  if (LATE.includes(code)) return connectTimeout;
  if (LOST.includes(code)) return connectionLost;
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) return badAnswer;
  // The client itself refuses the request: a header that is none, a body of another length than said.
  if (code === '' || code.startsWith('UND_ERR_')) return internalFault;
  return unreachable(`The provider could not be reached (${code}).`);
}
