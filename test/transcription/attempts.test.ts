// What is tried next after any history of failures, and what a client is told when nothing is left.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureKind, FailureReason, LegFailure } from '../../machines/events.ts';
import { detailsOf, type FailedAttempt, nextAttempt, refusalOf } from '../../src/transcription/attempts.ts';

const failed = (
  member: number,
  kind: FailureKind,
  { reason = 'upstream_error', code = 'any', retryAfterMs }: Partial<LegFailure> = {},
): FailedAttempt => ({
  member,
  model: `p/${member}`,
  failure: { kind, reason, code, message: `It failed.`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
});

const RETRY = failed(0, 'retry');
const TOO_LARGE = { code: 'http_413' };

describe('the next attempt', () => {
  it.each<[string, FailedAttempt[], string]>([
    ['nothing', [], '0 after 0'],
    ['a failure in passing', [RETRY], '0 after 250'],
    ['a failure in passing, with a time', [failed(0, 'retry', { retryAfterMs: 3_000 })], '0 after 3000'],
    ['a failure in passing, with a long time', [failed(0, 'retry', { retryAfterMs: 60_000 })], '1 after 0'],
    ['the second failure in passing', [RETRY, RETRY], '1 after 0'],
    ['a failure of the provider', [failed(0, 'next')], '1 after 0'],
    ['a bad credential', [failed(0, 'account')], '1 after 0'],
    ['a bad credential at the second try', [RETRY, failed(0, 'account')], '1 after 0'],
    ['a fault of the caller', [failed(0, 'caller')], 'give up'],
    ['a fault of the caller at a fallback', [failed(0, 'next'), failed(1, 'caller')], 'give up'],
    ['a limit of the model', [failed(0, 'caller', TOO_LARGE)], '1 after 0'],
    ['a failure in passing of a fallback', [failed(0, 'next'), failed(1, 'retry')], '1 after 250'],
    ['a failure of the last', [failed(0, 'next'), failed(1, 'next'), failed(2, 'next')], 'give up'],
    ['a failure in passing of the last', [failed(0, 'next'), failed(1, 'next'), failed(2, 'retry')], '2 after 250'],
  ])('after %s is right', (_, history, expected) => {
    const next = nextAttempt(3, history, true);
    expect(next.type === 'try' ? `${next.member} after ${next.afterMs}` : 'give up').toBe(expected);
    if (history.length > 0) expect(nextAttempt(3, history, false)).toEqual({ type: 'give_up' });
  });

  it('comes to an end: no member is tried more than twice, none is left out, none comes back', () => {
    const kind = fc.constantFrom<FailureKind>('retry', 'next', 'account', 'caller');
    const code = fc.constantFrom('any', 'http_413', 'audio_too_long', 'constructor');
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.tuple(kind, code), { minLength: 20 }),
        (members, faults) => {
          const history: FailedAttempt[] = [];
          for (const [faultKind, faultCode] of faults) {
            const next = nextAttempt(members, history, true);
            if (next.type === 'give_up') break;
            history.push(failed(next.member, faultKind, { code: faultCode }));
          }
          const order = history.map(({ member }) => member);
          expect(order.length).toBeLessThanOrEqual(2 * members);
          expect(order.every((member, i) => i === 0 || [0, 1].includes(member - (order[i - 1] as number)))).toBe(true);
          for (const member of new Set(order)) expect(order.filter((each) => each === member).length).toBeLessThan(3);
          const last = history.at(-1) as FailedAttempt;
          const isCallers =
            last.failure.kind === 'caller' && !['http_413', 'audio_too_long'].includes(last.failure.code);
          expect(isCallers || last.member === members - 1).toBe(true);
          expect(refusalOf(history).message).toContain('It failed.');
        },
      ),
    );
  });
});

describe('a client is told', () => {
  const of = (member: number, reason: FailureReason, code = 'any') => failed(member, 'next', { reason, code });
  it.each<[string, FailedAttempt[], string, number, string | undefined]>([
    ['one failure', [of(0, 'upstream_error')], 'upstream_failed', 502, undefined],
    ['an answer that cannot be read', [of(0, 'upstream_error', 'bad_answer')], 'upstream_bad_response', 502, undefined],
    ['two failures', [of(0, 'upstream_error'), of(1, 'stalled')], 'upstream_exhausted', 502, undefined],
    ['nothing but timeouts', [of(0, 'connect_timeout'), of(1, 'stalled')], 'upstream_timeout', 504, undefined],
    ['its own fault', [of(0, 'stalled'), failed(1, 'caller')], 'invalid_provider_params', 400, 'provider_params'],
    ['a file that is none', [failed(0, 'caller', { code: 'unsupported_audio' })], 'unsupported_audio', 400, 'file'],
    ['a file too large for all', [failed(0, 'caller', TOO_LARGE)], 'file_too_large', 413, 'file'],
    [
      'a file too large for some',
      [of(0, 'upstream_error'), failed(1, 'caller', TOO_LARGE)],
      'upstream_exhausted',
      502,
      undefined,
    ],
    [
      'a kind of file that none reads',
      [failed(0, 'caller', { code: 'unsupported_format' })],
      'unsupported_audio',
      400,
      'file',
    ],
  ])('%s', (_, history, code, status, param) => {
    const refusal = refusalOf(history);
    expect([refusal.code, refusal.status, refusal.extras.param]).toEqual([code, status, param]);
    if (code.startsWith('upstream')) expect(refusal.extras.details).toEqual(detailsOf(history));
  });

  it('when to come back, where the provider said so', () => {
    expect(refusalOf([failed(0, 'next', { retryAfterMs: 7_000 })]).extras.retryAfterSeconds).toBe(7);
  });

  it('of each attempt, in its order', () => {
    const history = [RETRY, failed(0, 'retry', { reason: 'upstream_closed' }), failed(1, 'caller', TOO_LARGE)];
    expect(detailsOf(history)).toEqual([
      { model: 'p/0', reason: 'upstream_error' },
      { model: 'p/0', reason: 'upstream_closed' },
      { model: 'p/1', reason: 'file_too_large' },
    ]);
  });
});

it.each<[string, FailedAttempt[], number[], ReturnType<typeof nextAttempt>]>([
  ['begins with a model whose breaker is closed', [], [0], { type: 'try', member: 1, afterMs: 0 }],
  ['begins with the first where all are open', [], [0, 1, 2], { type: 'try', member: 0, afterMs: 0 }],
  ['passes over an open one', [failed(0, 'next')], [1], { type: 'try', member: 2, afterMs: 0 }],
  [
    'comes back to one passed over before it gives up',
    [failed(1, 'next'), failed(2, 'next')],
    [0],
    { type: 'try', member: 0, afterMs: 0 },
  ],
  [
    'does not try again what its own breaker keeps from others',
    [failed(0, 'retry')],
    [0],
    { type: 'try', member: 1, afterMs: 0 },
  ],
])('%s', (_, history, open, next) => {
  expect(nextAttempt(3, history, true, open)).toEqual(next);
});
