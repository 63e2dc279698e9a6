// How a connection ended, and what that says about another one.
import { ConnectionError, errorOf, TimeoutError, type VoxgateError } from '../../errors.ts';
import type { ErrorEvent } from '../../types/events.ts';
import { type Advice, adviceOf } from './reconnect.ts';

/** Of a connection that is not made in time. */
export const CONNECT_TIMEOUT = 'connect_timeout';

export interface Loss {
  /** As events say it. */
  reason: string;
  advice: Advice;
  error: VoxgateError;
}

/** How the socket closed; `cause`: what it said, where it says something. */
export interface Closed {
  code: number;
  reason: string;
  cause: unknown;
}

/** @param told the error that the gateway told on this connection, if it told one */
export function lossOf(closed: Closed, told: ErrorEvent | undefined): Loss {
  const advice = adviceOf(closed.code);
  if (told === undefined) return { reason: `close_${closed.code}`, advice, error: untold(closed) };
  return { reason: told.error.code, advice, error: errorOf(told.error, { closeCode: closed.code }) };
}

/** A close without a word of the gateway before it. */
function untold({ code, reason, cause }: Closed): VoxgateError {
  if (reason === CONNECT_TIMEOUT) {
    return new TimeoutError('The gateway did not open the session in time.', { code: 'timeout', closeCode: code });
  }
  const said = cause instanceof Error ? `: ${cause.message}` : '';
  return new ConnectionError(`The connection was lost with close code ${code}${said}.`, {
    code: 'connection_lost',
    closeCode: code,
    cause,
  });
}
