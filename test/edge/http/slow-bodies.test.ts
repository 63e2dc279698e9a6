// Bodies that trickle in: what is too slow is given up with 408, and what waits for its reader is not.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Refusal } from '../../../src/api/errors.ts';
import { RequestBody, SLOWEST_BYTES_PER_SECOND, SLOWNESS_WINDOW_MS } from '../../../src/edge/http/request-body.ts';

let faults: unknown[];
let body: RequestBody;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  faults = [];
  body = new RequestBody({ pause: () => {}, resume: () => {} }, undefined).claim(1024 ** 3);
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

test('a body of a byte a second is refused with 408', async () => {
  body.resume();
  await trickle(1);
  expect(faults).toEqual([expect.any(Refusal)]);
  expect(faults[0]).toMatchObject({ code: 'request_timeout', status: 408 });
});

test('a body at the least rate is taken, for as long as it takes', async () => {
  body.resume();
  for (let round = 0; round < 5; round++) await trickle(SLOWEST_BYTES_PER_SECOND);
  expect(faults).toEqual([]);
});

test('a body that waits for its reader is not taken for slow', async () => {
  body.arrived(Buffer.alloc(1024 * 1024));
  vi.advanceTimersByTime(10 * SLOWNESS_WINDOW_MS);
  body.resume();
  await new Promise((resolve) => setImmediate(resolve));
  body.arrived(Buffer.alloc(1));
  await new Promise((resolve) => setImmediate(resolve));
  expect(faults).toEqual([]);
});
