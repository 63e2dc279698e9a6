// How a node keeps from running over a provider: turns at dialling, and a budget for second attempts.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { LegFailure } from '../../../machines/events.ts';
import { DialGate, RetryBudget, type Ticket } from '../../../src/live/failover/admission.ts';
import { Breakers } from '../../../src/live/failover/breakers/breakers.ts';
import { type Attempts, ModelAttempt } from '../../../src/live/failover/model-attempt.ts';
import { seeded } from '../../fakes/random.ts';

describe('the dial gate', () => {
  it('admits a limited number of dials at once, in order of arrival, as others leave', () => {
    const random = seeded(7);
    const gate = new DialGate(3);
    const entered: number[] = [];
    const left = new Set<number>();
    const tickets: Ticket[] = [];
    for (let index = 0; index < 200; index++) tickets.push(gate.enter('a', () => entered.push(index)));
    expect([entered, gate.waiting]).toEqual([[0, 1, 2], 197]);
    while (left.size < 200) {
      const index = random.integer(0, 199);
      tickets[index]?.release();
      left.add(index);
      const inside = entered.filter((each) => !left.has(each)).length;
      expect(inside).toBe(Math.min(3, 200 - left.size));
      expect(gate.waiting).toBe(200 - left.size - inside);
    }
    expect(entered).toEqual([...entered].sort((one, other) => one - other));
  });

  it('keeps models apart', () => {
    const gate = new DialGate(1);
    const entered: string[] = [];
    gate.enter('a', () => entered.push('a'));
    gate.enter('b', () => entered.push('b'));
    gate.enter('a', () => entered.push('a again'));
    expect(entered).toEqual(['a', 'b']);
  });
});

it('lets a fifth of the sessions retry the same model at once, and always three', () => {
  let sessions = 4;
  const budget = new RetryBudget(() => sessions);
  const tickets = [budget.take(), budget.take(), budget.take()];
  expect(budget.hasRoom).toBe(false);
  sessions = 20;
  expect(budget.hasRoom).toBe(true);
  sessions = 4;
  for (const ticket of [...tickets, ...tickets]) ticket.release();
  expect(budget.hasRoom).toBe(true);
});

describe('an attempt', () => {
  const guarded = { slug: 'a/one', credentialId: 'service' };
  const shared = (clock = new SimulatedClock()): Attempts => ({
    breakers: new Breakers({
      clock,
      failuresMax: 1,
      openMs: 1_000,
      openMsMax: 1_000,
      onFault: () => {},
    }),
    dials: new DialGate(1),
    retries: new RetryBudget(() => 0),
  });
  const failure = { kind: 'next', reason: 'connect_failed', code: 'x', message: 'x' } as const;
  const begin = (all: Attempts, said: string[], name: string, hasOther = true) =>
    new ModelAttempt(guarded, all, undefined, {
      dial: () => said.push(`${name} dials`),
      passOver: ({ code }) => said.push(`${name} passed over: ${code}`),
      hasOther: () => hasOther,
    });

  it('passes over an attempt that waited while the breaker opened, unless it is the last resort', () => {
    const all = shared();
    const said: string[] = [];
    const first = begin(all, said, 'first');
    begin(all, said, 'second');
    const third = begin(all, said, 'third', false);
    first.failed(failure);
    expect(said).toEqual(['first dials', 'second passed over: circuit_open']);
    third.end();
    expect(all.breakers.isOpen(guarded)).toBe(true);
  });

  it('never dials for an attempt that ended while it waited', () => {
    const all = shared();
    const said: string[] = [];
    const first = begin(all, said, 'first');
    begin(all, said, 'second').end();
    first.ready();
    begin(all, said, 'third');
    expect(said).toEqual(['first dials', 'third dials']);
  });

  it('gives the probe back when an attempt ends without a result', () => {
    const clock = new SimulatedClock();
    const all = shared(clock);
    all.breakers.failed(guarded, failure);
    clock.increment(1_000);
    const probe = begin(all, [], 'probe');
    expect(all.breakers.isOpen(guarded)).toBe(true);
    probe.end();
    expect(all.breakers.isOpen(guarded)).toBe(false);
  });

  it.each<[string, Partial<LegFailure>]>([
    ['the caller’s fault', { kind: 'caller' }],
    ['our own doing', { own: true }],
  ])('leaves the model’s breaker alone after a failure by %s', (_, more) => {
    const all = shared();
    begin(all, [], 'first').failed({ ...failure, ...more });
    expect([all.breakers.isOpen(guarded), all.breakers.size]).toEqual([false, 0]);
  });

  describe('at a provider whose streams are limited', () => {
    const full = (all: Attempts): Attempts => ({ ...all, slots: { take: async () => 'full' as const } });
    const settled = () => new Promise((resolve) => setImmediate(resolve));

    it('is passed over while all are in use, and dials where there is no other model', async () => {
      const all = full({ ...shared(), dials: new DialGate(2) });
      const said: string[] = [];
      begin(all, said, 'first');
      begin(all, said, 'last', false);
      await settled();
      expect(said).toEqual(['first passed over: streams_full', 'last dials']);
    });

    it('dials where the streams could not be counted', async () => {
      const take = () => Promise.reject(new Error('It does not count.'));
      const all = { ...shared(), dials: new DialGate(2), slots: { take } };
      const said: string[] = [];
      begin(all, said, 'first');
      begin(all, said, 'ended').end();
      await settled();
      expect(said).toEqual(['first dials']);
    });

    it('gives its slot back when it is over, also where it ends before it has it', async () => {
      let held = 0;
      const take = async () => {
        held++;
        return { leave: () => held-- };
      };
      const all = { ...shared(), dials: new DialGate(3), slots: { take } };
      const said: string[] = [];
      const attempts = ['ends', 'fails', 'ends at once'].map((name) => begin(all, said, name));
      attempts[2]?.end();
      await settled();
      expect([held, said]).toEqual([2, ['ends dials', 'fails dials']]);
      attempts[0]?.end();
      attempts[1]?.failed(failure);
      attempts[1]?.end();
      expect(held).toBe(0);
    });
  });

  it('keeps the probe’s slot when another attempt runs next to it', () => {
    const clock = new SimulatedClock();
    const all = { ...shared(clock), dials: new DialGate(2) };
    all.breakers.failed(guarded, failure);
    clock.increment(1_000);
    begin(all, [], 'probe');
    begin(all, [], 'beside', false).end();
    expect(all.breakers.isOpen(guarded)).toBe(true);
  });
});
