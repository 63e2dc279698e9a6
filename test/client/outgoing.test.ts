// How far audio runs ahead of its finals, and what the callers who wait for room are kept from: without a socket, on a clock of
// the test.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { OutgoingAudio, ROOM_BYTES, UNSENT_BYTES_MAX } from '../../clients/typescript/src/live/outgoing-audio.ts';

const SECOND = 32_000;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const made = (replaySecondsMax = 60) => new OutgoingAudio({ sampleRate: 16_000, bytesPerSample: 2, replaySecondsMax });

/** A line that always has room, and counts seconds. */
function line() {
  const taken = {
    bytes: 0,
    types: [] as string[],
    bufferedAmount: 0,
    send: (data: Uint8Array | object) => {
      if (data instanceof Uint8Array) taken.bytes += data.length;
      else taken.types.push((data as { type: string }).type);
    },
  };
  return taken;
}

/** Whether a promise is settled by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  const waits = Symbol();
  return (await Promise.race([promise, Promise.resolve(waits)])) !== waits;
}

it('goes no further beyond the last final than is kept, so that a new connection is sent all of it', async () => {
  const audio = made();
  const first = line();
  audio.connect(first, 65_536, 0);
  const writing = audio.write(new Uint8Array(600 * SECOND));
  expect(first.bytes).toBe(60 * SECOND);
  expect(await isDone(writing)).toBe(false);
  // Every final makes room for as much as it covers.
  audio.covered(20 * 16_000);
  expect(first.bytes).toBe(80 * SECOND);
  audio.disconnect();
  const second = line();
  expect(audio.connect(second, 65_536, 20 * 16_000)).toEqual({
    originSample: 20 * 16_000,
    replayedSamples: 60 * 16_000,
  });
  audio.pump();
  expect(second.bytes).toBe(60 * SECOND);
  audio.close();
  for (let covered = 80; covered <= 600; covered += 60) audio.covered(covered * 16_000);
  await writing;
  expect([second.bytes, second.types]).toEqual([580 * SECOND, ['close']]);
});

it('continues at real time without finals, and only then drops old audio', async () => {
  const audio = made();
  const first = line();
  audio.connect(first, 65_536, 0);
  void audio.write(new Uint8Array(600 * SECOND));
  await vi.advanceTimersByTimeAsync(100_000);
  const paced = first.bytes / SECOND - 60;
  expect(paced).toBeGreaterThanOrEqual(100);
  expect(paced).toBeLessThanOrEqual(130);
  audio.disconnect();
  const second = line();
  // The oldest that is kept is so old; what was kept is sent again at once.
  expect(audio.connect(second, 65_536, 0).originSample).toBe(first.bytes / 2 - 60 * 16_000);
  audio.pump();
  expect(second.bytes).toBe(60 * SECOND);
  audio.end(undefined);
});

it('waits with a recording for a late final, and loses nothing', async () => {
  const audio = made();
  const first = line();
  audio.connect(first, 65_536, 0);
  void audio.write(new Uint8Array(600 * SECOND));
  await vi.advanceTimersByTimeAsync(9_000);
  expect(first.bytes).toBe(60 * SECOND);
  audio.covered(20 * 16_000);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(first.bytes).toBe(80 * SECOND);
  audio.disconnect();
  expect(audio.connect(line(), 65_536, 20 * 16_000).originSample).toBe(20 * 16_000);
  audio.end(undefined);
});

it('drops whole samples only', async () => {
  const audio = made(1);
  audio.connect(line(), 65_536, 0);
  void audio.write(new Uint8Array(40_001));
  await vi.advanceTimersByTimeAsync(1_000);
  audio.disconnect();
  expect(audio.connect(line(), 65_536, 0)).toEqual({ originSample: 4_000, replayedSamples: 16_000 });
  expect(audio.isCovered).toBe(false);
});

it('never delays a source at real time', async () => {
  const audio = made(1);
  const first = line();
  audio.connect(first, 65_536, 0);
  for (let piece = 0; piece < 1_200; piece++) {
    await vi.advanceTimersByTimeAsync(50);
    await audio.write(new Uint8Array(SECOND / 20));
    expect(first.bytes).toBe(((piece + 1) * SECOND) / 20);
  }
});

it('waits for nothing where nothing is kept', () => {
  const audio = made(0);
  const first = line();
  audio.connect(first, 65_536, 0);
  void audio.write(new Uint8Array(600 * SECOND));
  expect(first.bytes).toBe(600 * SECOND);
});

it('callers who wait may send any amount at once, also after a connection was replaced', async () => {
  const audio = made(600);
  const first = line();
  const large = audio.write(new Uint8Array(UNSENT_BYTES_MAX + SECOND));
  audio.connect(first, 65_536, 0);
  audio.pump();
  await large;
  audio.disconnect();
  // Everything is to be sent again: who has waited is not blamed for it.
  const next = audio.write(new Uint8Array(SECOND));
  const second = line();
  audio.connect(second, 65_536, 0);
  audio.pump();
  await next;
  expect(second.bytes).toBe(UNSENT_BYTES_MAX + 2 * SECOND);
});

it('callers who do not wait are stopped at the bound, and those who come after it has gone are not', async () => {
  const audio = made(0);
  const piece = new Uint8Array(UNSENT_BYTES_MAX / 8);
  const writes = Array.from({ length: 8 }, () => audio.write(piece));
  expect(() => audio.write(new Uint8Array(1))).toThrow(/Await what `send` returns/);
  const first = line();
  audio.connect(first, 65_536, 0);
  audio.pump();
  await Promise.all(writes);
  first.bufferedAmount = ROOM_BYTES + 1;
  const waiting = audio.write(piece);
  first.bufferedAmount = 0;
  await vi.advanceTimersByTimeAsync(10);
  await waiting;
  expect(first.bytes).toBe(9 * piece.length);
});
