// The pool of threads: bounds, failures of a thread, idleness, the end. What is heard is in samples.test.ts.
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { SimulatedClock } from 'xstate';
import { RecogniserPool, type RecogniserPoolOptions } from '../../../src/recogniser/workers/pool.ts';
import { REFUSED, UNALIGNABLE } from '../grammars.ts';
import { audioOf, Ear, queryFor, queryOf, sample, silence, textsOf } from '../listening.ts';

const threads: Worker[] = vi.hoisted(() => []);

vi.mock('node:worker_threads', async (original) => {
  const actual = await original<typeof import('node:worker_threads')>();
  class SeenWorker extends actual.Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      threads.push(this);
    }
  }
  return { ...actual, Worker: SeenWorker };
});

const yes = sample('yes.wav');
const garage = sample('garage.wav');
const pools: RecogniserPool[] = [];

function poolOf(options: Partial<RecogniserPoolOptions> = {}): RecogniserPool {
  const pool = new RecogniserPool({ workers: 1, streamsMax: 64, queueBytesMax: 1_048_576, ...options });
  pools.push(pool);
  return pool;
}

const exitOf = (thread: Worker | undefined): Promise<unknown> =>
  new Promise((resolve) => {
    if (thread === undefined || thread.threadId === -1) resolve(undefined);
    else thread.once('exit', resolve);
  });

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  threads.splice(0);
});

test('starts threads with the first streams, up to the limit', async () => {
  const pool = poolOf({ workers: 2 });
  expect(threads.length).toBe(0);
  const ears = [new Ear(pool, queryOf(yes))];
  expect(threads.length).toBe(1);
  ears.push(new Ear(pool, queryOf(yes)), new Ear(pool, queryOf(yes)));
  expect([threads.length, pool.streams]).toEqual([2, 3]);
  await Promise.all(ears.map((ear) => ear.listen(audioOf(yes))));
  expect([pool.streams, pool.queuedBytes]).toEqual([0, 0]);
});

test('ten streams at once each hear their own audio', async () => {
  const pool = poolOf({ workers: 2 });
  const said = ['yes.wav', 'no.wav', 'times/time.wav', 'garage.wav', 'french/oui.wav'].map(sample);
  const streams = Array.from({ length: 10 }, (_, at) => said[at % said.length]!);
  const heard = await Promise.all(streams.map((one) => new Ear(pool, queryOf(one)).listen(audioOf(one))));
  expect(heard.map(textsOf)).toEqual(streams.map(({ turns }) => turns));
});

test('transcribes on a reused decoder as on a new one', async () => {
  const pool = poolOf();
  const time = sample('times/time.wav');
  const first = await new Ear(pool, queryOf(time)).listen(audioOf(time));
  await new Ear(pool, queryOf(yes)).listen(audioOf(yes));
  expect(await new Ear(pool, queryOf(time)).listen(audioOf(time))).toEqual(first);
});

test('refuses a stream beyond the limit by name, with room again when one ends', async () => {
  const pool = poolOf({ streamsMax: 1 });
  const first = new Ear(pool, queryOf(yes));
  const second = new Ear(pool, queryOf(yes));
  expect(await second.closed).toEqual({ code: 1013, reason: 'recogniser_overloaded' });
  expect(second.messages).toEqual([
    {
      type: 'error',
      code: 'recogniser_overloaded',
      message: 'The embedded recogniser holds its limit of 1 streams. Try again shortly.',
    },
  ]);
  await first.listen(audioOf(yes));
  expect(textsOf(await new Ear(pool, queryOf(yes)).listen(audioOf(yes)))).toEqual(['yes']);
});

test('gives a thread 48 streams at any configured limit', async () => {
  const pool = poolOf({ streamsMax: 1_000 });
  const ears = Array.from({ length: 49 }, () => new Ear(pool, queryOf(yes)));
  expect(await ears[48]!.closed).toEqual({ code: 1013, reason: 'recogniser_overloaded' });
  for (const ear of ears) ear.connection.terminate();
  expect(pool.streams).toBe(0);
});

test('refuses a query for another engine', async () => {
  const ear = new Ear(poolOf(), { model: 'nova' });
  expect(await ear.closed).toEqual({ code: 1013, reason: 'invalid_query' });
});

