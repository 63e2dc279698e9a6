// Which model has its turn after any history of failures, and what a client is told when nothing is left.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FailureKind, FailureReason, LegFailure } from '../../machines/events.ts';
import { apiErrorOf, detailsOf, type FailedAttempt } from '../../src/files/failures.ts';
import { Attempts } from '../../src/files/transcribe.ts';
import type { Guarded } from '../../src/live/failover/breakers/guarded.ts';
import type { ResolvedCandidate } from '../../src/live/failover/chain.ts';

const failure = (
  kind: FailureKind,
  { reason = 'upstream_error', code = 'any', message = 'It failed.', retryAfterMs }: Partial<LegFailure> = {},
): LegFailure => ({
  kind,
  reason,
  code,
  message,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

const RETRY = failure('retry');
const NEXT = failure('next');
const TOO_LARGE = { code: 'http_413' };
const OPTION = { message: 'It failed. The option `take` is out of range.' };

/** Attempts at a chain of so many models. `open`: breakers that are open when the first begins, and from then on. */
function attemptsAt(members: number, open: { atFirst: number[]; later: number[] } = { atFirst: [], later: [] }) {
  const member = { own: false, params: { take: 1 }, provider: { optionRows: { take: { wire: { batch: 'taken' } } } } };
  const chain = Array.from({ length: members }, (_, at) => ({ ...member, slug: `p/${at}` }));
  let asked = 0;
  const openIn = (asking: readonly Guarded[]) => {
    expect(asking).toBe(chain);
    return asked++ === 0 ? open.atFirst : open.later;
  };
  const attempts = new Attempts(chain as unknown as ResolvedCandidate[], { openIn });
  /** What comes after a failure, as `model after pause`. */
  const after = (failed: LegFailure): string => {
    const pauseMs = attempts.next(failed);
    return pauseMs === undefined ? 'give up' : `${attempts.member.slug.slice(2)} after ${pauseMs}`;
  };
  return { attempts, after };
}

describe('the next attempt', () => {
  it.each<[string, LegFailure[], string]>([
    ['a failure in passing', [RETRY], '0 after 250'],
    ['a failure in passing, with a time', [failure('retry', { retryAfterMs: 3_000 })], '0 after 3000'],
    ['a failure in passing, with a long time', [failure('retry', { retryAfterMs: 60_000 })], '1 after 0'],
    ['the second failure in passing', [RETRY, RETRY], '1 after 0'],
    ['a failure of the provider', [NEXT], '1 after 0'],
    ['a bad credential', [failure('account')], '1 after 0'],
    ['a bad credential at the second try', [RETRY, failure('account')], '1 after 0'],
    ['an option refused', [failure('caller', OPTION)], 'give up'],
    ['an option refused by its name on the wire', [failure('caller', { message: 'Taken is 1.' })], 'give up'],
    ['an option refused at a fallback', [NEXT, failure('caller', OPTION)], 'give up'],
    ['a refusal that names no option of the customer’s', [failure('caller')], '1 after 0'],
    ['a file that the model cannot read', [failure('caller', { code: 'audio_unusable' })], '1 after 0'],
    ['a limit of the model', [failure('caller', TOO_LARGE)], '1 after 0'],
    ['a failure in passing of a fallback', [NEXT, RETRY], '1 after 250'],
    ['a failure of the last', [NEXT, NEXT, NEXT], 'give up'],
    ['a failure in passing of the last', [NEXT, NEXT, RETRY], '2 after 250'],
  ])('follows %s correctly', (_, history, expected) => {
    const { attempts, after } = attemptsAt(3);
    expect(attempts.member.slug).toBe('p/0');
    expect(history.map(after).at(-1)).toBe(expected);
  });

  it('comes to an end: no member is tried more than twice, none is left out, none comes back', () => {
    const kind = fc.constantFrom<FailureKind>('retry', 'next', 'account', 'caller');
    const fault = fc.constantFrom<Partial<LegFailure>>(OPTION, { code: 'any' }, TOO_LARGE, { code: 'constructor' });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.tuple(kind, fault), { minLength: 20 }),
        (members, faults) => {
          const { attempts } = attemptsAt(members);
          for (const [faultKind, more] of faults) {
            expect(attempts.isLast).toBe(attempts.member.slug === `p/${members - 1}`);
            if (attempts.next(failure(faultKind, more)) === undefined) break;
          }
          const { failed } = attempts;
          const order = failed.map(({ model }) => Number(model.slice(2)));
          expect(order.length).toBeLessThanOrEqual(2 * members);
          expect(order.every((member, i) => i === 0 || [0, 1].includes(member - (order[i - 1] as number)))).toBe(true);
          for (const member of new Set(order)) expect(order.filter((each) => each === member).length).toBeLessThan(3);
          const last = failed.at(-1)?.failure as LegFailure;
          expect(last.kind === 'caller' || order.at(-1) === members - 1).toBe(true);
          expect(apiErrorOf(failed).message).toContain('It failed.');
        },
      ),
    );
  });

  it.each<[string, number[], string]>([
    ['a model whose breaker is closed', [0], 'p/1'],
    ['the first where all are open', [0, 1, 2], 'p/0'],
  ])('starts with %s', (_, atFirst, first) => {
    expect(attemptsAt(3, { atFirst, later: atFirst }).attempts.member.slug).toBe(first);
  });

  it.each<[string, LegFailure[], number[], number[], string]>([
    ['passes over an open one', [NEXT], [1], [1], '2 after 0'],
    ['comes back to one passed over before it gives up', [NEXT, NEXT], [0], [0], '0 after 0'],
    ['comes back to one that is closed again, once those behind it have failed', [NEXT, NEXT], [0], [], '0 after 0'],
    ['does not try again what its own breaker keeps from others', [RETRY], [], [0], '1 after 0'],
  ])('%s', (_, history, atFirst, later, expected) => {
    const { after } = attemptsAt(3, { atFirst, later });
    expect(history.map(after).at(-1)).toBe(expected);
  });
});

