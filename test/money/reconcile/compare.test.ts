// A provider's figures and ours: what explains the difference, and what does not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, daysOf, type PricedModel, requireOnce } from '../../../src/money/reconcile/compare.ts';
import type { LegUsageRow } from '../../../src/money/store/calls.ts';
import type { ReportedUsage } from '../../../src/vendors/kit/usage-report.ts';

const DAY = '2026-11-03';
const minute = (microUsd: bigint, minimumMicroUsd = 0n) => ({ unit: 'minute', microUsd, minimumMicroUsd }) as const;
const MODELS: PricedModel[] = [
  { name: 'nova-3', prices: { live: minute(6_000n), batch: minute(3_000n) }, metered: [] },
  { name: 'nova-3-medical', prices: { live: minute(12_000n) }, metered: [] },
  { name: 'turbo', prices: { batch: minute(6_000n, 1_000n) }, metered: [] },
  { name: 'stream', prices: { live: minute(6_000n) }, metered: ['live'] },
  { name: 'flat', prices: { live: { unit: 'session', microUsd: 5_000n, minimumMicroUsd: 0n } }, metered: [] },
];
const sent = (audioMs: number, rest: Partial<LegUsageRow> = {}): LegUsageRow => ({
  ...{ day: DAY, model: 'deepgram/nova-3', mode: 'live', own: false, reason: 'served', legs: 1, connectionMs: 0 },
  audioMs,
  ...rest,
});
const billed = (seconds: number | undefined, rest: Partial<ReportedUsage> = {}): ReportedUsage => ({
  ...{ from: DAY, to: DAY, model: 'nova-3' },
  ...(seconds === undefined ? {} : { seconds }),
  ...rest,
});

