// How much a kept file holds: counted beside the thread that serves, within bounds, and in turns of organisations.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { LengthMeter, type LengthMeterOptions } from '../../../src/files/measuring/length-meter.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { flacOf, MP3_FRAME_SECONDS, mp3, mp3OfTwoRates, wavOf } from '../../fakes/audio/audio-files.ts';

const meters: LengthMeter[] = [];
afterEach(async () => {
  for (const meter of meters.splice(0)) await meter.close();
});

function meterWith(options: Partial<LengthMeterOptions> = {}): LengthMeter {
  const meter = new LengthMeter({ clock: systemClock, ...options });
  meters.push(meter);
  return meter;
}

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
    ['MP3 without its own header', mp3(500), 500 * MP3_FRAME_SECONDS],
    ['MP3 of two rates', mp3OfTwoRates(500), 500 * MP3_FRAME_SECONDS],
    ['FLAC', flacOf(480_000), 30],
    ['WAV', wavOf(64_000), 2],
  ])('follows from %s', async (_, bytes, seconds) => {
    expect((await meterWith().measure(fileOf(bytes), 'org_1'))?.secondsMax).toBeCloseTo(seconds, 1);
  });

  it.each<[string, Buffer]>([
    ['nothing known', Buffer.from('nothing that anybody knows'.repeat(100))],
    ['FLAC without a frame', flacOf(0)],
    ['a header cut off', flacOf(480_000).subarray(0, 20)],
    ['nothing', Buffer.alloc(0)],
  ])('stays unknown for %s', async (_, bytes) => {
    expect(await meterWith().measure(fileOf(bytes), 'org_1')).toBeUndefined();
  });

  it('gives up after too long, and the next file is measured', async () => {
    let nowMs = 0;
    const clock = { ...systemClock, now: () => (nowMs += 10) };
    const meter = meterWith({ clock, workMs: 25 });
    const long = fileOf(mp3(10_000));
    const answers = await Promise.all([meter.measure(long, 'org_1'), meter.measure(fileOf(wavOf(64_000)), 'org_1')]);
    expect(answers).toMatchObject([undefined, { secondsMax: 2, channels: 1 }]);
    expect(long.reads.length).toBeLessThan(5);
  });

  it('stays unknown for an unreadable file, and the next file is measured', async () => {
    const meter = meterWith();
    const unreadable = { size: 100, readAt: () => Promise.reject(new Error('The upload was given up.')) };
    expect(await meter.measure(unreadable, 'org_1')).toBeUndefined();
    expect(await meter.measure(fileOf(wavOf(64_000)), 'org_1')).toMatchObject({ secondsMax: 2, channels: 1 });
  });

  it('runs in another thread: this one only passes on pieces of a bounded size', async () => {
    const large = fileOf(mp3(40_000));
    let turns = 0;
    const turn = () => {
      turns++;
      if (meter.waiting > 0) setImmediate(turn);
    };
    const meter = meterWith();
    const measuring = meter.measure(large, 'org_1');
    setImmediate(turn);
    expect((await measuring)?.secondsMax).toBeCloseTo(40_000 * MP3_FRAME_SECONDS, 1);
    expect(turns).toBeGreaterThan(large.reads.length);
    expect(Math.max(...large.reads)).toBeLessThanOrEqual(256 * 1024);
  });
});

describe('files of many organisations', () => {
  it('take turns: one file of one of them waits for no more than one of twenty large ones of another', async () => {
    const meter = meterWith();
    const order: string[] = [];
    const large = mp3(12_000);
    const measure = async (bytes: Buffer, organisationId: string) => {
      await meter.measure(fileOf(bytes), organisationId);
      order.push(organisationId);
    };
    const hostile = Array.from({ length: 20 }, () => measure(large, 'hostile'));
    // Both threads are busy.
    hostile.push(measure(large, 'another'));
    await Promise.all([...hostile, measure(mp3(500), 'honest')]);
    expect(order).toHaveLength(22);
    expect(order.indexOf('honest')).toBeLessThanOrEqual(1);
  });

  it('share 256 places each, and one more gets a retry', async () => {
    const dropped: string[] = [];
    const meter = meterWith({ onOverflow: (name) => dropped.push(name) });
    const file = fileOf(wavOf(64_000));
    const taken = Array.from({ length: 256 }, () => meter.measure(file, 'hostile'));
    await expect(meter.measure(file, 'hostile')).rejects.toMatchObject({ code: 'overloaded' });
    expect([meter.waiting, dropped]).toEqual([256, ['measured_files']]);
    expect(await meter.measure(file, 'honest')).toMatchObject({ secondsMax: 2, channels: 1 });
    await Promise.all(taken);
    expect(meter.waiting).toBe(0);
  });

  it('share 1,024 places together', async () => {
    const meter = meterWith();
    const file = fileOf(wavOf(64));
    const taken = Array.from({ length: 1_024 }, (_, index) => meter.measure(file, `org_${index}`));
    await expect(meter.measure(file, 'one more')).rejects.toMatchObject({ code: 'overloaded' });
    await Promise.all(taken);
  });

  it('stop waiting when the node ends', async () => {
    const meter = meterWith();
    const waiting = Array.from({ length: 3 }, () => meter.measure(fileOf(mp3(20_000)), 'org_1'));
    await meter.close();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    expect(await meter.measure(fileOf(wavOf(64_000)), 'org_1')).toBeUndefined();
  });
});

it('reads bounded pieces of what only looks like audio, and never rejects', async () => {
  const meter = meterWith();
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
      const audio = await meter.measure(file, 'org_1');
      expect(audio === undefined || (audio.secondsMax > 0 && Number.isFinite(audio.secondsMax))).toBe(true);
      expect(Math.max(0, ...file.reads)).toBeLessThanOrEqual(16 * 1024 * 1024);
    }),
    { numRuns: 300, seed: 3 },
  );
});
