// Errors as clients of Gladia know them: HTTP answers, and close frames.
import type { ApiError } from '../../../api/errors.ts';
import type { Answer } from '../../compat/dialect.ts';
import { jsonAnswer } from '../../compat/request.ts';
import { refusalBody, validationError } from '../messages.ts';

/** By the gateway's own. From 4400 to 4499 clients do not connect again: a session that is over cannot be continued. */
const CLOSES: Readonly<Record<number, number>> = { 4001: 4401, 4002: 4402, 4003: 4403, 4004: 4404, 4008: 4408 };
const BUSY = 4429;
const OTHERWISE = 4400;
const FAILED = 4499;

/** @param reason the code of an error, or empty */
export function closeOf(code: number, reason: string): { code: number; reason: string } {
  if (code < 4000 && code !== 1011) return { code, reason };
  if (code === 1011 || (code > 4100 && code < 4200)) return { code: FAILED, reason };
  return { code: code === 4100 ? BUSY : (CLOSES[code] ?? OTHERWISE), reason };
}

export function errorAnswer({ status, code, message, extras }: ApiError, requestId: string): Answer {
  const fault = extras.param === undefined ? {} : validationError(extras.param, message);
  return jsonAnswer(refusalBody(status, message, requestId, { error: code, ...fault }), status);
}
