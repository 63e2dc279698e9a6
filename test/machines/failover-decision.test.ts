// What comes after a failure, for sessions and for files by one table; and that the failover chart carries out what is decided.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import type { FailureKind } from '../../machines/events.ts';
import {
  carriedOut,
  type Decision,
  decide,
  type FailedAttempt,
  type FailoverLimits,
  type FailoverPolicy,
  FILE_LIMITS,
  FILE_POLICY,
  firstCandidate,
  hasPause,
  type Incident,
  incidentOver,
  noIncident,
  pauseMs,
  SESSION_POLICY,
  withFailure,
} from '../../machines/failover/decision.ts';
import { failoverMachine } from '../../machines/failover.ts';

const SESSION_LIMITS: FailoverLimits = { retries: 1, rounds: 1, retryMs: 0, backOffMs: 100 };
type Failed = Partial<FailedAttempt> & { kind: FailureKind };
const attempt = (failed: Failed): FailedAttempt => ({
  open: [],
  mayRetry: true,
  retryAfterMs: 0,
  elapsedMs: 0,
  own: false,
  lasting: false,
  wasReady: false,
  ...failed,
});

/** The incident after these failures of a chain of three, each but the last followed by what was decided. */
function incidentOf(history: readonly Failed[], limits: FailoverLimits, policy: FailoverPolicy, first = 0): Incident {
  const begin = withFailure(noIncident(3, first, limits), attempt(history[0] as Failed));
  return history
    .slice(1)
    .reduce((incident, failed) => withFailure(carriedOut(incident, decide(incident, policy)), attempt(failed)), begin);
}

/** `decision`, the member that is tried then and the pause before it. */
function decided(history: readonly Failed[], limits: FailoverLimits, policy: FailoverPolicy, first?: number): string {
  const incident = incidentOf(history, limits, policy, first);
  const decision = decide(incident, policy);
  if (decision === 'refused' || decision === 'exhausted') return decision;
  return `${decision} ${carriedOut(incident, decision).index} ${hasPause(decision) ? pauseMs(incident, policy) : 0}`;
}

const retry: Failed = { kind: 'retry' };
const ready: Failed = { kind: 'retry', wasReady: true };
const next: Failed = { kind: 'next' };
const lost: Failed = { kind: 'retry', own: true };
const ALL = [0, 1, 2];

