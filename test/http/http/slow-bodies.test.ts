// Bodies that stop or trickle in: they are given up with 408, but not while they wait for their reader.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../../src/api/errors.ts';
import {
  RequestBody,
  SILENCE_MS,
  SLOWEST_BYTES_PER_SECOND,
  SLOWNESS_WINDOW_MS,
} from '../../../src/http/request-body.ts';

let faults: unknown[];
let body: RequestBody;
let waits: number;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  faults = [];
  waits = 0;
  const flow = { pause: () => {}, resume: () => {}, waiting: () => waits++ };
  body = new RequestBody(flow, undefined).claim(1024 ** 3);
  body.on('error', (error) => faults.push(error));
});
afterEach(() => {
  vi.useRealTimers();
});

/** Sends so many bytes each second, for a window and a second. */
async function trickle(bytesPerSecond: number): Promise<void> {
  for (let ms = 0; ms <= SLOWNESS_WINDOW_MS; ms += 1_000) {
    body.arrived(Buffer.alloc(bytesPerSecond));
    vi.advanceTimersByTime(1_000);
  }
  await new Promise((resolve) => setImmediate(resolve));
}

test('refuses a body of a byte a second with 408', async () => {
  body.resume();
  await trickle(1);
  expect(faults).toEqual([expect.any(ApiError)]);
  expect(faults[0]).toMatchObject({ code: 'request_timeout', status: 408 });
});

test('accepts a body at the minimum rate for any time', async () => {
  body.resume();
  for (let round = 0; round < 5; round++) await trickle(SLOWEST_BYTES_PER_SECOND);
  expect(faults).toEqual([]);
});

test('never counts the wait for a body’s reader as slowness', async () => {
  body.arrived(Buffer.alloc(1024 * 1024));
  vi.advanceTimersByTime(10 * SLOWNESS_WINDOW_MS);
  body.resume();
  await new Promise((resolve) => setImmediate(resolve));
  body.arrived(Buffer.alloc(1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(faults).toEqual([]);
});

test('refuses a body that stops with 408, and keeps its connection open until then', async () => {
  body.resume();
  body.arrived(Buffer.alloc(100_000));
  vi.advanceTimersByTime(SILENCE_MS - 1_000);
  expect([faults, waits]).toEqual([[], 3]);
  vi.advanceTimersByTime(4_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(faults[0]).toMatchObject({ code: 'request_timeout', status: 408 });
  expect(vi.getTimerCount()).toBe(0);
});

test('accepts a body that sends something every nine seconds', () => {
  body.resume();
  for (let round = 0; round < 5; round++) {
    body.arrived(Buffer.alloc(100_000));
    vi.advanceTimersByTime(9_000);
  }
  expect(faults).toEqual([]);
});

test('stops watching a complete body', () => {
  body.resume();
  body.arrived(Buffer.from('abc'));
  body.finished();
  expect(vi.getTimerCount()).toBe(0);
});