describe('the error for a client', () => {
  const failed = (member: number, kind: FailureKind, more: Partial<LegFailure> = {}): FailedAttempt => ({
    model: `p/${member}`,
    failure: failure(kind, more),
  });
  const of = (member: number, reason: FailureReason, code = 'any') => failed(member, 'next', { reason, code });
  it.each<[string, FailedAttempt[], string, number, string | undefined]>([
    ['one failure', [of(0, 'upstream_error')], 'upstream_failed', 502, undefined],
    ['an answer that cannot be read', [of(0, 'upstream_error', 'bad_answer')], 'upstream_bad_response', 502, undefined],
    ['two failures', [of(0, 'upstream_error'), of(1, 'stalled')], 'upstream_exhausted', 502, undefined],
    ['nothing but timeouts', [of(0, 'connect_timeout'), of(1, 'stalled')], 'upstream_timeout', 504, undefined],
    ['its own fault', [of(0, 'stalled'), failed(1, 'caller')], 'invalid_provider_params', 400, 'provider_params'],
    ['a file that is none', [failed(0, 'next', { code: 'audio_unusable' })], 'unsupported_audio', 400, 'file'],
    ['a file too large for all', [failed(0, 'next', TOO_LARGE)], 'file_too_large', 413, 'file'],
    [
      'a file too large for some',
      [of(0, 'upstream_error'), failed(1, 'next', TOO_LARGE)],
      'upstream_exhausted',
      502,
      undefined,
    ],
    [
      'a kind of file that none reads',
      [failed(0, 'next', { code: 'unsupported_format' })],
      'unsupported_audio',
      400,
      'file',
    ],
  ])('%s', (_, history, code, status, param) => {
    const refusal = apiErrorOf(history);
    expect([refusal.code, refusal.status, refusal.extras.param]).toEqual([code, status, param]);
    if (code.startsWith('upstream')) expect(refusal.extras.details).toEqual(detailsOf(history));
  });

  it('says when to retry, where the provider did', () => {
    expect(apiErrorOf([failed(0, 'next', { retryAfterMs: 7_000 })]).extras.retryAfterSeconds).toBe(7);
  });

  it('lists each attempt in order', () => {
    const history = [
      failed(0, 'retry'),
      failed(0, 'retry', { reason: 'upstream_closed' }),
      failed(1, 'next', TOO_LARGE),
    ];
    expect(detailsOf(history)).toEqual([
      { model: 'p/0', reason: 'upstream_error' },
      { model: 'p/0', reason: 'upstream_closed' },
      { model: 'p/1', reason: 'file_too_large' },
    ]);
  });
});
