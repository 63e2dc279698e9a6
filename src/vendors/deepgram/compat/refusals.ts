// Refusals as clients of Deepgram know them: HTTP answers, messages on the socket, and close frames.
import type { ErrorCode, Refusal } from '../../../api/errors.ts';
import type { Answer } from '../../compat/dialect.ts';

/** By status; those without a category are told in Deepgram's older form. */
const CATEGORIES: Readonly<Record<number, string>> = {
  401: 'INVALID_AUTH',
  402: 'ASR_PAYMENT_REQUIRED',
  403: 'INSUFFICIENT_PERMISSIONS',
  429: 'TOO_MANY_REQUESTS',
};
const NAMES: Readonly<Record<number, string>> = { 400: 'Bad Request', 404: 'Not Found', 413: 'Payload Too Large' };

export function refusalOf({ status, code, message }: Refusal, requestId: string): Answer {
  const category = CATEGORIES[status];
  const body =
    category === undefined
      ? { err_code: NAMES[status] ?? code, err_msg: message, request_id: requestId }
      : { category, message, details: message, request_id: requestId };
  return {
    status,
    headers: {
      'Content-Type': 'application/json',
      'dg-request-id': requestId,
      'dg-error': message.replace(/[^\x20-\x7e]/g, '?').slice(0, 256),
    },
    body: JSON.stringify(body),
  };
}

/** https://developers.deepgram.com/docs/stt-troubleshooting-websocket-data-and-net-errors */
const AUDIO = { code: 1008, name: 'DATA-0000' };
const QUIET = { code: 1011, name: 'NET-0001' };
const FAILED = { code: 1011, name: 'NET-0000' };
const CLOSES: Partial<Record<ErrorCode, typeof FAILED>> = { unsupported_audio: AUDIO, session_idle: QUIET };

/** The close frame of a session. `reason`: the code of the error that ended it, or empty. */
export function closeOf(code: number, reason: string): { code: number; reason: string } {
  if (code === 1000 && reason === '') return { code: 1000, reason: '' };
  if (code < 4000 && code !== 1011) return { code, reason };
  const known = CLOSES[reason as ErrorCode] ?? FAILED;
  return { code: known.code, reason: `${known.name}: ${reason}` };
}