describe('the comparison', () => {
  it('explains audio of failed legs, replays that are charged, and rounding', () => {
    const ours = [sent(100_000), sent(40_000, { reason: 'replayed' }), sent(30_000, { reason: 'failed' })];
    const [row] = compare([billed(171.4, { microUsd: 17_140n, requests: 2 })], ours, MODELS);
    expect(row).toMatchObject({
      ours: { legs: 2, chargedMs: 140_000, replayedMs: 40_000, failedMs: 30_000, chargedMicroUsd: 14_000n },
      unexplainedSeconds: 0,
      unexplainedMicroUsd: 0n,
      roundingSeconds: 2,
    });
    expect(row?.differenceSeconds).toBeCloseTo(31.4);
    expect(row?.differenceMicroUsd).toBe(3_140n);
  });

  it('explains as much by attempts at files as there is, and nothing by connections without audio', () => {
    const rest = { reason: 'attempt', mode: 'batch' } as const;
    const open = [sent(0, { reason: 'standby', connectionMs: 9_000 }), sent(0, { reason: 'probe', connectionMs: 800 })];
    const ours = [sent(100_000), sent(50_000, rest), ...open];
    for (const [seconds, unexplainedSeconds] of [
      [100, 0],
      [120, 0],
      [152, 0],
      [160, 8],
      [90, -8],
    ] as const)
      expect(compare([billed(seconds)], ours, MODELS)[0]).toMatchObject({
        ours: {
          legs: 1,
          chargedMs: 100_000,
          attempts: 1,
          possibleMs: 50_000,
          standbys: 1,
          standbyMs: 9_000,
          probeMs: 800,
        },
        unexplainedSeconds,
      });
    const [row] = compare([billed(undefined, { microUsd: 12_000n })], ours, MODELS);
    expect(row).toMatchObject({ ours: { possibleMicroUsd: 2_500n }, unexplainedMicroUsd: 0n });
  });

  it('explains a connection that was opened ahead where the price is for its time', () => {
    const ours = [
      sent(10_000, { model: 'x/stream' }),
      sent(0, { model: 'x/stream', reason: 'probe', connectionMs: 5_000 }),
    ];
    for (const seconds of [10, 15])
      expect(compare([billed(seconds, { model: 'stream' })], ours, MODELS)[0]).toMatchObject({ unexplainedSeconds: 0 });
  });

  it('says what is left, in either direction', () => {
    const over = compare([billed(200, { microUsd: 20_000n })], [sent(100_000)], MODELS)[0];
    expect(over).toMatchObject({ unexplainedSeconds: 99, unexplainedMicroUsd: 9_899n });
    expect(compare([billed(50)], [sent(100_000)], MODELS)[0]).toMatchObject({ unexplainedSeconds: -49 });
  });

  it('leaves customers’ own accounts to their bills', () => {
    const ours = [sent(10_000), sent(90_000, { own: true })];
    expect(compare([billed(10)], ours, MODELS)[0]).toMatchObject({
      ours: { chargedMs: 10_000, ownMs: 90_000 },
      unexplainedSeconds: 0,
    });
  });

  it('takes the minimum of a price for the rounding of each leg', () => {
    const ours = [sent(30_000, { model: 'groq/turbo', mode: 'batch', legs: 30 })];
    expect(compare([billed(300, { model: 'turbo' })], ours, MODELS)[0]).toMatchObject({
      roundingSeconds: 300,
      unexplainedSeconds: 0,
    });
  });

  it('prices live and files apart, connections by their time, and sessions by their number', () => {
    const ours = [
      sent(60_000),
      sent(60_000, { mode: 'batch' }),
      sent(30_000, { model: 'x/stream', connectionMs: 60_000 }),
      sent(1, { model: 'x/flat', legs: 3 }),
    ];
    const rows = compare(
      ['nova-3', 'stream', 'flat'].map((model) => billed(undefined, { model, microUsd: 0n })),
      ours,
      MODELS,
    );
    expect(rows.map(({ model, ours: { chargedMicroUsd } }) => [model, chargedMicroUsd])).toEqual([
      ['flat', 15_000n],
      ['nova-3', 9_000n],
      ['stream', 6_000n],
    ]);
  });

  it('knows longer names of a model, and keeps names that are in no catalogue', () => {
    const names = ['nova-3-general', 'nova-3-medical', 'nova-30', 'tts'];
    const rows = compare(
      names.map((model) => billed(1, { model })),
      [sent(1_000)],
      MODELS,
    );
    expect(rows.map(({ model, ours: { chargedMs } }) => [model, chargedMs])).toEqual([
      ['nova-3', 1_000],
      ['nova-3-medical', 0],
      ['nova-30', 0],
      ['tts', 0],
    ]);
  });

  it('adds up rows of several projects, and files with seconds and with amounts', () => {
    const rows = compare([billed(10), billed(20), billed(undefined, { microUsd: 3_000n })], [sent(30_000)], MODELS);
    expect(rows).toMatchObject([
      { vendor: { seconds: 30, microUsd: 3_000n }, differenceSeconds: 0, differenceMicroUsd: 0n },
    ]);
  });

  it('shows what was sent and not reported, and compares all models together where the report does', () => {
    const ours = [sent(60_000), sent(60_000, { model: 'x/flat' }), sent(60_000, { day: '2026-11-04' })];
    expect(compare([billed(60)], ours, MODELS)).toMatchObject([
      { from: DAY, model: 'flat', vendor: { seconds: 0 }, differenceSeconds: -60 },
      { from: DAY, model: 'nova-3', differenceSeconds: 0 },
      { from: '2026-11-04', model: 'nova-3', vendor: { seconds: 0 } },
    ]);
    const together = billed(180, { model: null, to: '2026-11-04' });
    expect(compare([together], ours, MODELS)).toMatchObject([{ model: null, differenceSeconds: 0 }]);
  });

  it('explains a difference within failed legs and rounding, and never more than it', () => {
    fc.assert(
      fc.property(
        fc.nat(10_000_000),
        fc.nat(1_000_000),
        fc.nat(1_000),
        fc.integer({ min: 1, max: 50 }),
        (served, failed, more, legs) => {
          const ours = [sent(served, { legs }), sent(failed, { reason: 'failed' })];
          const rounding = legs + 1;
          const extra = (more / 1_000) * rounding;
          const [fits] = compare([billed((served + failed) / 1_000 + extra)], ours, MODELS);
          expect(fits?.unexplainedSeconds).toBeCloseTo(0, 6);
          const [over] = compare([billed((served + failed) / 1_000 + rounding + 5)], ours, MODELS);
          expect(over?.unexplainedSeconds).toBeCloseTo(5, 6);
        },
      ),
    );
  });
});

describe('reports', () => {
  const file = (name: string, ...reported: ReportedUsage[]) => ({ name, reported });

  it('may have seconds and amounts in two files, and several rows of a day in one', () => {
    expect(() =>
      requireOnce([file('usage', billed(1), billed(2)), file('costs', billed(undefined, { microUsd: 1n }))]),
    ).not.toThrow();
  });

  it('are refused where they report a day twice', () => {
    expect(() => requireOnce([file('one', billed(1)), file('two', billed(1))])).toThrow(
      `${DAY} is reported twice, by one and two`,
    );
    const month = billed(1, { from: '2026-11-01', to: '2026-11-30' });
    expect(() => requireOnce([file('one', month, billed(1))])).toThrow('reported twice');
  });

  it('are refused without usage, and of more days than are kept', () => {
    expect(() => daysOf([])).toThrow('no usage');
    expect(daysOf([billed(1), billed(1, { from: '2026-10-30' })])).toEqual({ from: '2026-10-30', to: DAY });
    expect(() => daysOf([billed(1, { to: '2030-01-01' })])).toThrow('400 days');
  });
});
