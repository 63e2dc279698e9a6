// What client libraries that try again by themselves are told: not to where it is of no use, and nothing everywhere else.
import { describe, expect, it } from 'vitest';
import { apiError, type ErrorCode } from '../../../src/api/errors.ts';
import { errorReply } from '../../../src/http/router.ts';

const adviceOn = (code: ErrorCode, retryAfterSeconds?: number) => {
  const extras = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return errorReply(apiError(code, 'No.', extras), 'req_1').headers?.['X-Should-Retry'];
};

describe('X-Should-Retry', () => {
  it.each<[ErrorCode, number | undefined]>([
    // The wait is longer than anybody waits without a word: a day's spend is free again at midnight.
    ['rate_limit_exceeded', 61],
    ['rate_limit_exceeded', 40_000],
    ['overloaded', 3_600],
    // Another body under the same key.
    ['idempotency_conflict', undefined],
    // Three refusals of an own key put it out of use: one call with retries would be enough.
    ['upstream_account', undefined],
  ])('says false for %s with Retry-After %s', (code, seconds) => {
    expect(adviceOn(code, seconds)).toBe('false');
  });

  it.each<[ErrorCode, number | undefined]>([
    ['rate_limit_exceeded', 1],
    ['rate_limit_exceeded', 60],
    ['too_many_sessions', 5],
    // The first request with the key is still worked on.
    ['idempotency_conflict', 5],
    ['upstream_failed', undefined],
    ['upstream_exhausted', undefined],
    ['upstream_timeout', undefined],
    ['internal_error', undefined],
    ['node_draining', undefined],
    // No client library tries these again by itself: their status says that the request is at fault.
    ['invalid_request', undefined],
    ['upstream_not_configured', undefined],
    ['model_not_priced', undefined],
  ])('stays out for %s with Retry-After %s', (code, seconds) => {
    expect(adviceOn(code, seconds)).toBeUndefined();
  });
});
