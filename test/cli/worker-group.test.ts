// The workers of one gateway, with processes that do what the test says: who is started when, what is started again, and how
// everything ends.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import {
  type Listening,
  Restarts,
  type StartedAs,
  type WorkerEnd,
  WorkerGroup,
  type WorkerProcess,
} from '../../src/cli/serve/worker-group.ts';

const DRAIN_MS = 60_000;

class FakeProcess implements WorkerProcess {
  readonly as: StartedAs;
  readonly sent: string[] = [];
  over = false;

  constructor(as: StartedAs) {
    this.as = as;
  }

  send(order: string): void {
    if (!this.over && this.sent.at(-1) !== order) this.sent.push(order);
  }

  kill(signal: string): void {
    this.send(signal);
  }

  listen(): this {
    this.as.onListening({
      type: 'listening',
      url: `http://h:${this.as.worker}`,
      first: { key: undefined, ownerLink: undefined },
    });
    return this;
  }

  end(end: Partial<WorkerEnd> = {}): void {
    this.over = true;
    this.as.onEnd({ code: 0, signal: null, ...end });
  }
}

function rig(workers: number) {
  const clock = new SimulatedClock();
  const processes: FakeProcess[] = [];
  const announced: Listening[] = [];
  const lost: unknown[] = [];
  let code: number | undefined;
  const group = new WorkerGroup({
    workers,
    clock,
    drainMs: DRAIN_MS,
    start: (as) => {
      const process = new FakeProcess(as);
      processes.push(process);
      return process;
    },
    onListening: (sent) => announced.push(sent),
    onLost: ({ worker, restartMs }) => lost.push([worker, restartMs]),
  });
  void group.ended.then((value) => {
    code = value;
  });
  group.start();
  /** The process that a worker has now. */
  const now = (worker: number) => processes.findLast(({ as }) => as.worker === worker) as FakeProcess;
  return {
    clock,
    group,
    processes,
    announced,
    lost,
    now,
    started: () => processes.map(({ as }) => [as.worker, as.start]),
    running: () => processes.filter(({ over }) => !over),
    code: async () => {
      await Promise.resolve();
      return code;
    },
    /** All of them listen. */
    up() {
      for (let worker = 1; worker <= workers; worker++) now(worker).listen();
      return this;
    },
  };
}

describe('the start', () => {
  test('waits for the first, then the others, and is announced when all listen', () => {
    const { started, now, announced } = rig(3);
    expect(started()).toEqual([[1, 1]]);
    now(1).listen();
    expect(started()).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    now(3).listen();
    expect(announced).toEqual([]);
    now(2).listen();
    expect(announced).toEqual([
      { type: 'listening', url: 'http://h:1', first: { key: undefined, ownerLink: undefined } },
    ]);
  });

  test.each([
    [78, 78],
    [1, 1],
    [null, 1],
    [0, 1],
  ])(
    'fails with one that ends with %s before listening: everything ends with %i, without a retry',
    async (code, all) => {
      const { now, group, started, running, clock, code: ended } = rig(3);
      now(1).listen();
      now(2).listen();
      now(3).end({ code });
      clock.increment(DRAIN_MS);
      expect(started()).toHaveLength(3);
      expect(running().map(({ sent }) => sent)).toEqual([['drain'], ['drain', 'last']]);
      now(1).end();
      now(2).end();
      expect(await group.ended).toBe(all);
      expect(await ended()).toBe(all);
    },
  );
});