test('reports a full queue to its sender by name, and spares its neighbour', async () => {
  const pool = poolOf({ queueBytesMax: 10_000 });
  const [greedy, polite] = [new Ear(pool, queryOf(yes)), new Ear(pool, queryOf(yes))];
  for (let sent = 0; sent <= 10_000; sent += 3_200) greedy.connection.send(silence(0.1));
  expect(await greedy.closed).toEqual({ code: 1013, reason: 'recogniser_queue_full' });
  expect(greedy.messages.map((message) => message.type === 'error' && message.code)).toEqual(['recogniser_queue_full']);
  polite.connection.close();
  expect(await polite.closed).toEqual({ code: 1000, reason: '' });
  expect([pool.streams, pool.queuedBytes]).toEqual([0, 0]);
});

test('commands count as audio does: they cannot pile up', async () => {
  const ear = new Ear(poolOf({ queueBytesMax: 1_000 }), queryOf(yes));
  for (let sent = 0; sent < 100; sent++) ear.connection.send({ type: 'finalize' });
  expect((await ear.closed).reason).toBe('recogniser_queue_full');
});

test('never fills the queue of a sender that waits for `drained`', async () => {
  const pool = poolOf({ queueBytesMax: 131_072 });
  const drains: (() => void)[] = [];
  let code = 0;
  const { promise, resolve } = waiting();
  const connection = pool.connect(queryOf(yes), {
    open: () => undefined,
    message: () => undefined,
    drained: () => {
      for (const go of drains.splice(0)) go();
    },
    closed: (closedWith) => {
      code = closedWith;
      resolve();
    },
  });
  for (let second = 0; second < 30; second++) {
    connection.send(silence(1));
    if (connection.bufferedBytes > 96_000) await new Promise<void>((go) => drains.push(go));
  }
  connection.send({ type: 'finish' });
  await promise;
  expect([code, connection.bufferedBytes]).toEqual([1000, 0]);
});

test('audio is copied before `send` returns, out of a shared buffer as well', async () => {
  const ear = new Ear(poolOf(), queryOf(yes));
  const audio = audioOf(yes);
  const shared = Buffer.from(new ArrayBuffer(8_192), 100, 3_200);
  for (let at = 0; at < audio.length; at += shared.length) {
    const part = audio.subarray(at, at + shared.length);
    shared.set(part);
    ear.connection.send(shared.subarray(0, part.length));
    shared.fill(0);
  }
  expect(textsOf(await ear.listen(new Uint8Array(0)))).toEqual(['yes']);
});

test('sends nothing to a terminated connection, and ignores what it sends', async () => {
  const pool = poolOf();
  const [gone, other] = [new Ear(pool, queryOf(yes)), new Ear(pool, queryOf(yes))];
  gone.connection.send(audioOf(yes));
  gone.connection.terminate();
  gone.connection.send(audioOf(yes));
  gone.connection.close();
  expect(textsOf(await other.listen(audioOf(yes)))).toEqual(['yes']);
  expect([gone.messages, gone.connection.bufferedBytes, pool.queuedBytes]).toEqual([[], 0, 0]);
});

test('closes a dead thread’s streams with 1011; others continue, and a new thread starts', async () => {
  const faults: string[] = [];
  const pool = poolOf({ workers: 2, onFault: (error) => faults.push(error.message) });
  const [dying, living] = [new Ear(pool, queryOf(garage)), new Ear(pool, queryOf(garage))];
  await Promise.all([dying.said('ready'), living.said('ready')]);
  dying.connection.send(audioOf(garage).subarray(0, 64_000));
  await threads[0]?.terminate();
  expect(await dying.closed).toEqual({ code: 1011, reason: 'The recogniser failed.' });
  expect(faults).toEqual(['A thread of the recogniser ended with code 1.']);
  const next = new Ear(pool, queryOf(yes));
  expect(textsOf(await living.listen(audioOf(garage)))).toEqual(garage.turns);
  expect(textsOf(await next.listen(audioOf(yes)))).toEqual(['yes']);
  expect([threads.length, pool.streams, pool.queuedBytes]).toEqual([3, 0, 0]);
});

test('replaces a thread that throws like one that dies', async () => {
  const faults: string[] = [];
  const pool = poolOf({ onFault: (error) => faults.push(error.name) });
  const ear = new Ear(pool, queryOf(yes));
  await ear.said('ready');
  threads[0]?.postMessage({ type: 'audio', stream: 1, bytes: null });
  expect((await ear.closed).code).toBe(1011);
  expect(faults).toEqual(['TypeError']);
  expect(textsOf(await new Ear(pool, queryOf(yes)).listen(audioOf(yes)))).toEqual(['yes']);
});

test('answers a check whose thread dies', async () => {
  const pool = poolOf();
  const fault = pool.check(queryFor('commands-en', { grammar: '#JSGF V1.0; grammar g; public <a> = yes;' }));
  await threads[0]?.terminate();
  expect((await fault)?.param).toBe('grammar');
});

