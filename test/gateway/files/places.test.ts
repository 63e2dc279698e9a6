// How many files a key may have under way: counted from the first byte to the provider's answer, not while a client waits for it.
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../src/api/errors.ts';
import { type Answer, answer } from '../../live/upstream/http-batch-fixture.ts';
import { END, expectNothingLeft, fewKey, flac, limits, open, send, server, settled } from './files-fixture.ts';

const SMALL = flac(2_000);
const ask = (headers: Record<string, string> = {}, fields: [string, string][] = [], model = 'second/file') =>
  send([['model', model], ...fields], SMALL, '/few', 'audio/flac', headers);

/** Answers that wait until they are let go. */
function held(): { answers: Answer[]; letGo(): void } {
  const waiting: (() => void)[] = [];
  return {
    answers: [(response) => void waiting.push(() => response.end('{"text":"late","seconds":60}'))],
    letGo: () => waiting.shift()?.(),
  };
}

/** Places of the key that are free, of its two. */
function free(): number {
  const taken: (() => void)[] = [];
  try {
    for (;;) taken.push(limits.takeFile(fewKey));
  } catch (error) {
    expect((error as ApiError).code).toBe('too_many_sessions');
    return taken.length;
  } finally {
    for (const leave of taken) leave();
  }
}

const arrived = (count: number) => server('second').until(() => server('second').arrived.length === count);

describe('a key that may have two files in progress', () => {
  it('refuses the third file unread until one of the two has its answer', async () => {
    const { answers, letGo } = held();
    server('second').answers = answers;
    const first = ask();
    const second = ask();
    await arrived(2);
    const third = await ask();
    expect([third.status, third.headers.get('retry-after'), third.json]).toMatchObject([
      429,
      '5',
      {
        error: {
          type: 'rate_limit_error',
          code: 'too_many_sessions',
          message: 'This key may have 2 files in progress at a time. Wait for an answer, or try again later.',
        },
      },
    ]);
    letGo();
    await Promise.race([first, second]);
    expect(free()).toBe(1);
    const fourth = ask();
    await arrived(3);
    letGo();
    letGo();
    expect((await Promise.all([first, second, fourth])).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(free()).toBe(2);
    await expectNothingLeft();
  });

  it('holds the place of a file whose client has left until the provider has answered', async () => {
    const { answers, letGo } = held();
    server('second').answers = answers;
    const upload = open('second/file', SMALL.length, [], '/few', { 'Idempotency-Key': 'left at once' });
    upload.write(SMALL);
    upload.end(END);
    await arrived(1);
    upload.destroy();
    expect(await settled(() => free() === 2)).toBe(false);
    expect(free()).toBe(1);
    letGo();
    expect(await settled(() => free() === 2)).toBe(true);
    await expectNothingLeft();
  });

  it('counts its live sessions separately', () => {
    const leave = [limits.takeSession(fewKey), limits.takeSession(fewKey)];
    expect(free()).toBe(2);
    for (const each of leave) each();
  });
});

describe('the slot of a file', () => {
  const ENDS: readonly [string, () => Promise<unknown>, number][] = [
    ['it is answered', () => ask(), 200],
    ['its model is unknown', () => ask({}, [], 'second/nothing'), 404],
    ['a field is refused', () => ask({}, [['unknown', '1']]), 400],
    ['the provider fails', () => ask({}, [], 'straight/file'), 502],
    [
      'the provider fails under an idempotency key',
      () => ask({ 'Idempotency-Key': 'fails' }, [], 'straight/file'),
      502,
    ],
    ['it is answered under an idempotency key', () => ask({ 'Idempotency-Key': 'answered' }), 200],
    ['it is answered again under that key', () => ask({ 'Idempotency-Key': 'answered' }), 200],
    ['it is streamed', () => ask({}, [['stream', 'true']]), 200],
  ];

  it.each(ENDS)('becomes free again when %s', async (_, end, status) => {
    server('straight').answers = [(response) => response.writeHead(500).end('')];
    server('second').answers = [answer({ text: 'heard', seconds: 60 })];
    expect(await end()).toMatchObject({ status });
    expect(await settled(() => free() === 2)).toBe(true);
  });

  it('becomes free again when its client leaves in the middle of the upload', async () => {
    const upload = open('second/file', SMALL.length, [], '/few');
    upload.write(SMALL.subarray(0, 1_000));
    expect(await settled(() => free() === 1)).toBe(true);
    upload.destroy();
    expect(await settled(() => free() === 2)).toBe(true);
    await expectNothingLeft();
  });
});
