// Which utterance is decoded next: what is spoken before recordings, organisations in turns, a slot for those who speak.
import { expect, test } from 'vitest';
import { type DecodeOwner, DecodeQueue, type Urgency } from '../../../src/recogniser/dictation/decode-queue.ts';

const owner = (organisation: string): DecodeOwner => ({ organisation, turn: 0 });

/** Work that is done when the test says so. */
class Works {
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #queue: DecodeQueue;

  constructor(queue: DecodeQueue) {
    this.#queue = queue;
  }

  add(name: string, of: DecodeOwner, urgency: Urgency): void {
    void this.#queue.do(of, urgency, () => {
      this.started.push(name);
      return new Promise<void>((resolve) => this.#ends.set(name, resolve));
    });
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }

  async endAll(): Promise<void> {
    for (let at = 0; at < this.started.length; at++) await this.end(this.started[at]!);
  }
}

test('runs as many at a time as there are slots', async () => {
  const works = new Works(new DecodeQueue(2));
  const one = owner('a');
  for (const name of ['1', '2', '3']) works.add(name, one, 'final');
  expect(works.started).toEqual(['1', '2']);
  await works.end('1');
  expect(works.started).toEqual(['1', '2', '3']);
});

test('takes finals first, then interims, then recordings', async () => {
  const works = new Works(new DecodeQueue(1));
  works.add('first', owner('a'), 'final');
  works.add('recording', owner('a'), 'recording');
  works.add('interim', owner('a'), 'interim');
  works.add('final', owner('a'), 'final');
  await works.endAll();
  expect(works.started).toEqual(['first', 'final', 'interim', 'recording']);
});

test('serves organisations in turns, however many streams each has', async () => {
  const works = new Works(new DecodeQueue(1));
  works.add('first', owner('many'), 'recording');
  for (let stream = 0; stream < 10; stream++) works.add(`many ${stream}`, owner('many'), 'recording');
  const few = owner('few');
  works.add('few 0', few, 'recording');
  works.add('few 1', few, 'recording');
  await works.endAll();
  expect(works.started.slice(0, 5)).toEqual(['first', 'few 0', 'many 0', 'few 1', 'many 1']);
});

test('serves the streams of an organisation in turns', async () => {
  const works = new Works(new DecodeQueue(1));
  const [long, short] = [owner('a'), owner('a')];
  for (let part = 0; part < 5; part++) works.add(`long ${part}`, long, 'recording');
  works.add('short', short, 'recording');
  await works.endAll();
  expect(works.started.indexOf('short')).toBe(1);
});

test('keeps a slot free of recordings during live speech', async () => {
  const queue = new DecodeQueue(2);
  const works = new Works(queue);
  queue.addLive(1);
  works.add('recording 1', owner('a'), 'recording');
  works.add('recording 2', owner('b'), 'recording');
  expect(works.started).toEqual(['recording 1']);
  works.add('final', owner('c'), 'final');
  expect(works.started).toEqual(['recording 1', 'final']);
  queue.addLive(-1);
  await works.end('final');
  expect(works.started).toEqual(['recording 1', 'final', 'recording 2']);
});

test('hands on what the work resolves and rejects with, and continues after a failure', async () => {
  const queue = new DecodeQueue(1);
  const failing = queue.do(owner('a'), 'final', () => Promise.reject(new Error('broken')));
  const next = queue.do(owner('a'), 'final', () => Promise.resolve('text'));
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('text');
});

test('remembers a bounded number of organisations', async () => {
  const queue = new DecodeQueue(1);
  for (let number = 0; number < 3_000; number++)
    await queue.do(owner(`org ${number}`), 'final', () => Promise.resolve());
  expect(queue.organisations).toBeLessThanOrEqual(1_000);
});
