// Failed attempts at a file: what is done about each, and what the client is told of them.
import type { LegFailure } from '../../machines/events.ts';
import { type ApiError, type Attempt, apiError, type ErrorCode } from '../api/errors.ts';
import type { Shortage } from '../runtime/limits/quota.ts';

/** An attempt at a model that failed. */
export interface FailedAttempt {
  model: string;
  failure: LegFailure;
  /** Of the operator's last resort. */
  isLastResort?: boolean;
}

/**
 * Codes of failures that are about the file, and what a client is told where no model has taken it. What one model finds too
 * large, too long or unreadable, another may transcribe: sound files have been called corrupted.
 */
const FILE_FAULTS: ReadonlyMap<string, ErrorCode> = new Map([
  ['file_too_large', 'file_too_large'],
  ['http_413', 'file_too_large'],
  ['audio_too_long', 'file_too_large'],
  ['unsupported_format', 'unsupported_audio'],
  ['audio_unusable', 'unsupported_audio'],
  ['http_415', 'unsupported_audio'],
]);

/** The failed attempts as clients see them. */
export function detailsOf(failed: readonly FailedAttempt[]): Attempt[] {
  return failed.map((attempt) => ({
    model: attempt.model,
    reason: fileFaultOf(attempt) ?? attempt.failure.reason,
  }));
}

/** What a client is told when nothing is left to try. */
export function apiErrorOf(failed: readonly FailedAttempt[]): ApiError {
  const last = failed.at(-1);
  if (last === undefined) throw new Error('Nothing has failed.');
  const { failure, model } = last;
  const fault = fileFaultOf(last);
  if (fault !== undefined && failed.every((attempt) => fileFaultOf(attempt) !== undefined))
    return apiError(fault, failure.message, { param: 'file' });
  if (failure.kind === 'caller')
    return apiError('invalid_provider_params', failure.message, { param: 'provider_params' });
  const ownKey = failed.findLast((attempt) => attempt.failure.ownKey !== undefined)?.failure.ownKey;
  if (ownKey !== undefined) return apiError('upstream_account', ownKey, { details: detailsOf(failed) });
  const said = `${model}: ${failure.message}`;
  if (failed.every((attempt) => FULL.has(attempt.failure.code))) {
    const message = `${said} Send it again in a moment.`;
    return apiError('rate_limit_exceeded', message, {
      details: detailsOf(failed),
      retryAfterSeconds: FULL_RETRY_SECONDS,
      isBusy: true,
    });
  }
  const { retryAfterMs } = failure;
  return apiError(
    codeOf(failed),
    failed.length === 1 ? said : `None of ${failed.length} attempts succeeded; the last was ${said}`,
    {
      details: detailsOf(failed),
      ...(retryAfterMs === undefined ? {} : { retryAfterSeconds: retryAfterMs / 1000 }),
      ...(failed.every(isBusy) ? { isBusy: true } : {}),
    },
  );
}

function codeOf(failed: readonly FailedAttempt[]): ErrorCode {
  const reasons = failed.map(({ failure }) => failure.reason);
  if (reasons.every((reason) => reason === 'connect_timeout' || reason === 'stalled')) return 'upstream_timeout';
  if (failed.length > 1) return 'upstream_exhausted';
  return failed[0]?.failure.code === 'bad_answer' ? 'upstream_bad_response' : 'upstream_failed';
}

/** The embedded recogniser or the connections to a provider are all taken: a place is free as soon as a file or session ends. */
const FULL = new Set(['recogniser_overloaded', 'recogniser_share_used', 'pool_full']);
const FULL_RETRY_SECONDS = 2;
const DECODERS_BUSY = 'decoders_busy';

const isBusy = ({ failure: { code } }: FailedAttempt): boolean => FULL.has(code) || code === DECODERS_BUSY;

const fileFaultOf = ({ failure }: FailedAttempt): ErrorCode | undefined => FILE_FAULTS.get(failure.code);

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

/** What models behind a live leg take as a file. */
export const DECODED =
  'WAV, MP3, FLAC, Ogg (Opus, Vorbis or FLAC), WebM (Opus), MP2, and AIFF, AU, CAF and Wave64 without compression';

/** @param taken the kinds that the model takes, for people */
export const formatUnsupported = (title: string, taken = DECODED): LegFailure =>
  limit(
    'unsupported_format',
    `The file is ${title}, and this model takes ${taken}. Convert it and send it again, or choose a model that takes ${title}.`,
  );

export const audioUnusable = (title: string, why: string): LegFailure =>
  limit(
    'audio_unusable',
    `The ${title} file cannot be decoded: ${why}. This model takes ${DECODED}. Write it anew, or choose another model.`,
  );

export const decodersBusy = (shortage: Shortage): LegFailure => ({
  kind: 'next',
  reason: 'connect_failed',
  code: DECODERS_BUSY,
  message: `${shortage === 'share' ? 'This node decodes as many files of your organisation as one organisation may have decoded' : 'This node decodes as many files as it can'} at a time. Send it again in a moment, or as WAV.`,
  retryAfterMs: 1_000,
  // It says nothing of how other files are served.
  own: true,
});
