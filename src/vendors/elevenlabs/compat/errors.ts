// Errors as clients of ElevenLabs know them: HTTP answers, errors among the messages, and close frames.
import { ERROR_CATALOGUE, type ErrorCode } from '../../../api/error-catalogue.ts';
import type { ApiError } from '../../../api/errors.ts';
import type { Answer, Ending } from '../../compat/dialect.ts';
import * as messages from '../messages.ts';

export const errorAnswer = ({ status, code, message }: ApiError): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(messages.refusalBody(code, message)),
});

/** https://elevenlabs.io/docs/eleven-api/guides/how-to/speech-to-text/realtime/event-reference */
const TYPES: Partial<Record<ErrorCode, string>> = {
  rate_limit_exceeded: 'rate_limited',
  too_many_sessions: 'rate_limited',
  message_too_big: 'chunk_size_exceeded',
  audio_backlog_exceeded: 'queue_overflow',
  session_too_long: 'session_time_limit_exceeded',
  session_idle: 'insufficient_audio_activity',
  overloaded: 'resource_exhausted',
  node_draining: 'resource_exhausted',
};
const BY_TYPE: Readonly<Record<string, string>> = {
  authentication_error: 'auth_error',
  permission_error: 'auth_error',
  billing_error: 'quota_exceeded',
  rate_limit_error: 'rate_limited',
  upstream_error: 'transcriber_error',
};

const typeOf = (code: string): string | undefined =>
  Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code as ErrorCode].type : undefined;

/** @param ofClient the name of what a client has said wrongly, which depends on where it said so */
export function errorMessage(code: string, error: string, ofClient: 'invalid_request' | 'input_error'): string {
  const type = typeOf(code) ?? '';
  const otherwise = type === 'invalid_request_error' ? ofClient : 'error';
  return JSON.stringify(messages.errorMessage(TYPES[code as ErrorCode] ?? BY_TYPE[type] ?? otherwise, error));
}

/** ElevenLabs accepts every connection, and says what is wrong there. */
export const endingOf = ({ code, message }: ApiError): Ending => ({
  messages: [errorMessage(code, message, 'invalid_request')],
  ...closeOf(4000, code),
});

/** The close frame of a session. `reason`: the code of the error that ended it, or empty. */
export function closeOf(code: number, reason: string): { code: number; reason: string } {
  if (code === 1000 && reason === '') return { code, reason };
  const type = typeOf(reason);
  const isOurs = type === undefined || type === 'server_error' || type === 'upstream_error';
  return { code: isOurs ? 1011 : 1008, reason };
}
