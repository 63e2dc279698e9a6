// What jobs are refused with, and what they fail with where it is not the recogniser's fault.
import { ApiError, apiError, type ErrorCode } from '../api/errors.ts';
import type { JobState } from '../vendors/compat/jobs.ts';
import { JOB_LIMITS, OWN_DIALECT } from './calls.ts';
import { JOBS_QUEUED_MAX } from './job-lines.ts';
import { TRANSCRIPT_CHARACTERS_MAX } from './job-records.ts';
import { noJob, type Owner } from './owner.ts';

const full = (message: string) => apiError('too_many_sessions', message, { retryAfterSeconds: 30 });
const overloaded = (message: string, retryAfterSeconds: number) =>
  apiError('overloaded', message, { retryAfterSeconds });

export const notHere = ({ dialect }: Owner) => noJob(JOB_LIMITS.keptMs, dialect === OWN_DIALECT);

export const noPlace = () =>
  apiError('not_found', '`before` must be the id of a job that this key still has. There is no such job.', {
    param: 'before',
  });

export const tooManyWait = () =>
  full(`This key already has ${JOBS_QUEUED_MAX} jobs waiting on this node. Wait until some are over.`);
export const nodeStops = () => overloaded('This node is shutting down. Send the job to another node.', 1);

const UNFINISHED = `This organisation has ${JOB_LIMITS.organisation.jobs} unfinished jobs. Wait until some are over.`;
const SHARE = 'The unfinished jobs of this organisation fill its share of this gateway. Wait until some are over.';
const BUSY = 'This gateway has too many jobs. Send the job again later.';
/** By whose room is full. */
export const NO_ROOM = { organisation: full(UNFINISHED), share: full(SHARE), store: overloaded(BUSY, 30) };

/** Nothing is wrong with the job: this node has no room for it now, or its organisation has its share of the room. */
export const isBusy = (error: unknown): boolean =>
  error instanceof ApiError && (error.extras.isBusy === true || BUSY_CODES.includes(error.code));
const BUSY_CODES: readonly ErrorCode[] = ['overloaded', 'too_many_sessions'];

const failed = (code: ErrorCode, message: string): Extract<JobState, { type: 'failed' }> => ({
  type: 'failed',
  refusal: apiError(code, message),
});

export const TOO_LARGE = failed(
  'file_too_large',
  `The transcript has more than ${TRANSCRIPT_CHARACTERS_MAX} characters of JSON. Split the file.`,
);
export const NOT_STORED = failed('internal_error', 'The transcript could not be stored. Send the job again.');
export const CANCELLED = failed(
  'job_cancelled',
  'The job was cancelled before it completed. Send the file again if you need its transcript.',
);
export const REMOVED = failed('internal_error', 'The job was removed.');
