// The breakers of a node: kept apart by model and credential, bounded, and shown as a model's status.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Breakers, type Guarded } from '../../src/failover/breakers.ts';
import { timersOf } from '../session/support.ts';

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
    onChange: (slug, state) => changes.push(`${slug} ${state}`),
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

it('of one credential says nothing of another', () => {
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
