// How long a kept file is: right where it says so, and within bounds of time and memory whatever is in it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LengthMeter, type MeasuredFile, type MeasureLimits } from '../../src/edge/audio-length.ts';
import { systemClock } from '../../src/telemetry/clock.ts';
import { flacOf, MP3_FRAME_SECONDS, mp3, mp3OfTwoRates, wavOf } from '../fakes/audio-files.ts';

const measure = (file: ReturnType<typeof fileOf>, clock: { now(): number } = systemClock, limits?: MeasureLimits) =>
  secondsOf(new LengthMeter(clock, limits), file);

const secondsOf = async (meter: LengthMeter, file: MeasuredFile) => (await meter.measure(file, 'org_1'))?.secondsMax;

const fileOf = (bytes: Buffer) => {
  const reads: number[] = [];
  return {
    reads,
    size: bytes.length,
    readAt: async (position: number, length: number) => {
      reads.push(length);
      return bytes.subarray(position, position + length);
    },
  };
};

describe('the length of a file', () => {
  it.each<[string, Buffer, number]>([
    ['MP3 without a header of its own', mp3(500), 500 * MP3_FRAME_SECONDS],
    ['MP3 of two rates', mp3OfTwoRates(500), 500 * MP3_FRAME_SECONDS],
    ['FLAC', flacOf(480_000), 30],
    ['WAV', wavOf(64_000), 2],
  ])('is told of %s', async (_, bytes, seconds) => {
    expect(await measure(fileOf(bytes))).toBeCloseTo(seconds, 1);
  });

  it.each<[string, Buffer]>([
    ['nothing known', Buffer.from('nothing that anybody knows'.repeat(100))],
    ['FLAC that does not know', flacOf(0)],
    ['a header cut off', flacOf(480_000).subarray(0, 20)],
    ['nothing', Buffer.alloc(0)],
  ])('is not guessed for %s', async (_, bytes) => {
    expect(await measure(fileOf(bytes))).toBeUndefined();
  });

  it('is given up when it takes too long', async () => {
    let nowMs = 0;
    const file = fileOf(mp3OfTwoRates(10_000));
    const slow = {
      now: () => {
        nowMs += 10;
        return nowMs;
      },
    };
    expect(await measure(file, slow, { timeMs: 150, pieceBytesMax: 1_048_576 })).toBeUndefined();
    expect(file.reads.length).toBeLessThan(20);
  });

  it('is found without keeping others from their work', async () => {
    let turns = 0;
    let isDone = false;
    const turn = () => {
      turns++;
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    let nowMs = 0;
    // Every look at the clock is a millisecond later.
    expect(await measure(fileOf(mp3OfTwoRates(4_000)), { now: () => nowMs++ })).toBeCloseTo(
      4_000 * MP3_FRAME_SECONDS,
      1,
    );
    isDone = true;
    expect(turns).toBeGreaterThan(5);
  });

  it('is found for one file after the other; who comes when 64 wait is told nothing', async () => {
    let inside = 0;
    let most = 0;
    const file = {
      size: 2_000,
      readAt: async (position: number, length: number) => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
        return flacOf(16_000).subarray(position, position + length);
      },
    };
    const meter = new LengthMeter(systemClock);
    const all = Array.from({ length: 66 }, () => secondsOf(meter, file));
    expect(meter.waiting).toBe(65);
    const seconds = await Promise.all(all);
    expect([seconds.filter((each) => each === 1).length, seconds.at(-1), most, meter.waiting]).toEqual([
      65,
      undefined,
      1,
      0,
    ]);
  });

  it('never takes more memory than a piece, and never rejects, for anything that looks like audio', async () => {
    const head = fc.constantFrom(
      'fLaC',
      'OggS',
      'ID3\x04\0\0',
      '\x1a\x45\xdf\xa3',
      '\0\0\0\x18ftypM4A ',
      'RIFF',
      '\xff\xfb\x90\0',
    );
    await fc.assert(
      fc.asyncProperty(head, fc.uint8Array({ maxLength: 3_000 }), async (magic, rest) => {
        const file = fileOf(Buffer.concat([Buffer.from(magic, 'latin1'), rest]));
        const seconds = await measure(file, systemClock, { timeMs: 200, pieceBytesMax: 100_000 });
        expect(seconds === undefined || (seconds > 0 && Number.isFinite(seconds))).toBe(true);
        expect(Math.max(0, ...file.reads)).toBeLessThanOrEqual(100_000);
      }),
      { numRuns: 300, seed: 3 },
    );
  });
});
