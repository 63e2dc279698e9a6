// Workers that fail: when another is started, and what streams hear until then. The workers are played here.
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { WorkerReply, WorkerRequest } from '../../src/recogniser/protocol.ts';
import { Recogniser } from '../../src/recogniser/recogniser.ts';
import { RecogniserPool } from '../../src/recogniser/workers/pool.ts';
import type { PortListener } from '../../src/recogniser/workers/port.ts';
import { Ear } from './listening.ts';

const QUERY = { task: { kind: 'dictation', model: 'own', endpointingMs: 500 }, interims: true };

/** A pool whose workers do what the test says. */
function rig() {
  const clock = new SimulatedClock();
  const started: PortListener[] = [];
  const faults: string[] = [];
  const posted: WorkerRequest[] = [];
  const pool = new RecogniserPool({
    ...{ workers: 1, streamsMax: 8, queueBytesMax: 1_048_576, clock: { ...clockOf(clock) } },
    open: (listener) => {
      started.push(listener);
      return { post: (request) => posted.push(request), terminate: () => Promise.resolve() };
    },
    onFault: ({ message }) => faults.push(message),
  });
  const fail = () => started.at(-1)?.failed(new Error('It wrote: no such model'));
  const reply = (message: WorkerReply) => started.at(-1)?.reply(message);
  /** A stream that is served to its end. */
  const serve = async () => {
    const ear = new Ear(pool, QUERY);
    const stream = posted.at(-1);
    if (stream?.type !== 'open') throw new Error('No stream was opened.');
    reply({ type: 'opened', stream: stream.stream, ms: 1 });
    return { ear, end: () => reply({ type: 'ended', stream: stream.stream }) };
  };
  return { clock, pool, started, faults, fail, serve };
}

const clockOf = (clock: SimulatedClock) => ({
  now: () => clock.now(),
  setTimeout: (work: () => void, ms: number) => clock.setTimeout(work, ms),
  clearTimeout: (id: unknown) => clock.clearTimeout(id as number),
});

const UNAVAILABLE = { code: 1013, reason: 'model_unavailable' };

test('closes the stream with 1011 when a model does not open, and reports what the process wrote once', async () => {
  const { pool, fail, faults } = rig();
  const ear = new Ear(pool, QUERY);
  fail();
  fail();
  expect(await ear.closed).toEqual({ code: 1011, reason: 'The recogniser failed.' });
  expect(faults).toEqual(['It wrote: no such model']);
});

test('does not open it again at once, and says for how long', async () => {
  const { pool, fail, started } = rig();
  new Ear(pool, QUERY);
  fail();
  const next = new Ear(pool, QUERY);
  expect(await next.closed).toEqual(UNAVAILABLE);
  expect(next.messages).toEqual([
    expect.objectContaining({
      type: 'error',
      message: 'The recogniser failed when it was started. It is started again in 1 s at the earliest.',
    }),
  ]);
  expect([started.length, pool.streams, pool.queuedBytes]).toEqual([1, 0, 0]);
});

test('waits twice as long each time, up to a minute', async () => {
  const { clock, pool, fail, started } = rig();
  const waits: string[] = [];
  for (let round = 1; round <= 9; round++) {
    const failed = new Ear(pool, QUERY);
    fail();
    await failed.closed;
    expect(started.length).toBe(round);
    const refused = new Ear(pool, QUERY);
    await refused.closed;
    waits.push(/again in (\d+) s/.exec(JSON.stringify(refused.messages))?.[1] ?? '');
    clock.increment(60_000);
  }
  expect(waits).toEqual(['1', '2', '4', '8', '16', '32', '60', '60', '60']);
});

test('starts a worker again at once when it had served streams, and waits when that fails again and again', async () => {
  const { pool, serve, fail, started } = rig();
  for (let round = 0; round < 3; round++) {
    await serve();
    fail();
  }
  expect(started.length).toBe(3);
  expect(await new Ear(pool, QUERY).closed).toEqual(UNAVAILABLE);
});

test('forgets failures once a stream was served to its end', async () => {
  const { serve, fail, started } = rig();
  for (let round = 0; round < 5; round++) {
    const { ear, end } = await serve();
    end();
    expect(await ear.closed).toEqual({ code: 1000, reason: '' });
    await serve();
    fail();
  }
  expect(started.length).toBe(5);
});

test('refuses a model that this node does not have, so that another may be tried', async () => {
  const recogniser = new Recogniser({
    ...{ workers: 1, streamsMax: 8, queueBytesMax: 1_048_576, dictationSlots: 1, dictationStreamsMax: 1 },
  });
  const ear = new Ear(recogniser, QUERY);
  expect(await ear.closed).toEqual(UNAVAILABLE);
  expect([recogniser.streams, await recogniser.check(QUERY)]).toEqual([0, undefined]);
  await recogniser.close();
});
