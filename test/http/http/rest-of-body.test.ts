// The rest of a body whose answer is out: how much of it is read, and for how long.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { REST_BYTES_MAX, REST_MS_MAX, RequestBody } from '../../../src/http/request-body.ts';

const MEBIBYTE = Buffer.alloc(1024 * 1024);
let body: RequestBody;
let told: boolean[];
let end: () => void;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  told = [];
  body = new RequestBody({ pause: () => {}, resume: () => {} }, undefined);
  end = body.afterRest((isWhole) => told.push(isWhole));
});
afterEach(() => {
  vi.useRealTimers();
});

test('reads and drops the rest of a body to its end', () => {
  for (let bytes = 0; bytes < REST_BYTES_MAX; bytes += MEBIBYTE.length) body.arrived(MEBIBYTE);
  expect([told, body.readableLength]).toEqual([[], 0]);
  body.finished();
  expect([told, vi.getTimerCount()]).toEqual([[true], 0]);
});

test('abandons the rest of a body beyond a bound of bytes, once', () => {
  for (let bytes = 0; bytes < 2 * REST_BYTES_MAX; bytes += MEBIBYTE.length) body.arrived(MEBIBYTE);
  body.finished();
  expect([told, vi.getTimerCount()]).toEqual([[false], 0]);
});

test('abandons the rest of a body beyond a bound of time, even at a steady pace', () => {
  for (let ms = 0; ms < REST_MS_MAX; ms += 1_000) {
    expect(told).toEqual([]);
    body.arrived(MEBIBYTE);
    vi.advanceTimersByTime(1_000);
  }
  expect(told).toEqual([false]);
});

test('waits for nothing after a complete body', () => {
  end();
  body.finished();
  body.afterRest((isWhole) => told.push(isWhole));
  expect([told, vi.getTimerCount()]).toEqual([[true], 0]);
});

test('waits for nothing after the client has left', () => {
  end();
  body.aborted();
  expect([told, vi.getTimerCount()]).toEqual([[], 0]);
});
