// Models that were sent a file and are not charged for it: those that their providers may bill.
import { expect, it, test } from 'vitest';
import type { LegFailure } from '../../machines/events.ts';
import { type PassedOver, PassedOvers } from '../../src/files/passed-over.ts';
import type { ResolvedCandidate } from '../../src/live/failover/chain.ts';

const [A, B, C] = ['a', 'b', 'c'].map((slug) => ({ slug })) as unknown as [
  ResolvedCandidate,
  ResolvedCandidate,
  ResolvedCandidate,
];
const failure = (rest: Partial<LegFailure> = {}): LegFailure => ({
  ...{ kind: 'next', reason: 'upstream_error', code: 'http_500', message: 'It failed.' },
  ...rest,
});

test('the outcome has each attempt that failed, and each model without words but the one that is charged', () => {
  const passed = new PassedOvers();
  passed.failed(A, failure());
  passed.failed(A, failure({ kind: 'retry', reason: 'stalled' }));
  passed.empty(B);
  const [first, second] = [
    { member: A, reason: 'attempt' },
    { member: A, reason: 'attempt' },
  ];
  const of = (outcome: { member: ResolvedCandidate; passedOver?: readonly PassedOver[] }) => passed.of(outcome);
  expect(of({ member: C }).passedOver).toEqual([first, second, { member: B, reason: 'failed' }]);
  expect(of({ member: B }).passedOver).toEqual([first, second]);
  const part = { member: A, reason: 'attempt', seconds: 5 } as const;
  expect(passed.of({ member: B, passedOver: [part] }).passedOver).toEqual([first, second, part]);
});

it.each<[string, Partial<LegFailure>]>([
  ['that could not be connected', { reason: 'connect_failed' }],
  ['whose breaker is open', { reason: 'circuit_open' }],
  ['that is busy', { kind: 'retry', code: 'http_429' }],
  ['that refuses the key', { kind: 'account', code: 'http_401' }],
  ['that refuses an option', { kind: 'caller' }],
  ['that the gateway itself has refused', { own: true }],
])('nothing is counted of a model %s', (_, rest) => {
  const passed = new PassedOvers();
  passed.failed(A, failure(rest));
  const outcome = { member: B };
  expect(passed.of(outcome)).toBe(outcome);
});
