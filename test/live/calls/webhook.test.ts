// The events of a call on their way to a customer's server that is slow, fails, or wants no more.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Webhook } from '../../../src/live/calls/webhook.ts';

interface Post {
  headers: Readonly<Record<string, string>>;
  body: { dropped: number; events: { n: number }[] };
  answer(status: number): Promise<void>;
}

function rig(secret?: string) {
  const clock = new SimulatedClock();
  const posts: Post[] = [];
  const told = { dropped: 0, done: 0 };
  const webhook = new Webhook({
    ...{ url: new URL('https://example.com/'), secret, about: { session_id: 'ses_1' }, id: 'ses_1', clock },
    post: (_, headers, body) =>
      new Promise((resolve, reject) => {
        const answer = async (status: number) => {
          if (status === 0) reject(new Error('refused'));
          else resolve(status);
          await new Promise(setImmediate);
        };
        posts.push({ headers, body: JSON.parse(body) as Post['body'], answer });
      }),
    wallNow: () => new Date(1_700_000_000_000),
    dropped: () => told.dropped++,
    done: () => told.done++,
  });
  let count = 0;
  const say = (events: number, text = '') => {
    for (let each = 0; each < events; each++) webhook.say(JSON.stringify({ n: ++count, text }));
  };
  const numbers = () => posts.map(({ body }) => body.events.map(({ n }) => n));
  return { clock, posts, told, webhook, say, numbers };
}

const last = (posts: readonly Post[]) => posts.at(-1) as Post;

test('events that come while one is posted follow together, in their order', async () => {
  const { posts, say, numbers, webhook, told } = rig();
  say(3);
  expect(numbers()).toEqual([[1]]);
  await last(posts).answer(200);
  expect(numbers()).toEqual([[1], [2, 3]]);
  webhook.end();
  expect(told.done).toBe(0);
  await last(posts).answer(204);
  expect(told).toEqual({ dropped: 0, done: 1 });
});

test('retries a failed post under the same id, with a new signature', async () => {
  const { clock, posts, say } = rig('of the receiver');
  say(1);
  for (const [failure, waitMs] of [
    [503, 500],
    [0, 1_000],
    [302, 2_000],
  ] as const) {
    await last(posts).answer(failure);
    const before = posts.length;
    clock.increment(waitMs - 1);
    await new Promise(setImmediate);
    expect(posts).toHaveLength(before);
    clock.increment(1);
    await new Promise(setImmediate);
    expect(posts).toHaveLength(before + 1);
  }
  expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const { headers, body } = last(posts);
  const signed = `${headers['webhook-id']}.1700000000.${JSON.stringify(body)}`;
  const digest = createHmac('sha256', 'of the receiver').update(signed).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${digest}`);
});

test('drops its events after six attempts, and counts them in the next post', async () => {
  const { clock, posts, say, numbers, told } = rig();
  say(2);
  await last(posts).answer(200);
  for (let attempt = 0; attempt < 6; attempt++) {
    await last(posts).answer(500);
    clock.increment(8_000);
    await new Promise(setImmediate);
  }
  expect(told.dropped).toBe(1);
  say(1);
  expect(numbers().at(-1)).toEqual([3]);
  expect(last(posts).body.dropped).toBe(1);
  await last(posts).answer(200);
  say(1);
  expect(last(posts).body.dropped).toBe(0);
});

test('queues a thousand events or a mebibyte, and drops the oldest beyond either', async () => {
  for (const [events, text, dropped] of [
    [1_001 + 5, '', 5],
    [1 + 70, 'x'.repeat(16 * 1024), 71 - 1 - 63],
  ] as const) {
    const { posts, say, numbers, told } = rig();
    say(events, text);
    expect(told.dropped).toBe(dropped);
    await last(posts).answer(200);
    expect(numbers()[1]?.[0]).toBe(2 + dropped);
    expect(last(posts).body.dropped).toBe(dropped);
  }
});

test('stops posting to a receiver that answers 410', async () => {
  const { posts, say, webhook, told } = rig();
  say(3);
  await last(posts).answer(410);
  say(1);
  expect(posts).toHaveLength(1);
  expect(told).toEqual({ dropped: 3, done: 0 });
  webhook.end();
  expect(told.done).toBe(1);
});
