// Refusals as clients of LiveKit Inference know them. An `error` ends their stream; whether they come again, its number says, as that
// of an HTTP answer: not behind 400 to 498, but for 408 and 429.
import { ERROR_CATALOGUE, type ErrorCode } from '../../api/error-catalogue.ts';
import type { Refusal } from '../../api/errors.ts';
import type { Ending } from '../compat/dialect.ts';

/** Of a session whose client has fallen silent: it is not opened again by itself. */
const INACTIVE = 2007;

export const errorOf = (code: string, message: string) => ({ type: 'error', message, code: numberOf(code) });

export const endingOf = ({ code, message, closeCode }: Refusal): Ending => ({
  messages: [JSON.stringify(errorOf(code, message))],
  code: closeCode,
  reason: code,
});

function numberOf(code: string): number {
  if (code === 'session_idle') return INACTIVE;
  const row = Object.hasOwn(ERROR_CATALOGUE, code) ? ERROR_CATALOGUE[code as ErrorCode] : undefined;
  return row === undefined ? 500 : (row.status ?? 400);
}
