// Errors as clients of AssemblyAI know them: HTTP answers, `Error` messages with their codes, and close frames.

import { ERROR_CATALOGUE } from '../../../api/error-catalogue.ts';
import type { ApiError, ErrorCode } from '../../../api/errors.ts';
import type { Answer, Ending } from '../../compat/dialect.ts';
import * as messages from '../messages.ts';

export const errorAnswer = ({ status, message }: ApiError): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ error: message }),
});

/** https://www.assemblyai.com/docs/streaming/common-session-errors-and-closures */
const ACCOUNT = 1008;
const FAILED = 3005;
const MESSAGE = 3006;
const CODES: Partial<Record<ErrorCode, number>> = {
  message_too_big: 3007,
  audio_backlog_exceeded: 3007,
  rate_limit_exceeded: 3007,
  session_too_long: 3008,
  // Of `inactivity_timeout`, as the client libraries know it.
  session_idle: 4031,
  too_many_sessions: 3009,
};
const BY_TYPE: Readonly<Record<string, number>> = {
  authentication_error: ACCOUNT,
  permission_error: ACCOUNT,
  billing_error: ACCOUNT,
  invalid_request_error: MESSAGE,
};

/** `error_code` of a message, and the code of the close frame behind it. */
export function codeOf(code: string): number {
  const row = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code as ErrorCode] : undefined;
  return CODES[code as ErrorCode] ?? BY_TYPE[row?.type ?? ''] ?? FAILED;
}

export const errorMessage = (code: string, message: string): string =>
  JSON.stringify(messages.errorMessage(codeOf(code), message));

/** AssemblyAI accepts every connection, and says what is wrong there. */
export const endingOf = ({ code, message }: ApiError): Ending => ({
  messages: [errorMessage(code, message)],
  code: codeOf(code),
  reason: code,
});

/** The close frame of a session. `reason`: the code of the error that ended it, or empty. */
export function closeOf(code: number, reason: string): { code: number; reason: string } {
  return code === 1000 && reason === '' ? { code, reason } : { code: codeOf(reason), reason };
}
