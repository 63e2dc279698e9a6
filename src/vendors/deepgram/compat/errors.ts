// Errors as clients of Deepgram know them: HTTP answers, messages on the socket, and close frames.
import type { ApiError, ErrorCode } from '../../../api/errors.ts';
import type { Answer } from '../../compat/dialect.ts';
import * as messages from '../messages.ts';

export function errorAnswer({ status, code, message }: ApiError, requestId: string): Answer {
  const { headers, body } = messages.refusalOf(status, message, requestId, code);
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
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
