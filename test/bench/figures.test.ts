import { describe, expect, test } from 'vitest';
import { uploadsOf, type Measured as Way, waysOf } from '../../bench/batch/figures.ts';
import { figuresOf, type Measured } from '../../bench/live/figures.ts';
import { median } from '../../bench/median.ts';
import { busyMsOf, openFilesMax } from '../../bench/processes.ts';
import { differencesOf, percentile, ratiosOf, spreadOf, textOf } from '../../bench/spread.ts';

describe('the median', () => {
  test('of an odd count is the value in the middle', () => {
    expect(median([9, 1, 4])).toBe(4);
  });

  test('of an even count is the mean of the middle two', () => {
    expect(median([10, 1, 2, 4])).toBe(3);
  });

  test('of no values is 0', () => {
    expect(median([])).toBe(0);
  });
});

describe('figures of several rounds', () => {
  test('are the median with the lowest and the highest', () => {
    expect(spreadOf([0.3, 0.1, 0.2])).toEqual({ median: 0.2, min: 0.1, max: 0.3 });
  });

  test('are compared within one round', () => {
    expect(ratiosOf([2, 9], [1, 3])).toEqual({ median: 2.5, min: 2, max: 3 });
    expect(differencesOf([2, 9], [1, 3])).toEqual({ median: 3.5, min: 1, max: 6 });
  });

  test('are shown with as many digits as a reader needs', () => {
    expect(textOf({ median: 0.459, min: 0.449, max: 0.535 })).toBe('0.459 [0.449..0.535]');
    expect(textOf({ median: 1_350.017, min: 99.96, max: 12.349 })).toBe('1350 [100..12.3]');
  });

  test('are shown without brackets if all rounds agree', () => {
    expect(textOf({ median: 3, min: 3, max: 3 })).toBe('3');
  });
});

test('takes a percentile of values in any order', () => {
  expect(percentile([5, 1, 3, 2, 4], 0.5)).toBe(3);
  expect(percentile([5, 1, 3, 2, 4], 0.99)).toBe(5);
  expect(percentile([], 0.5)).toBe(0);
});

describe('the processor time of the machine', () => {
  test('leaves out idle time, waiting for a disk, and the time of guests', () => {
    const stat = 'cpu  100 20 30 5000 700 4 6 8 90 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n';
    expect(busyMsOf(stat)).toBe((100 + 20 + 30 + 4 + 6 + 8) * 10);
  });
});

// Windows and macOS have no /proc, and the benches do not run there.
test.skipIf(process.platform !== 'linux')('reads how many files a process may have open', () => {
  expect(openFilesMax()).toBeGreaterThan(0);
});

describe('figures of live sessions', () => {
  const measured = (of: Partial<Measured>): Measured => ({
    ...{ delayP50Ms: 0, delayP99Ms: 0, audioP50Ms: 0, audioP99Ms: 0, loadShare: 0, upstreamShare: 0 },
    ...{ othersShare: 0, missingShare: 0, gone: 0, lateShare: 0, ...of },
  });
  const rows = figuresOf({
    direct: [measured({ delayP99Ms: 1 }), measured({ delayP99Ms: 3 })],
    gateway: [
      measured({ coreShare: 0.4, delayP99Ms: 11, residentMb: 200, grownMb: 90 }),
      measured({ coreShare: 0.6, delayP99Ms: 23, residentMb: 220, grownMb: 110, missingShare: 0.02 }),
    ],
    floor: [measured({ coreShare: 0.2, delayP99Ms: 5 }), measured({ coreShare: 0.2, delayP99Ms: 4 })],
  });

  test('are what clients saw, and the difference to a direct connection', () => {
    expect(rows.gateway).toMatchObject({
      answer_p99_ms: { median: 17, min: 11, max: 23 },
      answer_added_p99_ms: { median: 15, min: 10, max: 20 },
    });
  });

  test('are compared with the floor', () => {
    expect(rows.gateway).toMatchObject({
      core_vs_floor: { median: 2.5, min: 2, max: 3 },
      answer_beyond_floor_p99_ms: { median: 12.5, min: 6, max: 19 },
    });
  });

  test('show the whole process, and what it has grown by', () => {
    expect(rows.gateway).toMatchObject({ resident_mb: { median: 210 }, grown_mb: { median: 100 } });
  });

  test('show missing answers in percent', () => {
    expect(rows.gateway?.missing_percent).toEqual({ median: 1, min: 0, max: 2 });
  });

  test('have no processor time of a direct connection', () => {
    expect(Object.keys(rows.direct ?? {})).not.toContain('core');
  });
});

describe('figures of files', () => {
  const measured = (of: Partial<Way>): Way => ({
    ...{
      p50Ms: 1,
      p99Ms: 2,
      perSecond: 1_000,
      cpuMs: 0.5,
      residentMb: 200,
      loadBusy: 0.1,
      providerBusy: 0.1,
      othersBusy: 0.02,
      ...of,
    },
  });
  const paced = { direct: [measured({})], gateway: [measured({ p50Ms: 1.7, p99Ms: 4.5 })], portkey: [measured({})] };
  const saturated = {
    direct: [measured({ perSecond: 9_000 })],
    gateway: [measured({ perSecond: 2_400 })],
    portkey: [measured({ perSecond: 600 })],
  };

  test('take percentiles at a pace, and requests per second from as many as there can be', () => {
    expect(waysOf(paced, saturated, ['portkey']).gateway).toMatchObject({
      per_second: { median: 2_400 },
      per_second_vs_portkey: { median: 4 },
      p99_ms: { median: 4.5 },
      added_p50_ms: { median: 0.7 },
      added_p99_ms: { median: 2.5 },
      others_core: { median: 0.02 },
    });
  });

  test('have no gateway to measure in a direct connection', () => {
    const figures = Object.keys(waysOf(paced, saturated, []).direct ?? {});
    expect(figures).toContain('p50_ms');
    expect(figures).not.toContain('cpu_ms');
    expect(figures).not.toContain('added_p50_ms');
  });

  test('compare uploads with a direct connection in the same round', () => {
    const uploads = {
      direct: [
        { ms: 100, growthMib: 0 },
        { ms: 200, growthMib: 0 },
      ],
      straight: [
        { ms: 110, growthMib: 5 },
        { ms: 240, growthMib: 7 },
      ],
    };
    expect(uploadsOf(uploads).straight).toEqual({
      upload_ms: { median: 175, min: 110, max: 240 },
      upload_vs_direct: { median: 1.15, min: 1.1, max: 1.2 },
      growth_mib: { median: 6, min: 5, max: 7 },
    });
  });
});
