// Workers of the pool over ports of the test's own: one stream of a worker that fails, and a worker that is started ahead.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { WorkerRequest } from '../../../src/recogniser/protocol.ts';
import { RecogniserPool, type RecogniserPoolOptions } from '../../../src/recogniser/workers/pool.ts';
import type { PortListener } from '../../../src/recogniser/workers/port.ts';
import { Ear, queryFor } from '../listening.ts';

const IDLE_MS = 300_000;
const query = queryFor('local/dictation-en');

interface FakeWorker extends PortListener {
  requests: WorkerRequest[];
  isOver: boolean;
}

function poolOf(options: Partial<RecogniserPoolOptions> = {}) {
  const workers: FakeWorker[] = [];
  const faults: string[] = [];
  const clock = new SimulatedClock();
  const pool = new RecogniserPool({
    ...{ workers: 1, streamsMax: 8, queueBytesMax: 1_048_576, clock },
    open: (listener) => {
      const worker: FakeWorker = {
        requests: [],
        isOver: false,
        reply: (message) => listener.reply(message),
        failed: (error) => listener.failed(error),
      };
      workers.push(worker);
      return {
        post: (request) => {
          worker.requests.push(request);
          if (request.type === 'open') {
            queueMicrotask(() => listener.reply({ type: 'opened', stream: request.stream, ms: 0 }));
          }
        },
        terminate: async () => {
          worker.isOver = true;
        },
      };
    },
    onFault: ({ message }) => faults.push(message),
    ...options,
  });
  const running = () => workers.map(({ isOver }) => !isOver);
  return { pool, workers, faults, clock, running };
}

const failed = (stream: number) => ({ type: 'failed', stream, message: 'out of memory' }) as const;
const FAILURE = { code: 1011, reason: 'The recogniser failed.' };

test('a stream that fails is closed with 1011 and logged; the others of its worker continue', async () => {
  const { pool, workers, faults } = poolOf();
  const [failing, other] = [new Ear(pool, query), new Ear(pool, query)];
  workers[0]?.reply(failed(1));
  expect(await failing.closed).toEqual(FAILURE);
  expect(faults).toEqual(['A stream of the recogniser failed: out of memory']);
  expect([pool.streams, workers.length]).toEqual([1, 1]);
  new Ear(pool, query);
  expect(workers.length).toBe(1);
  workers[0]?.reply({ type: 'ended', stream: 2 });
  expect((await other.closed).code).toBe(1000);
});

test('a worker in which a stream failed is replaced once it has nothing else to do', async () => {
  const { pool, workers, running } = poolOf();
  const [failing, other] = [new Ear(pool, query), new Ear(pool, query)];
  workers[0]?.reply(failed(1));
  await failing.closed;
  expect(running()).toEqual([true]);
  workers[0]?.reply({ type: 'ended', stream: 2 });
  await other.closed;
  expect(running()).toEqual([false]);
  new Ear(pool, query);
  expect(running()).toEqual([false, true]);
});

test('starts a worker ahead of the first stream, which then uses it', () => {
  const { pool, workers } = poolOf();
  pool.keepReady();
  expect([workers.length, pool.streams]).toEqual([1, 0]);
  pool.keepReady();
  new Ear(pool, query);
  expect([workers.length, workers[0]?.requests.length]).toEqual([1, 1]);
});

test('ends a worker five minutes after the last that relied on it, and not before', () => {
  const { pool, clock, running } = poolOf();
  const releases = [pool.keepReady(), pool.keepReady()];
  clock.increment(10 * IDLE_MS);
  releases[0]?.();
  releases[0]?.();
  clock.increment(10 * IDLE_MS);
  expect(running()).toEqual([true]);
  releases[1]?.();
  clock.increment(IDLE_MS - 1);
  expect(running()).toEqual([true]);
  clock.increment(1);
  expect(running()).toEqual([false]);
});

test('a worker that stands idle is kept for who relies on it from then on', async () => {
  const { pool, workers, clock, running } = poolOf();
  const ear = new Ear(pool, query);
  workers[0]?.reply({ type: 'ended', stream: 1 });
  await ear.closed;
  clock.increment(IDLE_MS - 1);
  const release = pool.keepReady();
  clock.increment(IDLE_MS);
  expect(running()).toEqual([true]);
  release();
  clock.increment(IDLE_MS);
  expect(running()).toEqual([false]);
});

test('starts another for who relies on it when a worker dies, as long as workers come up', () => {
  const { pool, workers, running } = poolOf();
  pool.keepReady();
  workers[0]?.reply({ type: 'opened', stream: 1, ms: 0 });
  workers[0]?.failed(new Error('killed'));
  expect(running()).toEqual([false, true]);
  workers[1]?.failed(new Error('no such model'));
  expect(running()).toEqual([false, false]);
  pool.keepReady();
  expect(workers.length).toBe(2);
});

test('starts no worker ahead after it is closed', async () => {
  const { pool, workers } = poolOf();
  await pool.close();
  pool.keepReady()();
  expect(workers.length).toBe(0);
});
