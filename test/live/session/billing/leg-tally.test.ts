// Audio that was sent more than once, or in vain, by the positions where legs begin and end.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LegTally } from '../../../../src/live/session/billing/leg-tally.ts';
import type { MeterCandidate } from '../../../../src/money/ledger/meter.ts';

const RATE = 1_000;
const members = ['a/one', 'b/two'].map((slug) => ({ slug, own: slug === 'b/two' }) as MeterCandidate);
const tally = () => new LegTally(RATE, members);
const shown = (sums: ReturnType<LegTally['total']>) =>
  sums.map(({ model, reason, legs, audioMs }) => [model, reason, legs, audioMs]);

it('is nothing for a session with one leg whose audio is charged', () => {
  const legs = tally();
  legs.begin(0, 0);
  expect(legs.total(60_000, 60_000)).toEqual([]);
});

it('has what the failed leg received in vain, and what the next one received again', () => {
  const legs = tally();
  legs.begin(0, 0);
  legs.end(10_000);
  legs.begin(1, 6_000);
  expect(shown(legs.total(20_000, 20_000))).toEqual([
    ['a/one', 'failed', 1, 4_000],
    ['b/two', 'replayed', 1, 4_000],
  ]);
});

it('has what was sent and not charged at the end, and nothing before a leg', () => {
  const legs = tally();
  expect(legs.total(0, 0)).toEqual([]);
  legs.begin(0, 0);
  expect(shown(legs.total(10_000, 8_000))).toEqual([['a/one', 'failed', 1, 2_000]]);
});

it('counts a leg that continues with other options as sent once', () => {
  const legs = tally();
  legs.begin(0, 0);
  legs.begin(1, 5_000);
  expect(legs.total(9_000, 9_000)).toEqual([]);
});

it('adds up legs of one model that fail again and again', () => {
  const legs = tally();
  for (let leg = 0; leg < 3; leg++) {
    legs.begin(0, 0);
    legs.end(1_000);
  }
  legs.begin(1, 0);
  expect(shown(legs.total(5_000, 5_000))).toEqual([
    ['a/one', 'failed', 3, 3_000],
    ['b/two', 'replayed', 1, 1_000],
  ]);
});

it('divides what was sent into what is charged once, charged again and not charged', () => {
  const step = fc.record({ back: fc.nat(5_000), sent: fc.nat(5_000), index: fc.nat(1) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), fc.nat(3_000), (steps, uncharged) => {
      const legs = tally();
      let position = 0;
      let covered = 0;
      let sentInAll = 0;
      let best = 0;
      for (const { back, sent, index } of steps) {
        const from = Math.max(covered, position - back);
        covered = from;
        legs.begin(index, from);
        position = from + sent;
        best = Math.max(best, position);
        sentInAll += sent;
        legs.end(position);
      }
      const chargedTo = Math.max(covered, position - uncharged);
      const sums = legs.total(position, chargedTo);
      const sumOf = (reason: string) =>
        sums.reduce((sum, each) => sum + (each.reason === reason ? each.audioMs : 0), 0);
      // Everything that was charged, to the last position, was sent once or again; the rest of what was sent was in vain.
      expect(sumOf('failed')).toBe(sentInAll - chargedTo);
      expect(sumOf('replayed')).toBeLessThanOrEqual(chargedTo);
    }),
  );
});
