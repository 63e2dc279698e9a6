// What providers were sent, by day: written with each settlement, once, and added up so that it stays small.
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { sentUsage } from '../../../src/money/reconcile/sent-usage.ts';
import type { SentAgain, SessionEnd, UsageLine } from '../../../src/money/store/calls.ts';
import { SENT_AGAIN_MAX } from '../../../src/money/store/checks.ts';
import { CHARGED_LOOKED_AT_MAX, LEG_USAGE_DAYS } from '../../../src/money/store/leg-usage.ts';
import { legUsageOfBills } from '../../../src/store/migrations.ts';
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
const sent = (provider = 'loopback', from = DAY, to = DAY) =>
  sentUsage(
    {
      legUsageOf: async (...days) => rig.ledger.legUsageOf(...days),
      chargedUsageOf: async (...days) => rig.ledger.chargedUsageOf(...days),
    },
    provider,
    from,
    to,
  );
const rows = async (provider?: string) =>
  (await sent(provider)).map(({ model, own, reason, legs, audioMs }) => [model, own, reason, legs, audioMs] as const);

describe('the usage of legs', () => {
  it('has what was charged, and what was sent again or in vain, by account', async () => {
    settle('ses_1', [lineOf(60_000), lineOf(5_000, perMinute(0n), { own: true })], {
      sentAgain: [again('replayed', 10_000), again('failed', 4_000, { model: 'loopback/echo', legs: 2 })],
    });
    settle('ses_2', [lineOf(1_000), lineOf(2_000, perMinute(1n), { rate: 1 })]);
    expect(await rows()).toEqual([
      ['loopback/echo', false, 'failed', 2, 4_000],
      ['loopback/script', false, 'replayed', 1, 10_000],
      ['loopback/script', false, 'served', 2, 53_000],
      ['loopback/script', true, 'served', 1, 5_000],
    ]);
    expect(await rows('deepgram')).toEqual([]);
    expect(await rows('loop')).toEqual([]);
  });

  it('counts a settlement once, however often it is repeated, also of a node that does not count what is sent again', async () => {
    for (let time = 0; time < 2; time++) settle('ses_1', [lineOf(60_000)], { sentAgain: [again('failed', 1_000)] });
    settle('ses_2', [lineOf(60_000)], {});
    expect(await rows()).toEqual([
      ['loopback/script', false, 'failed', 1, 1_000],
      ['loopback/script', false, 'served', 2, 120_000],
    ]);
  });

  it('has connections that were opened ahead, and attempts at files, by reason', async () => {
    const ahead = { audioMs: 0, connectionMs: 9_000 } as const;
    for (const id of ['ses_1', 'ses_2'])
      settle(id, [], { sentAgain: [again('standby', 0, ahead), again('probe', 0, { ...ahead, connectionMs: 500 })] });
    settle('req_1', [], { sentAgain: [again('attempt', 3_000)] });
    expect(
      (await sent()).map(({ reason, legs, audioMs, connectionMs }) => [reason, legs, audioMs, connectionMs]),
    ).toEqual([
      ['attempt', 1, 3_000, 0],
      ['probe', 2, 0, 1_000],
      ['standby', 2, 0, 18_000],
    ]);
  });

  it('writes nothing where everything was sent once', () => {
    settle('ses_1', [lineOf(60_000)]);
    expect(rig.database.prepare('SELECT count(*) FROM leg_usage').pluck().get()).toBe(0);
  });

  it('counts what was written of charged audio by earlier versions once', async () => {
    settle('ses_1', [lineOf(60_000)]);
    rig.database.exec(`INSERT INTO leg_usage VALUES ('${DAY}', 'loopback/script', 'live', 0, 'served', 1, 60000, 0)`);
    rig.database.exec(legUsageOfBills);
    expect(await rows()).toEqual([['loopback/script', false, 'served', 1, 60_000]]);
  });

  it('reads pages, each of a limited number of sessions and organisations, and counts every session once', async () => {
    const others = Array.from({ length: 20 }, () => rig.customer());
    const head = (number: number) => headOf(others[number % 20] ?? rig.who, `ses_${number}`);
    rig.database.exec('BEGIN');
    const count = CHARGED_LOOKED_AT_MAX + 100;
    for (let number = 0; number < count; number++)
      rig.ledger.settleSession(
        number < 1_000 ? head(number) : headOf(rig.who, `ses_${number}`),
        endOf([lineOf(1_000)]),
      );
    rig.database.exec('COMMIT');
    const first = rig.ledger.chargedUsageOf('loopback', DAY, DAY);
    expect(first.rows.reduce((sum, { legs }) => sum + legs, 0)).toBeLessThanOrEqual(CHARGED_LOOKED_AT_MAX);
    expect(first.next).not.toBeNull();
    expect(await rows()).toEqual([['loopback/script', false, 'served', count, count * 1_000]]);
    expect(rig.ledger.chargedUsageOf('loopback', '2026-11-23', DAY)).toEqual({ rows: [], next: null });
  });

  it.each(['', '[]', '["org_1",1,"0","0"]', '["org_1","","x","0"]', 'null'])(
    'refuses a page that begins at %j',
    (after) => {
      expect(() => rig.ledger.chargedUsageOf('loopback', DAY, DAY, after)).toThrow('pass its `next`');
    },
  );

  it('counts a session whose node was lost at what is charged, and with what is billed late', async () => {
    const head = headOf(rig.who, 'ses_abc123_1');
    rig.ledger.openSession(head, holdOf(0n));
    rig.ledger.renewHold(head, [lineOf(60_000)], holdOf(0n));
    rig.ledger.closeLost('abc123', new Date(rig.clock.nowMs).toISOString());
    expect(await rows()).toEqual([['loopback/script', false, 'served', 1, 60_000]]);
    for (let time = 0; time < 2; time++) settle('ses_abc123_1', [lineOf(90_000)]);
    expect(await rows()).toEqual([['loopback/script', false, 'served', 2, 90_000]]);
  });

  it('has the day on which a session ended, and keeps 400 of them', async () => {
    const ended = (endedAt: string) => ({ endedAt, sentAgain: [] });
    settle('ses_1', [lineOf(1_000)], ended('2026-11-20T23:59:59.999Z'));
    settle('ses_2', [lineOf(2_000)], ended('2026-11-21T01:00:00.000+02:00'));
    settle('ses_3', [lineOf(4_000)], ended('2026-11-21T00:00:00.000Z'));
    for (const day of ['2026-11-20', DAY])
      settle(`ses_again_${day}`, [], { endedAt: `${day}T12:00:00.000Z`, sentAgain: [again('failed', 500)] });
    const days = async () =>
      (await sent('loopback', '2000-01-01', '2100-01-01')).map(({ day, reason, audioMs }) => [day, reason, audioMs]);
    expect(await days()).toEqual([
      ['2026-11-20', 'failed', 500],
      ['2026-11-20', 'served', 3_000],
      [DAY, 'failed', 500],
      [DAY, 'served', 4_000],
    ]);
    rig.clock.nowMs = Date.parse('2026-11-21T12:00:00.000Z') + LEG_USAGE_DAYS * 86_400_000;
    const endedAt = new Date(rig.clock.nowMs).toISOString();
    settle('ses_4', [lineOf(8_000)], { endedAt, sentAgain: [again('failed', 500)] });
    expect((await days()).map(([day]) => day)).toEqual([DAY, DAY, '2027-12-26', '2027-12-26']);
    expect(rig.database.prepare('SELECT DISTINCT day FROM leg_usage').pluck().all()).toEqual([DAY, '2027-12-26']);
  });

  it.each<[string, readonly unknown[]]>([
    ['one of replayed', [{ ...again('failed', 1), reason: 'served' }]],
    ['counted', [again('failed', 1, { legs: 0 })]],
    ['milliseconds', [again('failed', -1)]],
    ['milliseconds', [again('standby', 0, { connectionMs: 0.5 })]],
    ['model', [again('failed', 1, { model: '' })]],
    ['at most', Array.from({ length: SENT_AGAIN_MAX + 1 }, () => again('failed', 1))],
  ])('refuses an end with a wrong value: %s', (words, sentAgain) => {
    expect(() => settle('ses_1', [], { sentAgain: sentAgain as readonly SentAgain[] })).toThrow(words);
    expect(rig.ledger.legUsageOf('loopback', DAY, DAY)).toEqual([]);
  });

  it('keeps live sessions apart from files, which have other prices', async () => {
    settle('ses_1', [lineOf(1_000)]);
    const file = { audioMs: 2_000, channels: 1, audioMsMax: 2_000 };
    const head = headOf(rig.who, 'req_1', { mode: 'batch' });
    rig.ledger.settleSession(head, endOf([lineOf(2_000)], { file }));
    expect((await sent()).map(({ mode, audioMs }) => [mode, audioMs])).toEqual([
      ['batch', 2_000],
      ['live', 1_000],
    ]);
  });

  it('refuses days that are not written YYYY-MM-DD', () => {
    expect(() => rig.ledger.legUsageOf('loopback', '21.11.2026', DAY)).toThrow('YYYY-MM-DD');
    expect(() => rig.ledger.chargedUsageOf('loopback', DAY, '')).toThrow('YYYY-MM-DD');
  });

  it('adds up to the audio that is charged and the audio that was sent in vain', async () => {
    const session = fc.record({
      charged: fc.integer({ min: 0, max: 100_000 }),
      replayed: fc.double({ min: 0, max: 1, noNaN: true }),
      failed: fc.integer({ min: 0, max: 100_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(session, { maxLength: 20 }), async (sessions) => {
        rig = { ...ledgerRig(), who: rig.who };
        rig.who = rig.customer({ credit: 10_000_000_000n });
        for (const [index, { charged, replayed, failed }] of sessions.entries()) {
          const sentAgain = [again('replayed', Math.floor(charged * replayed)), again('failed', failed)];
          settle(`ses_${index}`, [lineOf(charged)], { sentAgain: sentAgain.filter(({ audioMs }) => audioMs > 0) });
        }
        const sum = (await rows()).reduce((total, [, , , , ms]) => total + Number(ms), 0);
        expect(sum).toBe(sessions.reduce((total, { charged, failed }) => total + charged + failed, 0));
        expect((await rows()).length).toBeLessThanOrEqual(3);
      }),
      { numRuns: 20 },
    );
  });
});
