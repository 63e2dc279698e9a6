// What happens next in a file's transcription, out of what has failed so far: the only place that decides it. A pure function
// of the history; who carries out the attempt, and reads the file, is decided by the job.
import type { LegFailure } from '../../machines/events.ts';
import { firstCandidate } from '../../machines/failover.ts';
import { type Attempt, type ErrorCode, type Refusal, refuse } from '../api/errors.ts';

/** One attempt that failed, with the place of its model in the chain. */
export interface FailedAttempt {
  member: number;
  model: string;
  failure: LegFailure;
}

/** Try a member of the chain after a pause, or tell the client what became of it. */
export type NextAttempt = { type: 'try'; member: number; afterMs: number } | { type: 'give_up' };

/** Attempts of one member: a failure of the kind `retry` is repeated once. */
const TRIES_MAX = 2;
const RETRY_PAUSE_MS = 250;
/** A provider that asks to be left alone for longer is left alone. */
const RETRY_PAUSE_MAX_MS = 5_000;

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

/**
 * The next attempt.
 *
 * @param members length of the chain
 * @param fileLeft whether the file can be read from its beginning once more
 * @param open members whose breaker is open: they are tried only when no other is left
 */
export function nextAttempt(
  members: number,
  failed: readonly FailedAttempt[],
  fileLeft: boolean,
  open: readonly number[] = [],
): NextAttempt {
  const last = failed.at(-1);
  if (last === undefined) return { type: 'try', member: firstCandidate(members, open), afterMs: 0 };
  if (!fileLeft || (last.failure.kind === 'caller' && limitOf(last) === undefined)) return { type: 'give_up' };
  const tries = failed.filter(({ member }) => member === last.member).length;
  const afterMs = last.failure.retryAfterMs ?? RETRY_PAUSE_MS;
  const isSpared = open.includes(last.member);
  if (last.failure.kind === 'retry' && tries < TRIES_MAX && afterMs <= RETRY_PAUSE_MAX_MS && !isSpared) {
    return { type: 'try', member: last.member, afterMs };
  }
  const untried = Array.from({ length: members }, (_, member) => member).filter(
    (member) => !failed.some((attempt) => attempt.member === member),
  );
  const next = untried.find((member) => !open.includes(member)) ?? untried[0];
  return next === undefined ? { type: 'give_up' } : { type: 'try', member: next, afterMs: 0 };
}

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
