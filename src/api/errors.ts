// Refusals on their way to a client, on any surface: made here with `refuse`, by the code's row in error-catalogue.ts. The wording
// of a single case is left to the place that refuses.
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

/** What a refusal may carry beside its code and message. */
export interface RefusalExtras {
  param?: string;
  details?: Attempt[];
  /** Seconds for `Retry-After`. */
  retryAfterSeconds?: number;
  /** Further HTTP headers (`RateLimit-*`, `Allow`). */
  headers?: Record<string, string>;
}

/** A refusal on its way to the client. Thrown or returned; it is turned into bytes where it stops. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly extras: RefusalExtras;

  constructor(code: ErrorCode, message: string, extras: RefusalExtras = {}) {
    super(message);
    this.code = code;
    this.extras = extras;
  }

  /** HTTP status of this refusal; WebSocket-only codes answer 400. */
  get status(): number {
    return ERROR_CATALOGUE[this.code].status ?? 400;
  }

  /** WebSocket close code of this refusal; HTTP-only codes answer 4000. */
  get closeCode(): number {
    return ERROR_CATALOGUE[this.code].close ?? 4000;
  }

  /** The same refusal with further HTTP headers; its own win. */
  withHeaders(headers: Record<string, string>): Refusal {
    const refusal = new Refusal(this.code, this.message, {
      ...this.extras,
      headers: { ...headers, ...this.extras.headers },
    });
    return this.cause === undefined ? refusal : Object.assign(refusal, { cause: this.cause });
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
 * Makes a refusal. The message says what was wrong, what is accepted and what to do.
 *
 * @example throw refuse('invalid_request', '`sample_rate` is 7; it is an integer from 8000 to 48000.', { param: 'sample_rate' })
 */
export function refuse(code: ErrorCode, message: string, extras: RefusalExtras = {}): Refusal {
  return new Refusal(code, message, extras);
}

/** What a client sent, as it may stand in a message: short, and printable ASCII only. */
export function printable(text: string): string {
  return text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?');
}