test.each<[string, Failed[], string, string, number?]>([
  ['the caller’s fault', [{ kind: 'caller' }], 'refused', 'refused'],
  ['a failure in passing', [retry], 'retry 0 100', 'retry 0 250'],
  ['a connection lost by a model that had the audio', [ready], 'retry 0 0', 'retry 0 0'],
  [
    'another one lost before anything came of the audio',
    [{ ...ready, kind: 'next' }, ready],
    'retry 1 200',
    'retry 1 250',
  ],
  ['a lost connection with a requested delay', [{ ...ready, retryAfterMs: 50 }], 'retry 0 100', 'retry 0 250'],
  ['a leg that had the audio lost inside the gateway', [{ ...ready, own: true }], 'forgiven 0 100', 'retry 0 250'],
  ['the second in passing', [retry, retry], 'next 1 0', 'next 1 0'],
  ['one in passing of a fallback', [next, retry], 'retry 1 200', 'retry 1 250'],
  ['one in passing, without room in the budget', [{ kind: 'retry', mayRetry: false }], 'next 1 0', 'next 1 0'],
  ['one in passing, with its breaker open', [{ kind: 'retry', open: [0] }], 'next 1 0', 'next 1 0'],
  ['one that asks for a second', [{ kind: 'retry', retryAfterMs: 1_000 }], 'retry 0 1000', 'retry 0 1000'],
  ['one that asks for more than a session has', [{ kind: 'retry', retryAfterMs: 1_001 }], 'next 1 0', 'retry 0 1001'],
  ['one that asks for more than a file has', [{ kind: 'retry', retryAfterMs: 5_001 }], 'next 1 0', 'next 1 0'],
  ['a loss inside the gateway', [lost], 'forgiven 0 100', 'retry 0 250'],
  ['30 of them', Array(30).fill(lost), 'forgiven 0 2000', 'exhausted'],
  ['31 of them', Array(31).fill(lost), 'retry 0 2000', 'exhausted'],
  ['a fault of the gateway that loses nothing', [{ kind: 'next', own: true }], 'next 1 0', 'next 1 0'],
  ['a failure of the model', [next], 'next 1 0', 'next 1 0'],
  ['no words', [{ kind: 'empty' }], 'next 1 0', 'next 1 0'],
  ['no words of the last: there is an answer already', [next, next, { kind: 'empty' }], 'exhausted', 'exhausted'],
  ['no words, with every other breaker open', [{ kind: 'empty', open: [1, 2] }], 'exhausted', 'exhausted'],
  ['a refused credential', [{ kind: 'account' }], 'next 1 0', 'next 1 0'],
  ['one with the next breaker open', [{ kind: 'next', open: [1] }], 'next 2 0', 'next 2 0'],
  ['one with every breaker open', [{ kind: 'next', open: ALL }], 'round 0 100', 'passed_over 1 0'],
  ['the last one', [next, next, next], 'round 0 400', 'exhausted'],
  [
    'the last one, that asks for time',
    [next, next, { kind: 'next', retryAfterMs: 4_000 }],
    'round 0 4000',
    'exhausted',
  ],
  [
    'the last one, that asks for an hour',
    [next, next, { kind: 'next', retryAfterMs: 3_600_000 }],
    'round 0 10000',
    'exhausted',
  ],
  ['the last one of all rounds', [next, next, next, next, next, next], 'exhausted', 'exhausted'],
  ['the last credential', Array(3).fill({ kind: 'account' }), 'exhausted', 'exhausted'],
  ['one behind a member passed over', [next, { kind: 'next', open: [0] }], 'round 1 200', 'passed_over 0 0', 1],
  ['one behind a member whose breaker has closed again', [next, next], 'round 0 200', 'passed_over 0 0', 1],
  [
    'one behind several passed over, of which one has closed again',
    [{ kind: 'next', open: [0] }],
    'round 1 100',
    'passed_over 1 0',
    2,
  ],
])('decides after %s', (_, history, session, file, first) => {
  expect(decided(history, SESSION_LIMITS, SESSION_POLICY, first)).toBe(session);
  expect(decided(history, FILE_LIMITS, FILE_POLICY, first)).toBe(file);
});

const LONG: FailoverLimits = { retries: 0, rounds: 0, retryMs: 15_000, backOffMs: 100 };
test.each<[string, Failed[], string]>([
  ['with time left, after every member', [next, next, next], 'wait 0 400'],
  ['with time left, behind one passed over', [next, { kind: 'next', open: [0] }], 'passed_over 0 0'],
  ['with no time left for the pause', [next, next, { kind: 'next', elapsedMs: 14_601 }], 'exhausted'],
  ['with just enough', [next, next, { kind: 'next', elapsedMs: 14_600 }], 'wait 0 400'],
  [
    'with less than the provider asks for',
    [next, next, { ...next, retryAfterMs: 9_000, elapsedMs: 7_000 }],
    'exhausted',
  ],
  ['that asking again will not change', [next, next, { kind: 'next', lasting: true }], 'exhausted'],
  ['of the last credential', Array(3).fill({ kind: 'account' }), 'exhausted'],
])('decides in a lasting incident after a failure %s', (_, history, decision) => {
  const first = history.length === 2 ? 1 : 0;
  expect(decided(history, LONG, SESSION_POLICY, first)).toBe(decision);
});

