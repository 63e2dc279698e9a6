// Errors as clients of Soniox know them: HTTP answers, and error messages with the close behind them.
import { ERROR_CATALOGUE, type ErrorCode } from '../../../api/error-catalogue.ts';
import type { ApiError } from '../../../api/errors.ts';
import type { Answer, Ending } from '../../compat/dialect.ts';
import { jsonAnswer } from '../../compat/request.ts';
import * as messages from '../messages.ts';

/** https://soniox.com/docs/api-reference/errors: of a connection, where others have no meaning for clients. */
const STATUSES: Partial<Record<ErrorCode, number>> = { request_timeout: 408, session_idle: 408, node_draining: 503 };
const BY_TYPE: Readonly<Record<string, number>> = {
  authentication_error: 401,
  permission_error: 401,
  billing_error: 402,
  rate_limit_error: 429,
  invalid_request_error: 400,
  upstream_error: 503,
};
function statusOf(code: string): number {
  const row = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code as ErrorCode] : undefined;
  return STATUSES[code as ErrorCode] ?? BY_TYPE[row?.type ?? ''] ?? 500;
}

/** A message that clients end with. */
export function errorMessage(code: string, error_message: string): string {
  return JSON.stringify(messages.errorMessage(statusOf(code), error_message));
}

/** Clients hear of a refusal on the connection, where they say their key. */
export const endingOf = ({ code, message }: ApiError): Ending => ({
  messages: [errorMessage(code, message)],
  ...closeOf(4000, code),
});

/** The close frame of a session. `reason`: the code of the error that ended it, or empty. Which codes Soniox has no document says. */
export function closeOf(code: number, reason: string): { code: number; reason: string } {
  if (code === 1000 && reason === '') return { code, reason };
  return { code: statusOf(reason) >= 500 ? 1011 : 1008, reason };
}

export function errorAnswer({ status, code, message, extras }: ApiError, requestId: string): Answer {
  const faults = extras.param === undefined ? [] : [{ error_type: code, location: extras.param, message }];
  return jsonAnswer(messages.refusalBody(status, message, requestId, { type: code, faults }), status);
}