describe('a worker that dies', () => {
  test('restarts, later each time, and after five times in a minute everything ends with 1', async () => {
    const { now, group, lost, clock, running } = rig(2).up();
    for (const [index, ms] of [100, 300, 900, 2_700, 8_100].entries()) {
      now(2).end({ code: null, signal: 'SIGKILL' });
      expect(lost.at(-1)).toEqual([2, ms]);
      clock.increment(ms - 1);
      expect(running()).toHaveLength(1);
      clock.increment(1);
      expect(now(2).as.start).toBe(index + 2);
      now(2).listen();
    }
    now(2).end({ code: 1 });
    expect(lost.at(-1)).toEqual([2, undefined]);
    expect(now(1).sent).toEqual(['drain', 'last']);
    now(1).end();
    expect(await group.ended).toBe(1);
  });

  test('causes no second announcement, and does not count for the others', () => {
    const { now, announced, lost, clock } = rig(2).up();
    for (const worker of [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]) {
      now(worker).end({ code: 1 });
      clock.increment(10_000);
      now(worker).listen();
    }
    expect(announced).toHaveLength(1);
    expect(lost.every((each) => (each as unknown[])[1] !== undefined)).toBe(true);
  });

  test('stays down for a wrong setting, and everything ends with its code', async () => {
    const { now, group } = rig(2).up();
    now(2).end({ code: 78 });
    now(1).end();
    expect(await group.ended).toBe(78);
  });

  test('stays down while all end', async () => {
    const { now, group, clock, started } = rig(2).up();
    now(2).end({ code: 1 });
    group.drain();
    clock.increment(DRAIN_MS);
    now(1).end();
    expect(started()).toHaveLength(2);
    expect(await group.ended).toBe(0);
  });

  test('restarts as at first after a minute without a failure', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 120_000 }), { minLength: 1, maxLength: 60 }), (gapsMs) => {
        const restarts = new Restarts();
        const tried: number[] = [];
        let nowMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const within = tried.filter((ms) => nowMs - ms < 60_000).length;
          const delayMs = restarts.after(nowMs);
          expect(delayMs).toBe(within === 5 ? undefined : Math.min(100 * 3 ** within, 10_000));
          if (delayMs !== undefined) tried.push(nowMs);
        }
      }),
      { seed: 6 },
    );
  });
});

describe('the end', () => {
  test('keeps the first by a drain until the others have left, and exits with 0', async () => {
    const { now, group, code } = rig(3).up();
    group.drain();
    expect([1, 2, 3].map((worker) => now(worker).sent)).toEqual([['drain'], ['drain', 'last'], ['drain', 'last']]);
    now(3).end();
    expect(now(1).sent).toEqual(['drain']);
    now(2).end();
    expect(now(1).sent).toEqual(['drain', 'last']);
    expect(await code()).toBe(undefined);
    now(1).end();
    expect(await group.ended).toBe(0);
  });

  test('signals both once by a drain and a stop', () => {
    const { now, group } = rig(2).up();
    group.drain();
    group.drain();
    group.stop();
    group.stop();
    group.drain();
    expect(now(2).sent).toEqual(['drain', 'last', 'stop', 'last']);
  });

  test('exits with 1 when a draining worker dies', async () => {
    const { now, group } = rig(2).up();
    group.drain();
    now(2).end({ code: null, signal: 'SIGSEGV' });
    now(1).end();
    expect(await group.ended).toBe(1);
  });

  test('skips a worker that is still starting, and exits with 0', async () => {
    const { now, group } = rig(3);
    now(1).listen();
    group.drain();
    expect([now(2).sent, now(3).sent]).toEqual([
      ['SIGTERM', 'last'],
      ['SIGTERM', 'last'],
    ]);
    now(2).end({ code: null, signal: 'SIGTERM' });
    // It had just come so far.
    now(3).listen();
    expect(now(3).sent).toEqual(['SIGTERM', 'last', 'drain', 'last']);
    now(3).end();
    now(1).end();
    expect(await group.ended).toBe(0);
  });

  test.each([
    ['drain', DRAIN_MS + 35_000],
    ['stop', 10_000],
  ] as const)('kills by a %s what remains after its time, and exits with 1', async (how, ms) => {
    const { now, group, clock } = rig(2).up();
    group[how]();
    now(2).end();
    clock.increment(ms - 1);
    expect(now(1).sent).not.toContain('SIGKILL');
    clock.increment(1);
    expect(now(1).sent).toContain('SIGKILL');
    now(1).end({ code: null, signal: 'SIGKILL' });
    expect(await group.ended).toBe(1);
  });
});