test('survives every grammar and text of a customer, and answers each', async () => {
  const pool = poolOf();
  const checks = [
    ...REFUSED.map(([name, grammar, message]) => ({ name, params: { grammar }, message })),
    ...UNALIGNABLE.map(([name, text, message]) => ({ name, params: { align_text: text }, message })),
  ];
  for (const { name, params, message } of checks) {
    expect([name, (await pool.check(queryFor('commands-en', params)))?.message]).toEqual([
      name,
      expect.stringMatching(message),
    ]);
  }
  const refused = new Ear(pool, queryFor('commands-en', { grammar: 'yes' }));
  expect(await refused.closed).toEqual({ code: 1000, reason: '' });
  expect(refused.messages).toEqual([
    {
      type: 'error',
      code: 'invalid_grammar',
      message: 'The `grammar` is refused. It does not begin with `#JSGF V1.0;`.',
    },
  ]);
  expect(textsOf(await new Ear(pool, queryOf(yes)).listen(audioOf(yes)))).toEqual(['yes']);
  expect(threads.length).toBe(1);
});

test('checks and uses a customer’s grammar; a built-in one needs no thread for its check', async () => {
  const pool = poolOf();
  expect(await pool.check(queryOf(yes))).toBeUndefined();
  expect(threads.length).toBe(0);
  const query = queryFor('commands-en', { grammar: '#JSGF V1.0; grammar g; public <a> = yes | maybe;' });
  expect(await pool.check(query)).toBeUndefined();
  expect(textsOf(await new Ear(pool, query).listen(audioOf(yes)))).toEqual(['yes']);
});

test('checks that pile up are answered at once', async () => {
  const pool = poolOf();
  const query = queryFor('commands-en', { grammar: 'no' });
  const answers = await Promise.all(Array.from({ length: 33 }, () => pool.check(query)));
  expect(answers.filter((fault) => fault?.message.includes('too busy')).length).toBe(1);
});

test('abandons a thread that owes an answer for 10 s, but not an idle one', async () => {
  const clock = new SimulatedClock();
  const faults: string[] = [];
  const pool = poolOf({ clock, onFault: (error) => faults.push(error.message) });
  const ear = new Ear(pool, queryOf(yes));
  await ear.said('ready');
  clock.increment(60_000);
  expect(faults).toEqual([]);
  ear.connection.send(silence(0.1));
  clock.increment(10_000);
  expect(faults).toEqual(['A worker of the recogniser sent nothing for 10 s.']);
  expect((await ear.closed).code).toBe(1011);
  expect(textsOf(await new Ear(pool, queryOf(yes)).listen(audioOf(yes)))).toEqual(['yes']);
});

test('frees the memory of a thread without work for five minutes', async () => {
  const clock = new SimulatedClock();
  const pool = poolOf({ clock });
  await new Ear(pool, queryOf(yes)).listen(audioOf(yes));
  clock.increment(299_999);
  expect(textsOf(await new Ear(pool, queryOf(yes)).listen(audioOf(yes)))).toEqual(['yes']);
  expect(threads.length).toBe(1);
  const exit = exitOf(threads[0]);
  clock.increment(300_000);
  await exit;
  expect(textsOf(await new Ear(pool, queryOf(yes)).listen(audioOf(yes)))).toEqual(['yes']);
  expect(threads.length).toBe(2);
});

test('gives a worn thread no more streams, and ends it with its last', async () => {
  const pool = poolOf({ workerStreamsMax: 2 });
  const ears = [1, 2, 3].map(() => new Ear(pool, queryOf(yes)));
  expect(threads.length).toBe(2);
  const exit = exitOf(threads[0]);
  for (const ear of ears) expect(textsOf(await ear.listen(audioOf(yes)))).toEqual(['yes']);
  await exit;
  expect(threads.map(({ threadId }) => threadId === -1)).toEqual([true, false]);
});

test('close ends every stream with 1001 and every thread, and refuses what comes after', async () => {
  const pool = poolOf({ workers: 2 });
  const ears = [new Ear(pool, queryOf(yes)), new Ear(pool, queryOf(yes))];
  await ears[0]?.said('ready');
  await pool.close();
  for (const ear of ears) expect((await ear.closed).code).toBe(1001);
  expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  expect((await new Ear(pool, queryOf(yes)).closed).reason).toBe('recogniser_overloaded');
  expect(await pool.check(queryFor('align-en', { align_text: 'yes' }))).toMatchObject({ param: 'align_text' });
  expect(pool.streams).toBe(0);
});

function waiting(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
