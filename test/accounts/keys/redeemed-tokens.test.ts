// The promise that a client token for one use is used once, whatever the clocks of nodes say.
import { expect, it } from 'vitest';
import { StoreError } from '../../../src/store/store-error.ts';
import { openTables } from '../../fakes/store/data-directory.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function rig() {
  const { tables, time, database } = openTables();
  const redeem = (id: string, expiresAtMs = time.nowMs + MINUTE_MS, organisationId = 'org_1') =>
    tables.redeemToken(organisationId, id, expiresAtMs);
  const rows = () => database.prepare('SELECT count(*) FROM redeemed_tokens').pluck().get();
  return { time, redeem, rows };
}

it('redeems a token once, and that of another organisation by the same id', () => {
  const { redeem } = rig();
  expect([redeem('a'), redeem('a'), redeem('b'), redeem('a', undefined, 'org_2'), redeem('a')]).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
});

it.each([
  ['at once', 0],
  ['after its end', 2 * MINUTE_MS],
  ['an hour after its end, as on a node whose clock is late', HOUR_MS + MINUTE_MS],
  ['a day later', 24 * HOUR_MS],
  ['after the clock went back', -HOUR_MS],
])('refuses a used token %s', (_, laterMs) => {
  const { time, redeem } = rig();
  const expiresAtMs = time.nowMs + MINUTE_MS;
  expect(redeem('a', expiresAtMs)).toBe(true);
  time.nowMs += laterMs;
  expect([redeem('b', time.nowMs + MINUTE_MS), redeem('a', expiresAtMs)]).toEqual([true, false]);
});

it('forgets tokens that have been over for an hour', () => {
  const { time, redeem, rows } = rig();
  for (let index = 0; index < 250; index++) redeem(`old ${index}`);
  expect(rows()).toBe(250);
  time.nowMs += 2 * HOUR_MS;
  for (const left of [151, 52, 3, 4]) {
    redeem(`new ${left}`);
    expect(rows()).toBe(left);
  }
});

it('refuses ids and times that are none', () => {
  const { redeem } = rig();
  for (const [id, atMs] of [
    ['', 1],
    ['x'.repeat(101), 1],
    ['a', Number.NaN],
    ['a', 0.5],
  ] as const)
    expect(() => redeem(id, atMs)).toThrow(StoreError);
});
