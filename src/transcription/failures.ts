// Failed attempts at a file: what is done about each, and what the client is told of them.
import type { FailureKind, LegFailure } from '../../machines/events.ts';
import { type Attempt, type ErrorCode, type Refusal, refuse } from '../api/errors.ts';

/** An attempt at a model that failed. */
export interface FailedAttempt {
  model: string;
  failure: LegFailure;
}

/**
 * Codes of failures that are limits of one model and none of another, and what a client is told of them: where a provider
 * refuses a file as too large or too long, or does not read its kind, a fallback without that limit may answer.
 */
const LIMITS: ReadonlyMap<string, ErrorCode> = new Map([
  ['file_too_large', 'file_too_large'],
  ['http_413', 'file_too_large'],
  ['audio_too_long', 'file_too_large'],
  ['unsupported_format', 'unsupported_audio'],
]);

/** Codes of failures of the kind `caller` that are about the file, which is as bad for any other model. */
const FILE_FAULTS: ReadonlyMap<string, ErrorCode> = new Map([
  ['unsupported_audio', 'unsupported_audio'],
  ['audio_unusable', 'unsupported_audio'],
  ['http_415', 'unsupported_audio'],
]);

/** What is done about a failure: a model that does not take this file is no fault of the caller while another may. */
export const kindOf = (failure: LegFailure): FailureKind =>
  failure.kind === 'caller' && LIMITS.has(failure.code) ? 'next' : failure.kind;

/** The failed attempts as clients see them. */
export function detailsOf(failed: readonly FailedAttempt[]): Attempt[] {
  return failed.map((attempt) => ({
    model: attempt.model,
    reason: limitOf(attempt) ?? attempt.failure.reason,
  }));
}

/** What a client is told when nothing is left to try. */
export function refusalOf(failed: readonly FailedAttempt[]): Refusal {
  const last = failed.at(-1);
  if (last === undefined) throw new Error('Nothing has failed.');
  const { failure, model } = last;
  const isCallers = failure.kind === 'caller' && limitOf(last) === undefined;
  if (isCallers || failed.every((attempt) => limitOf(attempt) !== undefined)) return refusalOfCaller(failure);
  const ownKey = failed.findLast((attempt) => attempt.failure.ownKey !== undefined)?.failure.ownKey;
  if (ownKey !== undefined) return refuse('upstream_account', ownKey, { details: detailsOf(failed) });
  const said = `${model}: ${failure.message}`;
  const { retryAfterMs } = failure;
  return refuse(
    codeOf(failed),
    failed.length === 1 ? said : `None of ${failed.length} attempts succeeded; the last was ${said}`,
    {
      details: detailsOf(failed),
      ...(retryAfterMs === undefined ? {} : { retryAfterSeconds: retryAfterMs / 1000 }),
    },
  );
}

function codeOf(failed: readonly FailedAttempt[]): ErrorCode {
  const reasons = failed.map(({ failure }) => failure.reason);
  if (reasons.every((reason) => reason === 'connect_timeout' || reason === 'stalled')) return 'upstream_timeout';
  if (failed.length > 1) return 'upstream_exhausted';
  return failed[0]?.failure.code === 'bad_answer' ? 'upstream_bad_response' : 'upstream_failed';
}

function refusalOfCaller({ code, message }: LegFailure): Refusal {
  const about = LIMITS.get(code) ?? FILE_FAULTS.get(code);
  return about === undefined
    ? refuse('invalid_provider_params', message, { param: 'provider_params' })
    : refuse(about, message, { param: 'file' });
}

const limitOf = ({ failure }: FailedAttempt): ErrorCode | undefined => LIMITS.get(failure.code);

const limit = (code: string, message: string): LegFailure => ({
  kind: 'caller',
  reason: 'upstream_error',
  code,
  message,
});

export const fileTooLarge = (bytesMax: number): LegFailure =>
  limit(
    'file_too_large',
    `The file is larger than ${bytesMax} bytes, the most that this model takes. Split it, or choose another model.`,
  );

export const audioTooLong = (secondsMax: number): LegFailure =>
  limit(
    'audio_too_long',
    `The audio is longer than ${secondsMax} s, the most that this model takes. Split it, or choose another model.`,
  );

export const formatUnsupported = (title: string): LegFailure =>
  limit(
    'unsupported_format',
    `The file is ${title}, not WAV. Convert it to WAV (RIFF/WAVE) and send it again, or choose a model that takes it.`,
  );
