// Errors as clients of OpenAI know them: errors of a session, its close frame, and HTTP answers, which are the gateway's own.
import { ERROR_CATALOGUE, type ErrorCode } from '../../../api/error-catalogue.ts';
import type { ApiError, ErrorBody } from '../../../api/errors.ts';
import type { Answer, Ending } from '../../compat/dialect.ts';

/** Codes that clients of OpenAI look for. */
const CODES: Partial<Record<ErrorCode, string>> = {
  insufficient_credit: 'insufficient_quota',
  session_too_long: 'session_expired',
};
/** Close codes that OpenAI has of its own; others are as in `/v1/listen`. */
const CLOSES: Readonly<Record<number, number>> = { 4001: 3000, 4002: 1013, 4100: 1013, 4200: 1001 };
const EXPIRED = 1001;

/** The `error` of an event. `request_id` and `details` are the gateway's own. */
export const toldError = (error: ErrorBody): object => ({
  ...error,
  type: error.code === 'insufficient_credit' ? 'insufficient_quota' : error.type,
  code: CODES[error.code] ?? error.code,
  event_id: null,
});

/** The reason is `type.code`. @param reason the code of the error that ended the session, or empty */
export function closeOf(code: number, reason: string): { code: number; reason: string } {
  if (!isErrorCode(reason)) return { code, reason };
  const told = CODES[reason] ?? reason;
  const type = reason === 'insufficient_credit' ? told : ERROR_CATALOGUE[reason].type;
  const ownCode = reason === 'session_too_long' ? EXPIRED : (CLOSES[code] ?? code);
  return { code: ownCode, reason: `${type}.${told}` };
}

/** Of a handshake whose socket was let in to be told. */
export const endingOf = (refusal: ApiError, requestId: string): Ending => ({
  messages: [
    JSON.stringify({
      ...{ type: 'error', event_id: requestId.replace(/^req_/, 'event_') },
      error: toldError(refusal.body(requestId)),
    }),
  ],
  ...closeOf(refusal.closeCode, refusal.code),
});

const isErrorCode = (reason: string): reason is ErrorCode => Object.hasOwn(ERROR_CATALOGUE, reason);

export const errorAnswer = (refusal: ApiError, requestId: string): Answer => ({
  status: refusal.status,
  headers: { 'Content-Type': 'application/json; charset=utf-8', 'x-request-id': requestId },
  body: JSON.stringify({ error: refusal.body(requestId) }),
});
