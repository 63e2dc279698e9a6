// What goes wrong, as one family of errors: a class for each `error.type`, the same whether it came as an HTTP answer, as a live
// event with its close code, or from this side. Whether to try again is decided by backoff.ts and reconnect.ts.
import type { ErrorCode, ErrorType } from './types/answers.ts';

/** Codes of this side, beside those of the gateway. */
export type ClientErrorCode =
  | 'invalid_option'
  | 'connection_failed'
  | 'connection_lost'
  | 'bad_answer'
  | 'timeout'
  | 'token_unavailable'
  | 'event_queue_full'
  | 'send_queue_full'
  | 'too_many_changes'
  | 'session_over'
  | 'microphone_denied'
  | 'microphone_missing'
  | 'microphone_busy'
  | 'microphone_unsupported'
  | 'microphone_queue_full';

export interface VoxgateErrorInit {
  code: ErrorCode | ClientErrorCode | (string & {});
  type?: ErrorType | undefined;
  status?: number | undefined;
  closeCode?: number | undefined;
  param?: string | null | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  details?: readonly { model: string; reason: string }[] | undefined;
  cause?: unknown;
}

/** Every error of this client, except an abort: that one is the reason of your signal. */
export class VoxgateError extends Error {
  /** For programs: every code is listed in docs/reference/errors.md. */
  readonly code: ErrorCode | ClientErrorCode | (string & {});
  /** The gateway's word for the family; undefined for errors of this side. */
  readonly type: ErrorType | undefined;
  /** HTTP status, where there was an HTTP answer. */
  readonly status: number | undefined;
  /** Close code, where a live session ended by it: 40xx do not retry, 41xx back off, 42xx reconnect. */
  readonly closeCode: number | undefined;
  /** The field at fault, or null. */
  readonly param: string | null;
  /** Quote it when you ask about a failure. */
  readonly requestId: string | undefined;
  /** What the gateway said in `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** The attempts at models, when several failed. */
  readonly details: readonly { model: string; reason: string }[];

  constructor(message: string, init: VoxgateErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = new.target.name;
    this.code = init.code;
    this.type = init.type;
    this.status = init.status;
    this.closeCode = init.closeCode;
    this.param = init.param ?? null;
    this.requestId = init.requestId;
    this.retryAfterSeconds = init.retryAfterSeconds;
    this.details = init.details ?? [];
  }
}

/** The credential is missing, wrong, expired or revoked. */
export class AuthenticationError extends VoxgateError {}
/** The credential is good, and may not do this. */
export class PermissionError extends VoxgateError {}
/** No credit is left. */
export class InsufficientCreditError extends VoxgateError {}
/** Too many requests or sessions; `retryAfterSeconds` says when to come back. */
export class RateLimitError extends VoxgateError {}
/** A value is wrong: `param` names it. */
export class InvalidRequestError extends VoxgateError {}
/** There is no such model or object. */
export class NotFoundError extends InvalidRequestError {}
/** The provider failed; `details` lists every attempt. */
export class UpstreamError extends VoxgateError {}
/** The gateway failed, or has no room. */
export class ServerError extends VoxgateError {}
/** The gateway could not be reached, or the connection broke. */
export class ConnectionError extends VoxgateError {}
/** No answer within the time of `timeoutMs`. */
export class TimeoutError extends ConnectionError {}
/** There is no microphone, or it may not be used. */
export class MicrophoneError extends VoxgateError {}

const CLASSES: Readonly<Record<ErrorType, typeof VoxgateError>> = {
  invalid_request_error: InvalidRequestError,
  authentication_error: AuthenticationError,
  permission_error: PermissionError,
  billing_error: InsufficientCreditError,
  rate_limit_error: RateLimitError,
  upstream_error: UpstreamError,
  server_error: ServerError,
};

/** The class for an answer without a type of ours: a proxy's, say. */
function classOf(status: number | undefined): typeof VoxgateError {
  if (status === 401) return AuthenticationError;
  if (status === 403) return PermissionError;
  if (status === 402) return InsufficientCreditError;
  if (status === 429) return RateLimitError;
  return status !== undefined && status < 500 ? InvalidRequestError : ServerError;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Where an error object came from. */
export interface ErrorOrigin {
  status?: number | undefined;
  closeCode?: number | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
}

/** The error for an error object of the gateway (`body.error`, or an event's `error`), whatever it turns out to be. */
export function errorOf(body: unknown, origin: ErrorOrigin): VoxgateError {
  const error = isRecord(body) ? body : {};
  const type = textOf(error.type) as ErrorType | undefined;
  const isKnown = type !== undefined && Object.hasOwn(CLASSES, type);
  const isMissing = origin.status === 404 || origin.closeCode === 4004;
  const Class = isMissing ? NotFoundError : isKnown ? CLASSES[type] : classOf(origin.status);
  const status = origin.status === undefined ? `close code ${origin.closeCode}` : `HTTP ${origin.status}`;
  return new Class(textOf(error.message) ?? `The gateway answered with ${status} and no reason.`, {
    ...origin,
    code: textOf(error.code) ?? 'bad_answer',
    type: isKnown ? type : undefined,
    param: textOf(error.param) ?? null,
    requestId: textOf(error.request_id) ?? origin.requestId,
    details: Array.isArray(error.details) ? error.details : [],
  });
}

/** The error of this side for a wrong option. */
export const invalidOption = (param: string, message: string): InvalidRequestError =>
  new InvalidRequestError(message, { code: 'invalid_option', param });

/** What a signal was aborted with. */
export function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? new DOMException('This operation was aborted', 'AbortError');
}
