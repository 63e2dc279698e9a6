// The breakers of a node: kept apart by model and credential, bounded, and shown as a model's status.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { mayBeOfNode } from '../../../../src/live/failover/blame.ts';
import { Breakers, type CountedFailure } from '../../../../src/live/failover/breakers/breakers.ts';
import type { Guarded } from '../../../../src/live/failover/breakers/guarded.ts';
import { timersOf } from '../../session/support.ts';

const model = (slug: string, credentialId = 'service'): Guarded => ({ slug, credentialId });
const a = model('a/one');
const failure = { kind: 'next' } as const;

function breakers() {
  const clock = new SimulatedClock();
  const changes: string[] = [];
  const all = new Breakers({
    clock,
    failuresMax: 3,
    openMs: 1_000,
    openMsMax: 4_000,
    onChange: ({ slug }, state) => changes.push(`${slug} ${state}`),
    onFault: (error) => {
      throw error;
    },
  });
  const fail = (guarded: Guarded, times: number) => {
    for (let time = 0; time < times; time++) all.failed(guarded, failure);
  };
  return { clock, all, changes, fail };
}

it('opens after failures in a row, lets one probe through after a while, and closes when that succeeds', () => {
  const { clock, all, changes, fail } = breakers();
  fail(a, 2);
  expect([all.isOpen(a), all.statusOf('a/one')]).toEqual([false, 'degraded']);
  fail(a, 1);
  expect([all.isOpen(a), all.statusOf('a/one')]).toEqual([true, 'down']);
  clock.increment(1_000);
  expect(all.isOpen(a)).toBe(false);
  all.begun(a);
  expect(all.isOpen(a)).toBe(true);
  all.succeeded(a);
  expect([all.isOpen(a), all.statusOf('a/one'), all.size]).toEqual([false, 'up', 0]);
  expect(changes).toEqual(['a/one open', 'a/one closed']);
});

it('keeps the breakers of two credentials apart', () => {
  const { all } = breakers();
  all.failed(model('a/one', 'byok_1'), { kind: 'account' });
  expect(all.isOpen(model('a/one', 'byok_1'))).toBe(true);
  expect([all.isOpen(a), all.isOpen(model('a/one', 'byok_2'))]).toEqual([false, false]);
  expect(all.openIn([model('a/one', 'byok_1'), a])).toEqual([0]);
});

it('keeps a bounded number of breakers: the one used longest ago is forgotten, with its timer', () => {
  const { clock, all } = breakers();
  for (let index = 0; index < 1_001; index++) all.failed(model(`a/${index}`), { kind: 'account' });
  expect([all.size, all.isOpen(model('a/0')), all.isOpen(model('a/1'))]).toEqual([1_000, false, true]);
  all.close();
  expect([all.size, timersOf(clock)]).toEqual([0, 0]);
});

const of = (organisationId: string, guarded = a): Guarded => ({ ...guarded, organisationId });
const [anna, ben, cleo] = [of('org_anna'), of('org_ben'), of('org_cleo')];
const openFor = (all: Breakers) => [anna, ben].map((each) => all.isOpen(each));
const failing = (code: string, more: Partial<CountedFailure> = {}): CountedFailure => ({
  ...{ kind: 'next', reason: 'upstream_error', message: 'x', code },
  ...more,
});

/** What the input of one organisation can bring about, as codecs report it. */
const REFUSED: readonly CountedFailure[] = [
  failing('http_404', { lasting: true }),
  failing('http_404', { lasting: true, retryAfterMs: 60_000 }),
  failing('http_405', { lasting: true }),
];
const PROVOKED: readonly CountedFailure[] = [
  ...REFUSED,
  failing('handshake_failed', { reason: 'connect_failed' }),
  failing('connect_timeout', { reason: 'connect_timeout' }),
  failing('http_429', { retryAfterMs: 60_000 }),
  failing('http_403', { kind: 'account', reason: 'connect_failed' }),
  failing('http_402', { kind: 'account', reason: 'connect_failed' }),
  failing('http_500', { kind: 'retry', reason: 'connect_failed' }),
  failing('http_503', { kind: 'retry', reason: 'connect_failed', retryAfterMs: 60_000 }),
  failing('close_1008', { reason: 'upstream_closed' }),
  failing('close_1011', { kind: 'retry', reason: 'upstream_closed' }),
  failing('stalled', { kind: 'retry', reason: 'stalled' }),
  failing('job_failed'),
  failing('bad_answer'),
  failing('DATA-0000'),
  failing('FAILED_PRECONDITION'),
];

