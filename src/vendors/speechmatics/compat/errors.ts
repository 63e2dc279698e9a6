// Errors as clients of Speechmatics know them: HTTP answers, `Error` messages, and close frames.
import type { ApiError, ErrorCode } from '../../../api/errors.ts';
import type { Answer } from '../../compat/dialect.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { CLOSE_CODES, errorBody } from '../messages.ts';

type ErrorType = keyof typeof CLOSE_CODES;

const TYPES: Partial<Record<ErrorCode, ErrorType>> = {
  unsupported_audio: 'invalid_audio_type',
  invalid_request: 'invalid_config',
  invalid_provider_params: 'invalid_config',
  missing_credential: 'not_authorised',
  invalid_api_key: 'not_authorised',
  invalid_token: 'not_authorised',
  token_expired: 'not_authorised',
  key_revoked: 'not_authorised',
  key_expired: 'not_authorised',
  insufficient_credit: 'timelimit_exceeded',
  token_not_allowed: 'not_allowed',
  scope_not_allowed: 'not_allowed',
  region_not_allowed: 'not_allowed',
  retention_not_allowed: 'not_allowed',
  origin_not_allowed: 'not_allowed',
  account_suspended: 'not_allowed',
  model_not_allowed: 'invalid_model',
  model_not_found: 'invalid_model',
  request_timeout: 'protocol_error',
  message_too_big: 'protocol_error',
  audio_backlog_exceeded: 'protocol_error',
  rate_limit_exceeded: 'quota_exceeded',
  too_many_sessions: 'quota_exceeded',
  session_idle: 'idle_timeout',
  session_too_long: 'session_timeout',
  upstream_failed: 'job_error',
  upstream_exhausted: 'job_error',
  upstream_bad_response: 'job_error',
  upstream_account: 'job_error',
  upstream_timeout: 'job_error',
  overloaded: 'job_error',
  ledger_unavailable: 'job_error',
  node_draining: 'job_error',
};

export const errorType = (code: ErrorCode): ErrorType => TYPES[code] ?? 'unknown_error';

/** @param code an error's code, or empty */
export function closeOf(close: number, code: string): { code: number; reason: string } {
  if (close < 4000 && close !== 1011) return { code: close, reason: code };
  const type = errorType(code as ErrorCode);
  return { code: CLOSE_CODES[type], reason: type };
}

/** Those that its client libraries know, except for that of 429: they tell no other from an answer that they cannot read. */
const NAMES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Permission Denied',
  403: 'Forbidden',
  404: 'Requested product not available',
  413: 'Malformed request',
  415: 'Format Not Supported',
  422: 'Unprocessable Entity',
  423: 'Resource Locked',
  429: 'Rate Limited',
};

/** @param name in place of the usual one of the status */
export const refused = (status: number, detail: string, name?: string): Answer => {
  const error = name ?? NAMES[status] ?? (status >= 500 ? 'Internal Server Error' : 'Bad Request');
  return jsonAnswer(errorBody(status, error, detail), status);
};

export const errorAnswer = ({ status, code, message, extras }: ApiError): Answer =>
  refused(status, message, nameOf(code, extras.param !== undefined));

/** @param isOfJob whether it is a job that is not there, and not the path */
function nameOf(code: ErrorCode, isOfJob: boolean): string | undefined {
  if (code === 'not_found') return isOfJob ? 'Job not found' : 'Path not found';
  return code === 'missing_file' ? 'Missing data_file' : undefined;
}
