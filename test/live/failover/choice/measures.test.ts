// What is known of how models are doing: for six hours, of all nodes, and not by what one organisation sends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { CELLS, cellOf, medianOf } from '../../../../src/live/failover/choice/delays.ts';
import { ModelMeasures, REPORT_MS, type Totals } from '../../../../src/live/failover/choice/measures.ts';

const MINUTE_MS = 60_000;
const SLUG = 'a/one';

function measured() {
  const clock = new SimulatedClock();
  const measures = new ModelMeasures(clock);
  const times = (count: number, outcome: 'good' | 'error' | 'empty', organisationId = 'org_1') => {
    for (let time = 0; time < count; time++) measures.outcome('live', SLUG, outcome, organisationId);
  };
  return { clock, measures, times, figures: () => measures.figuresOf('live', SLUG) };
}

const totals = (more: Partial<Totals> = {}): Totals => ({
  ...{ attempts: 0, errors: 0, empties: 0, delays: new Uint32Array(CELLS) },
  ...more,
});

describe('the figures of a model', () => {
  it('are those of its mode alone, and nothing without attempts', () => {
    const { measures, times, figures } = measured();
    expect(figures()).toEqual({ attempts: 0, failures: 0, delayMs: undefined, delays: 0 });
    times(3, 'good');
    times(1, 'error');
    times(1, 'empty');
    measures.delayed('live', SLUG, 300);
    measures.delayed('batch', SLUG, 10);
    expect(figures()).toMatchObject({ attempts: 5, failures: 2, delays: 1 });
    expect(measures.figuresOf('batch', SLUG)).toMatchObject({ attempts: 0, delays: 1 });
    expect(measures.figuresOf('live', 'a/two').attempts).toBe(0);
  });

  it('are forgotten after six hours, ten minutes at once', () => {
    const { clock, measures, times, figures } = measured();
    times(2, 'error');
    measures.delayed('live', SLUG, 300);
    clock.increment(10 * MINUTE_MS);
    times(3, 'good');
    expect(figures()).toMatchObject({ attempts: 5, failures: 2, delays: 1 });
    clock.increment(350 * MINUTE_MS - 1);
    expect(figures()).toMatchObject({ attempts: 5, failures: 2 });
    clock.increment(1);
    expect(figures()).toMatchObject({ attempts: 3, failures: 0, delays: 0 });
    clock.increment(10 * MINUTE_MS);
    expect(figures().attempts).toBe(0);
  });

  it('have no room for more than 1,000 models, and continue for those that are known', () => {
    const { measures } = measured();
    for (let at = 0; at < 1_200; at++) measures.outcome('live', `a/${at}`, 'good');
    expect(measures.here()).toHaveLength(1_000);
    measures.outcome('live', 'a/0', 'good');
    expect(measures.figuresOf('live', 'a/0').attempts).toBe(2);
    expect(measures.figuresOf('live', 'a/1100').attempts).toBe(0);
  });
});

describe('failures of one organisation', () => {
  it('count while there is little else to judge by', () => {
    const { times, figures } = measured();
    times(19, 'good', 'org_2');
    times(100, 'error', 'org_1');
    expect(figures()).toMatchObject({ attempts: 119, failures: 100 });
  });

  it('are left out once others have used the model as well, also after ten minutes', () => {
    const { clock, times, figures } = measured();
    times(100, 'error', 'org_1');
    times(20, 'good', 'org_2');
    expect(figures()).toMatchObject({ attempts: 20, failures: 0 });
    clock.increment(10 * MINUTE_MS);
    times(1, 'good');
    expect(figures()).toMatchObject({ attempts: 21, failures: 0 });
  });

  it('do not hide an outage that every organisation meets', () => {
    const { times, figures } = measured();
    for (let at = 0; at < 10; at++) times(20, 'error', `org_${at}`);
    expect(figures()).toMatchObject({ attempts: 180, failures: 180 });
  });

  it('are counted together beyond 100 organisations', () => {
    const { times, figures } = measured();
    for (let at = 0; at < 500; at++) times(1, at % 2 === 0 ? 'good' : 'error', `org_${at}`);
    const { attempts, failures } = figures();
    expect(attempts).toBeLessThanOrEqual(500);
    expect(failures / attempts).toBeLessThan(0.6);
  });
});

describe('a report of another node', () => {
  it('is added, replaces the one before it, and expires', () => {
    const { clock, measures, times, figures } = measured();
    times(5, 'good');
    measures.reported('node02', 'live', SLUG, totals({ attempts: 10, errors: 4 }));
    measures.reported('node03', 'live', SLUG, totals({ attempts: 10, empties: 1 }));
    expect(figures()).toMatchObject({ attempts: 25, failures: 5 });
    measures.reported('node02', 'live', SLUG, totals({ attempts: 12, errors: 4 }));
    expect(figures()).toMatchObject({ attempts: 27, failures: 5 });
    measures.nodeGone('node03');
    expect(figures()).toMatchObject({ attempts: 17, failures: 4 });
    clock.increment(REPORT_MS);
    expect(figures()).toMatchObject({ attempts: 5, failures: 0 });
  });

  it('weighs no more than 10,000 attempts, and has no more failures than attempts', () => {
    const { measures, figures } = measured();
    const delays = new Uint32Array(CELLS).fill(10_000_000);
    const huge = { attempts: 10_000_000, errors: 10_000_000, empties: 10_000_000 };
    measures.reported('node02', 'live', SLUG, totals({ ...huge, delays }));
    expect(figures()).toMatchObject({ attempts: 10_000, failures: 10_000 });
    expect(figures().delays).toBeCloseTo(10_000, 3);
    measures.reported('node02', 'live', SLUG, totals({ attempts: 5, errors: 9, empties: 9 }));
    expect(figures()).toMatchObject({ attempts: 5, failures: 5 });
  });

  it('finds no room beyond 256 nodes, until one has been silent', () => {
    const { clock, measures } = measured();
    const report = (node: string) => measures.reported(node, 'live', SLUG, totals({ attempts: 1 }));
    for (let at = 0; at < 256; at++) expect(report(`node${at}`)).toBe('taken');
    expect(report('another')).toBe('no_room');
    expect(report('node7')).toBe('taken');
    clock.increment(REPORT_MS);
    expect(report('another')).toBe('taken');
  });

  it('finds no room for more than 1,000 models of a node', () => {
    const { measures } = measured();
    for (let at = 0; at < 1_000; at++) measures.reported('node02', 'live', `a/${at}`, totals());
    expect(measures.reported('node02', 'live', 'a/1000', totals())).toBe('no_room');
    expect(measures.reported('node02', 'live', 'a/1', totals())).toBe('taken');
  });
});

describe('the median of delays', () => {
  it('is within 20 % of the true one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 60_000, noNaN: true }), { minLength: 1, maxLength: 99 }),
        (list) => {
          const odd = list.length % 2 === 1 ? list : list.slice(1);
          if (odd.length === 0) return;
          const counts = new Uint32Array(CELLS);
          for (const ms of odd) counts[cellOf(ms)]! += 1;
          const exact = [...odd].sort((one, other) => one - other)[(odd.length - 1) / 2] as number;
          expect(Math.abs(Math.log2(medianOf(counts)! / exact))).toBeLessThan(0.27);
        },
      ),
    );
  });

  it.each([
    [0, 0],
    [-5, 0],
    [Number.NaN, 0],
    [1, 0],
    [1e9, CELLS - 1],
    [Number.POSITIVE_INFINITY, CELLS - 1],
  ])('has a cell for %d ms', (ms, cell) => {
    expect(cellOf(ms)).toBe(cell);
  });
});