const decisions = {
  retries: fc.nat(2),
  rounds: fc.nat(2),
  retryMs: fc.constantFrom(0, 5_000),
  backOffMs: fc.constant(100),
};
const failures = fc
  .array(
    fc.record<Failed>({
      kind: fc.constantFrom('retry', 'next', 'account', 'empty'),
      open: fc.subarray(ALL),
      mayRetry: fc.boolean(),
      own: fc.boolean(),
      lasting: fc.boolean(),
      wasReady: fc.boolean(),
    }),
    { minLength: 40, maxLength: 40 },
  )
  .map((all) => all.map((failed, count) => ({ ...failed, elapsedMs: 500 * count })));

test('ends every incident, and returns to no candidate within a round', () => {
  fc.assert(
    fc.property(fc.record(decisions), failures, fc.nat(2), (limits, history, first) => {
      const policy = { ...SESSION_POLICY, ownLossesMax: 2 };
      let incident = noIncident(3, first, limits);
      let left = new Set<number>();
      for (const failed of history) {
        incident = withFailure(incident, attempt(failed));
        const decision = decide(incident, policy);
        if (decision === 'exhausted') return;
        const { index } = incident;
        incident = carriedOut(incident, decision);
        if (decision === 'round' || decision === 'wait') left = new Set();
        else if (incident.index !== index) left.add(index);
        expect(left.has(incident.index)).toBe(false);
        expect(incident.barred.includes(incident.index)).toBe(false);
      }
      expect.fail('It goes on for ever.');
    }),
  );
});

describe('the chart', () => {
  const PLACES: Readonly<Record<Decision, string>> = {
    refused: 'refused',
    forgiven: 'pausing',
    retry: 'pausing',
    next: 'trying',
    round: 'pausing',
    passed_over: 'trying',
    wait: 'waiting',
    exhausted: 'exhausted',
  };

  test('does what is decided, and waits where it is to', () => {
    fc.assert(
      fc.property(fc.record(decisions), failures, (limits, history) => {
        const input = { ownerId: 'ses_1', members: 3, first: firstCandidate(3, []), limits };
        let incident = noIncident(3, 0, limits);
        let [state] = initialTransition(failoverMachine, input);
        for (const failed of history) {
          incident = withFailure(incident, attempt(failed));
          const decision = decide(incident, SESSION_POLICY);
          if (decision !== 'wait') incident = carriedOut(incident, decision);
          [state] = transition(failoverMachine, state, { type: 'attempt.failed', ...attempt(failed) });
          expect(state.value).toBe(PLACES[decision]);
          expect(hasPause(decision)).toBe(['pausing', 'waiting'].includes(state.value as string));
          expect(state.context).toEqual({ ...incident, ownerId: 'ses_1' });
          if (state.status === 'done') return;
          if (decision === 'wait') {
            incident = carriedOut(incident, decision);
            const { open, elapsedMs } = incident;
            [state] = transition(failoverMachine, state, { type: 'xstate.after.backOff.failover.waiting' } as never);
            [state] = transition(failoverMachine, state, { type: 'attempt.weighed', open, mayRetry: false, elapsedMs });
            expect(state.value).toBe('asking');
            [state] = transition(failoverMachine, state, { type: 'attempt.weighed', open, mayRetry: true, elapsedMs });
            incident = { ...incident, mayRetry: true };
            expect([state.value, state.context]).toEqual(['trying', { ...incident, ownerId: 'ses_1' }]);
          }
          if (state.value === 'pausing') {
            [state] = transition(failoverMachine, state, { type: 'xstate.after.backOff.failover.pausing' } as never);
          }
        }
      }),
    );
  });

  test('forgets what has failed when a model works, and not whose credential was refused', () => {
    const incident = incidentOf([{ kind: 'account' }, retry], SESSION_LIMITS, SESSION_POLICY);
    const over = incidentOver(incident);
    expect([over.tried, over.failures, over.retriesLeft, over.barred, over.index]).toEqual([[], 0, 1, [0], 1]);
  });
});
