// What providers were sent, by day: written with each settlement, once, and added up so that it stays small.
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SentAgain, SessionEnd, UsageLine } from '../../../src/money/store/calls.ts';
import { LINES_MAX } from '../../../src/money/store/checks.ts';
import { LEG_USAGE_DAYS } from '../../../src/money/store/leg-usage.ts';
import { endOf, headOf, holdOf, type LedgerRig, ledgerRig, lineOf, perMinute } from '../../fakes/store/ledger.ts';

const DAY = '2026-11-21';
const again = (reason: SentAgain['reason'], audioMs: number, rest: Partial<SentAgain> = {}): SentAgain => ({
  ...{ model: 'loopback/script', own: false, legs: 1 },
  ...rest,
  ...{ reason, audioMs },
});

let rig: LedgerRig & { who: ReturnType<LedgerRig['customer']> };
beforeEach(() => {
  const opened = ledgerRig();
  rig = { ...opened, who: opened.customer({ credit: 10_000_000_000n }) };
});

const settle = (id: string, lines: readonly UsageLine[], rest: Partial<SessionEnd> = { sentAgain: [] }) =>
  rig.ledger.settleSession(headOf(rig.who, id), endOf(lines, rest));
const rows = (provider = 'loopback', from = DAY, to = DAY) =>
  rig.ledger
    .legUsageOf(provider, from, to)
    .map(({ model, own, reason, legs, audioMs }) => [model, own, reason, legs, audioMs] as const);

describe('the usage of legs', () => {
  it('has what was charged, and what was sent again or in vain, by account', () => {
    settle('ses_1', [lineOf(60_000), lineOf(5_000, perMinute(0n), { own: true })], {
      sentAgain: [again('replayed', 10_000), again('failed', 4_000, { model: 'loopback/echo', legs: 2 })],
    });
    settle('ses_2', [lineOf(1_000), lineOf(2_000, perMinute(1n), { rate: 1 })]);
    expect(rows()).toEqual([
      ['loopback/echo', false, 'failed', 2, 4_000],
      ['loopback/script', false, 'replayed', 1, 10_000],
      ['loopback/script', false, 'served', 2, 53_000],
      ['loopback/script', true, 'served', 1, 5_000],
    ]);
    expect(rows('deepgram')).toEqual([]);
    expect(rows('loop')).toEqual([]);
  });

  it('counts a settlement once, however often it is repeated, and nothing of a node that does not count', () => {
    settle('ses_1', [lineOf(60_000)]);
    settle('ses_1', [lineOf(60_000)]);
    settle('ses_2', [lineOf(60_000)], {});
    expect(rows()).toEqual([['loopback/script', false, 'served', 1, 60_000]]);
  });

  it('counts a session whose node was lost once it is reported, with what is billed late', () => {
    const head = headOf(rig.who, 'ses_abc123_1');
    rig.ledger.openSession(head, holdOf(0n));
    rig.ledger.renewHold(head, [lineOf(60_000)], holdOf(0n));
    rig.ledger.closeLost('abc123', new Date(rig.clock.nowMs).toISOString());
    expect(rows()).toEqual([]);
    for (let time = 0; time < 2; time++) settle('ses_abc123_1', [lineOf(90_000)]);
    expect(rows().reduce((sum, [, , , , ms]) => sum + Number(ms), 0)).toBe(90_000);
  });

  it('has the day on which a session ended, and keeps 400 of them', () => {
    const ended = (endedAt: string) => ({ endedAt, sentAgain: [] });
    settle('ses_1', [lineOf(1_000)], ended('2026-11-20T23:59:59.999Z'));
    settle('ses_2', [lineOf(2_000)], ended('2026-11-21T01:00:00.000+02:00'));
    settle('ses_3', [lineOf(4_000)], ended('2026-11-21T00:00:00.000Z'));
    const days = () =>
      rig.ledger.legUsageOf('loopback', '2000-01-01', '2100-01-01').map(({ day, audioMs }) => [day, audioMs]);
    expect(days()).toEqual([
      ['2026-11-20', 3_000],
      ['2026-11-21', 4_000],
    ]);
    rig.clock.nowMs = Date.parse('2026-11-21T12:00:00.000Z') + LEG_USAGE_DAYS * 86_400_000;
    settle('ses_4', [lineOf(8_000)], ended(new Date(rig.clock.nowMs).toISOString()));
    expect(days().map(([day]) => day)).toEqual(['2026-11-21', '2027-12-26']);
  });

  it.each<[string, readonly unknown[]]>([
    ['replayed or failed', [{ ...again('failed', 1), reason: 'served' }]],
    ['counted', [again('failed', 1, { legs: 0 })]],
    ['milliseconds', [again('failed', -1)]],
    ['model', [again('failed', 1, { model: '' })]],
    ['at most', Array.from({ length: 2 * LINES_MAX + 1 }, () => again('failed', 1))],
  ])('refuses an end with a wrong value: %s', (words, sentAgain) => {
    expect(() => settle('ses_1', [], { sentAgain: sentAgain as readonly SentAgain[] })).toThrow(words);
    expect(rows()).toEqual([]);
  });

  it('keeps live sessions apart from files, which have other prices', () => {
    settle('ses_1', [lineOf(1_000)]);
    const file = { audioMs: 2_000, channels: 1, audioMsMax: 2_000 };
    const head = headOf(rig.who, 'req_1', { mode: 'batch' });
    rig.ledger.settleSession(head, endOf([lineOf(2_000)], { file, sentAgain: [] }));
    expect(rig.ledger.legUsageOf('loopback', DAY, DAY).map(({ mode, audioMs }) => [mode, audioMs])).toEqual([
      ['batch', 2_000],
      ['live', 1_000],
    ]);
  });

  it('refuses days that are not written YYYY-MM-DD', () => {
    expect(() => rig.ledger.legUsageOf('loopback', '21.11.2026', DAY)).toThrow('YYYY-MM-DD');
  });

  it('adds up to the audio that is charged and the audio that was sent in vain', () => {
    const session = fc.record({
      charged: fc.integer({ min: 0, max: 100_000 }),
      replayed: fc.double({ min: 0, max: 1, noNaN: true }),
      failed: fc.integer({ min: 0, max: 100_000 }),
    });
    fc.assert(
      fc.property(fc.array(session, { maxLength: 20 }), (sessions) => {
        rig = { ...ledgerRig(), who: rig.who };
        rig.who = rig.customer({ credit: 10_000_000_000n });
        for (const [index, { charged, replayed, failed }] of sessions.entries()) {
          const sentAgain = [again('replayed', Math.floor(charged * replayed)), again('failed', failed)];
          settle(`ses_${index}`, [lineOf(charged)], { sentAgain: sentAgain.filter(({ audioMs }) => audioMs > 0) });
        }
        const sum = rows().reduce((total, [, , , , ms]) => total + Number(ms), 0);
        expect(sum).toBe(sessions.reduce((total, { charged, failed }) => total + charged + failed, 0));
        expect(rows().length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 20 },
    );
  });
});