describe('a breaker after requests of one organisation', () => {
  it.each(PROVOKED)('opens the breaker for it alone: $kind $code', (provoked) => {
    const { all } = breakers();
    const told: Guarded[] = [];
    all.onOpened((guarded) => told.push(guarded));
    for (let time = 0; time < 50; time++) all.failed(anna, provoked);
    expect(openFor(all)).toEqual([true, false]);
    expect([all.statusOf('a/one', 'org_anna'), all.statusOf('a/one', 'org_ben'), all.statusOf('a/one')]).toEqual([
      ...['down', 'up', 'up'],
    ]);
    expect(told.every(({ organisationId }) => organisationId === 'org_anna')).toBe(true);
  });

  it('opens it for no other one with a bound of a single failure', () => {
    const all = new Breakers({ clock: new SimulatedClock(), failuresMax: 1, openMs: 1, openMsMax: 1, onFault() {} });
    for (let time = 0; time < 50; time++) all.failed(anna, failure);
    expect(openFor(all)).toEqual([true, false]);
    all.failed(cleo, failure);
    expect(openFor(all)).toEqual([true, true]);
  });

  it('stays closed for others after one odd request of another organisation', () => {
    const all = new Breakers({ clock: new SimulatedClock(), failuresMax: 5, openMs: 1, openMsMax: 1, onFault() {} });
    for (let time = 0; time < 50; time++) all.failed(anna, failure);
    all.failed(ben, failure);
    expect([all.isOpen(anna), all.isOpen(ben), all.isOpen(cleo)]).toEqual([true, false, false]);
  });

  it('does not keep it open for others after an outage', () => {
    const { clock, all, fail } = breakers();
    fail(anna, 3);
    fail(ben, 3);
    expect(all.isOpen(cleo)).toBe(true);
    // The shared breaker takes what is left of its share, and not more.
    for (let time = 0; time < 10; time++) {
      clock.increment(4_000);
      all.begun(anna);
      all.failed(anna, failure);
    }
    expect(all.isOpen(cleo)).toBe(false);
    all.begun(cleo);
    all.succeeded(cleo);
    expect(all.statusOf('a/one', 'org_cleo')).toBe('up');
  });

  it('starts counting again after any organisation’s success', () => {
    const { all, fail } = breakers();
    fail(anna, 2);
    all.succeeded(ben);
    fail(ben, 1);
    expect([all.isOpen(cleo), all.statusOf('a/one', 'org_cleo')]).toEqual([false, 'up']);
  });

  it('stays with the organisation whose own key is refused', () => {
    const { all } = breakers();
    all.failed(of('org_anna', model('a/one', 'pk_1')), { kind: 'account' });
    expect([all.statusOf('a/one', 'org_anna'), all.statusOf('a/one', 'org_ben'), all.statusOf('a/one')]).toEqual([
      ...['down', 'up', 'up'],
    ]);
  });
});

describe('a breaker after failures of several organisations', () => {
  it.each(REFUSED)('opens it for none of the others where their requests were refused for good: $code', (met) => {
    const { all } = breakers();
    for (let time = 0; time < 50; time++) all.failed(anna, met);
    all.failed(ben, failing('http_500', { kind: 'retry' }));
    for (let time = 0; time < 50; time++) all.failed(ben, met);
    expect([all.isOpen(anna), all.isOpen(cleo), all.statusOf('a/one', 'org_cleo')]).toEqual([true, false, 'up']);
  });

  it.each(PROVOKED.filter((met) => !REFUSED.includes(met)))('opens it for all, and is shared: $kind $code', (met) => {
    const { all } = breakers();
    const told: (string | undefined)[] = [];
    all.onOpened(({ organisationId }) => told.push(organisationId));
    for (let time = 0; time < 2; time++) for (const each of [anna, ben]) all.failed(each, met);
    expect([all.isOpen(cleo), all.statusOf('a/one', 'org_cleo')]).toEqual([true, 'down']);
    if (!mayBeOfNode(met, false)) expect(told).toContain(undefined);
  });

  it('closes for each of them with the first success', () => {
    const { clock, all, fail } = breakers();
    fail(anna, 3);
    fail(ben, 3);
    clock.increment(1_000);
    all.begun(cleo);
    all.succeeded(cleo);
    expect([anna, ben, cleo].map((each) => all.isOpen(each))).toEqual([false, false, false]);
    expect(all.size).toBe(0);
  });

  it('opens for all when one organisation cannot reach a provider', () => {
    const { all } = breakers();
    for (let time = 0; time < 3; time++) all.failed(anna, failing('unreachable', { kind: 'retry' }));
    expect(openFor(all)).toEqual([true, true]);
  });
});

it('keeps a bounded number of breakers of organisations, which take no room from the shared ones', () => {
  const { all } = breakers();
  for (const guarded of [anna, ben]) all.failed(guarded, { kind: 'account' });
  for (let at = 0; at < 3_000; at++) all.failed(of(`org_${at}`, model('a/two')), { kind: 'account' });
  expect([all.size <= 2_000, all.isOpen(cleo)]).toEqual([true, true]);
});
