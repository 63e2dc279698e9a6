import { describe, expect, test } from 'vitest';
import { withCapacity } from '../../bench/report/capacity.ts';
import { differences } from '../../bench/report/comparison.ts';
import { faultsOf } from '../../bench/report/fitness.ts';
import { type Goal, judged } from '../../bench/report/goals.ts';
import { mergedRuns } from '../../bench/report/merge.ts';
import { pageWith, tableOf } from '../../bench/report/page.ts';
import { estimatedSeconds } from '../../bench/report/section.ts';
import { SECTIONS } from '../../bench/report/sections.ts';
import { type Spread, spreadOf } from '../../bench/spread.ts';

const of = (...values: number[]): Spread => spreadOf(values);

describe('a goal', () => {
  const core: Goal = { what: 'core', row: 'gateway', column: 'core', bound: { atMost: 0.5 } };
  const verdict = (figure: Spread, goal = core) => judged([goal], { gateway: { core: figure } })[0]?.at(-1);

  test('is met if the median is within its bound', () => {
    expect(verdict(of(0.3, 0.4, 0.5))).toBe('met');
    expect(verdict(of(8, 9), { ...core, bound: { atLeast: 8 } })).toBe('met');
  });

  test('is not met if the median is beyond its bound', () => {
    expect(verdict(of(0.6, 0.7))).toBe('not met');
    expect(verdict(of(1, 2), { ...core, bound: { atLeast: 8 } })).toBe('not met');
  });

  test('says that rounds disagree', () => {
    expect(verdict(of(0.3, 0.4, 0.6))).toBe('met, not in every round');
    expect(verdict(of(0.4, 0.6, 0.7))).toBe('not met, not in every round');
  });

  test('for a ratio to the floor shows both figures', () => {
    const ratio: Goal = { ...core, column: 'core_vs_floor', bound: { atMost: 1.4 }, shown: 'core' };
    const rows = { gateway: { core: of(0.3), core_vs_floor: of(1.5) }, floor: { core: of(0.2) } };
    expect(judged([ratio], rows)).toEqual([['core', '0.2', '0.3', '1.5', '≤ 1.4 × floor', 'not met']]);
  });

  test('is left out if its figure was not measured', () => {
    expect(judged([core], { floor: { core: of(1) } })).toEqual([]);
  });
});

describe('the difference to the last report', () => {
  const lines = (now: Spread, last: Spread, name = 'core') =>
    differences({ gateway: { [name]: now } }, { gateway: { [name]: last } });

  test('is named above 15 %, with whether the spreads overlap', () => {
    expect(lines(of(1.2), of(1))).toEqual(['gateway, core: 1 → 1.2 (+20 %), the spreads do not overlap']);
    expect(lines(of(0.5, 0.6, 1), of(0.9, 1, 1.1))).toEqual(['gateway, core: 1 → 0.6 (-40 %), the spreads overlap']);
  });

  test('is not named up to 15 %', () => {
    expect(lines(of(1.15), of(1))).toEqual([]);
  });

  test('is not named for figures near zero, for new ones, and for those that describe the run', () => {
    expect(lines(of(0.04), of(0.01))).toEqual([]);
    expect(differences({ gateway: { core: of(1) } }, {})).toEqual([]);
    expect(lines(of(2), of(1), 'others_core')).toEqual([]);
  });

  test('has no percentage if the last figure was 0', () => {
    expect(lines(of(1), of(0))).toEqual(['gateway, core: 0 → 1, the spreads do not overlap']);
  });
});

describe('a measurement', () => {
  const quiet = { machine: { busy_core: of(0.02) } };

  test('can be published after five rounds on a quiet machine', () => {
    expect(faultsOf({ rounds: 5, idle: quiet, rows: { gateway: { core: of(0.5), gone: of(0) } } })).toEqual([]);
  });

  test('cannot be published after fewer rounds', () => {
    expect(faultsOf({ rounds: 4, idle: quiet, rows: {} })).toEqual(['There were fewer than 5 rounds.']);
  });

  test('cannot be published if other programs used the machine', () => {
    expect(faultsOf({ rounds: 5, idle: { machine: { busy_core: of(0.5) } }, rows: {} })).toHaveLength(1);
    expect(faultsOf({ rounds: 5, idle: quiet, rows: { gateway: { others_core: of(0.5) } } })).toEqual([
      'gateway: other programs used more than 0.1 of a core (0.5).',
    ]);
  });

  test.each([
    ['the load was the limit', { load_core: of(0.95) }],
    ['audio was sent late', { late_percent: of(6) }],
    ['answers were missing in one round', { missing_percent: of(0, 0, 40) }],
    ['a client was closed in one round', { gone: of(0, 0, 1) }],
  ])('cannot be published if %s', (_reason, gateway) => {
    expect(faultsOf({ rounds: 5, idle: quiet, rows: { gateway } })).toHaveLength(1);
  });
});

test('a core carries as many sessions as leave a fifth of it free', () => {
  const rows = { gateway: { core: { median: 0.5, min: 0.4, max: 0.8 } }, direct: { load_core: of(0.1) } };
  expect(withCapacity(rows, 500)).toEqual({
    gateway: { ...rows.gateway, sessions_per_core: { median: 800, min: 500, max: 1_000 } },
    direct: rows.direct,
  });
});

test('several runs of a bench are merged to the figures that all of them have', () => {
  const runs = [{ even: { p99: 2, note: 'text', once: 1 } }, { even: { p99: 4, note: 'text' } }];
  expect(mergedRuns(runs)).toEqual({ even: { p99: { median: 3, min: 2, max: 4 } } });
});

describe('the page', () => {
  test('replaces a part of the same heading, adds new ones, and keeps all others', () => {
    const page = '# Old\n\n## One\n\nfirst\n\n## Two\n\nsecond\n';
    expect(pageWith(page, '# New', { Two: 'changed', Three: 'third' })).toBe(
      '# New\n\n## One\n\nfirst\n\n## Two\n\nchanged\n\n## Three\n\nthird\n',
    );
  });

  test('has a table with a dash for a figure that a row does not have, without rows that have none', () => {
    const rows = { gateway: { core: of(0.5) }, direct: { load: of(0.1) }, upload: { ms: of(3) } };
    expect(tableOf(rows, { core: 'core', load: 'load' })).toBe(
      '|  | core | load |\n| --- | --- | --- |\n| gateway | 0.5 | – |\n| direct | – | 0.1 |',
    );
  });
});

describe('the sections of the report', () => {
  test('have different titles and benches', () => {
    expect(new Set(SECTIONS.map(({ title }) => title)).size).toBe(SECTIONS.length);
    expect(new Set(SECTIONS.map(({ bench }) => bench)).size).toBe(SECTIONS.length);
  });

  test('take longer with more rounds', () => {
    const long = { rounds: 5, seconds: 10, warm: 20 };
    const sum = (length: typeof long) =>
      SECTIONS.reduce((seconds, section) => seconds + estimatedSeconds(section, length), 0);
    expect(sum(long)).toBeGreaterThan(sum({ ...long, rounds: 1 }));
  });
});
