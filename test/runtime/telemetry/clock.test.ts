// The system's clock: delays of any length at the right time, and which timers hold the process.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { backgroundClock, systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { workerFile } from '../../../src/runtime/telemetry/worker-file.ts';

const DAY_MS = 24 * 3_600_000;

describe('delays', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    ['no time at all', 0, 0],
    ['a negative time', -5, 0],
    ['a second', 1000, 1000],
    ['the longest of a Node timer', 2 ** 31 - 1, 2 ** 31 - 1],
    ['a millisecond more than that', 2 ** 31, 2 ** 31],
    ['a hundred days', 100 * DAY_MS, 100 * DAY_MS],
  ])('%s fires once, exactly when it is due', (_, delayMs, dueMs) => {
    for (const clock of [systemClock, backgroundClock]) {
      const fired = vi.fn();
      clock.setTimeout(fired, delayMs);
      vi.advanceTimersByTime(Math.max(0, dueMs - 1));
      if (dueMs > 0) expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(fired).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(200 * DAY_MS);
      expect(fired).toHaveBeenCalledOnce();
    }
  });

  test('never fires an endless delay', () => {
    const fired = vi.fn();
    systemClock.setTimeout(fired, Number.POSITIVE_INFINITY);
    vi.advanceTimersByTime(1000 * DAY_MS);
    expect(fired).not.toHaveBeenCalled();
  });

  test('cancels a cleared timer, however often it was armed again', () => {
    const fired = vi.fn();
    const handle = systemClock.setTimeout(fired, 100 * DAY_MS);
    vi.advanceTimersByTime(60 * DAY_MS);
    systemClock.clearTimeout(handle);
    systemClock.clearTimeout(handle);
    vi.advanceTimersByTime(100 * DAY_MS);
    expect(fired).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('throws a RangeError for a delay that is not a number', () => {
    expect(() => systemClock.setTimeout(() => {}, Number.NaN)).toThrow(RangeError);
  });
});

test('time only moves forward, in milliseconds', () => {
  const first = systemClock.now();
  expect(systemClock.now()).toBeGreaterThanOrEqual(first);
  expect(Math.abs(first - performance.now())).toBeLessThan(1000);
});

test('lets the process exit while the background clock’s timer waits', async () => {
  const clock = new URL('../../../src/runtime/telemetry/clock.ts', import.meta.url).href;
  const code = `import { backgroundClock } from '${clock}'; backgroundClock.setTimeout(() => console.log('fired'), 20_000);`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    code,
  ]);
  expect(stdout).toBe('');
});

describe('the file of a worker thread', () => {
  const root = new URL('../../../', import.meta.url).href;

  test('lies next to the compiled twin when the module runs from source', () => {
    expect(workerFile(`${root}src/node/store/sqlite-store.ts`, 'worker').href).toBe(
      `${root}dist/src/node/store/worker.js`,
    );
  });

  test('names the build command when it was not compiled', () => {
    expect(() => workerFile(`${root}src/node/store/sqlite-store.ts`, 'no-such-worker')).toThrow(/npm run build/);
  });

  test('lies next to a compiled module, also in a path with spaces', () => {
    expect(workerFile('file:///a%20b/dist/src/store/sqlite.js', 'sqlite-worker').href).toBe(
      'file:///a%20b/dist/src/store/sqlite-worker.js',
    );
  });
});
