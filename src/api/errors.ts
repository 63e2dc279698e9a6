// Errors of the interface on their way to a client, on any surface: made here with `apiError`, by the code's row in
// error-catalogue.ts. Each caller words its own case.
import { ERROR_CATALOGUE, type ErrorCode, type ErrorType } from './error-catalogue.ts';

export type { ErrorCode };

/** One failed attempt, listed in `details` of upstream errors. */
export interface Attempt {
  model: string;
  reason: string;
}

/** The error object as every surface shows it: HTTP bodies, handshake bodies and live `error` events. */
export interface ErrorBody {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  /** The name of the field at fault, or null. */
  param: string | null;
  request_id: string;
  details?: Attempt[];
}

/** What an error may carry in addition to its code and message. */
export interface ApiErrorExtras {
  param?: string;
  details?: Attempt[];
  /** Seconds for `Retry-After`. */
  retryAfterSeconds?: number;
  /** Only this node is full: the same request succeeds later. Not shown to clients. */
  isBusy?: true;
  /** Further HTTP headers (`RateLimit-*`, `Allow`). */
  headers?: Record<string, string>;
}

/** An error on its way to the client. Thrown or returned; it is turned into bytes where it stops. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly extras: ApiErrorExtras;

  constructor(code: ErrorCode, message: string, extras: ApiErrorExtras = {}) {
    super(message);
    this.code = code;
    this.extras = extras;
  }

  /** HTTP status of this error; WebSocket-only codes answer 400. */
  get status(): number {
    return ERROR_CATALOGUE[this.code].status ?? 400;
  }

  /** WebSocket close code of this error; HTTP-only codes answer 4000. */
  get closeCode(): number {
    return ERROR_CATALOGUE[this.code].close ?? 4000;
  }

  /** The same error with further HTTP headers; its own win. */
  withHeaders(headers: Record<string, string>): ApiError {
    const refusal = new ApiError(this.code, this.message, {
      ...this.extras,
      headers: { ...headers, ...this.extras.headers },
    });
    return this.cause === undefined ? refusal : Object.assign(refusal, { cause: this.cause });
  }

  /** The same error in other words, without what caused it: that may repeat them. */
  withMessage(message: string): ApiError {
    return new ApiError(this.code, message, this.extras);
  }

  /** The error object for the client. */
  body(requestId: string): ErrorBody {
    const { param, details } = this.extras;
    return {
      type: ERROR_CATALOGUE[this.code].type,
      code: this.code,
      message: this.message,
      param: param ?? null,
      request_id: requestId,
      ...(details === undefined ? {} : { details }),
    };
  }
}

/**
 * Makes an error for the client. The message says what was wrong, what is accepted and what to do.
 *
 * @example throw apiError('invalid_request', '`sample_rate` is 7; it is an integer from 8000 to 48000.', { param: 'sample_rate' })
 */
export function apiError(code: ErrorCode, message: string, extras: ApiErrorExtras = {}): ApiError {
  return new ApiError(code, message, extras);
}

/** What a client sent, as it may stand in a message: short, and printable ASCII only. */
export function printable(text: string): string {
  return text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?');
}
