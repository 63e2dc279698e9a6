// What one organisation may take of the recogniser, on real threads: streams, checks, and the time of threads.
import { afterEach, expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { PIECE_BYTES } from '../../../src/recogniser/protocol.ts';
import { RecogniserPool, type RecogniserPoolOptions } from '../../../src/recogniser/workers/pool.ts';
import { audioOf, chunksOf, Ear, queryFor, queryOf, sample, textsOf } from '../listening.ts';

const yes = sample('yes.wav');
const garage = sample('garage.wav');
const commands = sample('commands.wav');
const pools: RecogniserPool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function poolOf(options: Partial<RecogniserPoolOptions> = {}): RecogniserPool {
  const pool = new RecogniserPool({ workers: 1, streamsMax: 64, queueBytesMax: 67_108_864, ...options });
  pools.push(pool);
  return pool;
}

/** Commands, so many times 15 s of them. */
const dumpOf = (times: number) => Buffer.concat(Array.from({ length: times }, () => audioOf(commands)));
const dump = dumpOf(1);

test('finishes a short session before another organisation’s earlier dumps', async () => {
  const pool = poolOf();
  const done: number[] = [];
  for (let count = 0; count < 4; count++) {
    void new Ear(pool, queryOf(commands), 'org_a').listen(dump).then(() => done.push(count));
  }
  const short = await new Ear(pool, queryOf(yes), 'org_b').listen(audioOf(yes));
  expect([textsOf(short), done]).toEqual([['yes'], []]);
});

test('finishes a short recording before another organisation’s dumps', async () => {
  const pool = poolOf();
  let done = 0;
  for (let count = 0; count < 4; count++) {
    void new Ear(pool, queryOf(commands), 'org_a').listen(dump).then(() => done++);
  }
  await new Ear(pool, queryOf(garage), 'org_b').listen(audioOf(garage));
  expect(done).toBe(0);
});

test('refuses an organisation all streams, with a reason, and leaves room for another', async () => {
  const pool = poolOf({ streamsMax: 8 });
  const ears = Array.from({ length: 7 }, () => new Ear(pool, queryOf(yes), 'org_a'));
  expect(await ears[6]!.closed).toEqual({ code: 1013, reason: 'recogniser_share_used' });
  expect(ears[6]!.messages).toMatchObject([
    {
      code: 'recogniser_share_used',
      message: 'This organisation has 6 streams of the embedded recogniser, which is its share. End one first.',
    },
  ]);
  expect(textsOf(await new Ear(pool, queryOf(yes), 'org_b').listen(audioOf(yes)))).toEqual(['yes']);
  ears[0]!.connection.terminate();
  expect(textsOf(await new Ear(pool, queryOf(yes), 'org_a').listen(audioOf(yes)))).toEqual(['yes']);
});

test('keeps one organisation from filling the queue of checks', async () => {
  const pool = poolOf();
  const query = queryFor('commands-en', { grammar: '#JSGF V1.0; grammar g; public <a> = yes;' });
  const many = Array.from({ length: 9 }, () => pool.check(query, 'org_a'));
  const other = pool.check(query, 'org_b');
  expect((await Promise.all(many)).filter((fault) => fault?.message.includes('too busy'))).toHaveLength(1);
  expect(await other).toBeUndefined();
});

test('slows an organisation that used its time to real time, with one warning', async () => {
  const clock = new SimulatedClock();
  const pool = poolOf({ clock, cpuSecondsPerMinutePerOrganisationMax: 1 });
  // More than a second of work: a minute of it is used up.
  const busy = new Ear(pool, queryOf(commands), 'org_a');
  for (const chunk of chunksOf(dumpOf(8), 32_000)) busy.connection.send(chunk);
  await busy.said('warning');
  expect(busy.messages.filter(({ type }) => type === 'warning')).toEqual([
    {
      type: 'warning',
      code: 'recogniser_slowed',
      message:
        'This organisation has used its time of the embedded recogniser for now: what comes faster than it is spoken is heard at the pace of speech.',
    },
  ]);
  const queuedBytes = busy.connection.bufferedBytes;
  expect([pool.slowed, queuedBytes > 0]).toEqual([1, true]);
  // Whoever else speaks, or sends a recording, is heard.
  expect(textsOf(await new Ear(pool, queryOf(yes), 'org_b').listen(audioOf(yes)))).toEqual(['yes']);
  // What was under way has ended meanwhile, and no more.
  expect(queuedBytes - busy.connection.bufferedBytes).toBeLessThanOrEqual(2 * PIECE_BYTES);
  const leftBytes = busy.connection.bufferedBytes;
  clock.increment(90_000);
  // Time has come back: it is heard again, before what comes now.
  expect(textsOf(await new Ear(pool, queryOf(yes), 'org_b').listen(audioOf(yes)))).toEqual(['yes']);
  expect(busy.connection.bufferedBytes).toBeLessThan(leftBytes);
});
