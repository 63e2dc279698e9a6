// F26: files that claim to be longer or shorter than anything could be, in every format: refused, held for in full, or measured by
// what is really in them; never believed at the cost of whoever pays.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LengthMeter } from '../../../src/files/measuring/length-meter.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { flacOf, MP3_FRAME_SECONDS, mp3, wavOf } from '../../fakes/audio/audio-files.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import { expectNothingLeft, MEMORY_BYTES_MAX, reservations, send, server } from './files-fixture.ts';

const PAID: [string, string] = ['model', 'second/file'];
const load = (name: string): Buffer<ArrayBuffer> =>
  Buffer.from(readFileSync(join(import.meta.dirname, '../../fixtures/audio/formats', name)));

/** The file with these bytes at a place behind a mark. */
function patched(
  name: string,
  mark: string,
  behind: number,
  bytes: Buffer,
  which: 'first' | 'last' = 'first',
): Buffer<ArrayBuffer> {
  const file = load(name);
  const at = which === 'first' ? file.indexOf(mark, 0, 'latin1') : file.lastIndexOf(mark, undefined, 'latin1');
  expect(at).toBeGreaterThanOrEqual(0);
  bytes.copy(file, at + mark.length + behind);
  return file;
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};
const u64le = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};
const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
};
const large = (file: Buffer): Buffer<ArrayBuffer> => Buffer.concat([file, Buffer.alloc(2 * MEMORY_BYTES_MAX)]);

/** MP3 whose first frame says how many frames follow. */
function mp3Claiming(mark: 'Xing' | 'Info' | 'VBRI', frames: number, real: number): Buffer<ArrayBuffer> {
  const file = mp3(real + 1);
  file.write(mark, 36, 'latin1');
  if (mark === 'VBRI') file.writeUInt32BE(frames, 36 + 14);
  else {
    file.writeUInt32BE(1, 40);
    file.writeUInt32BE(frames, 44);
  }
  return file;
}

describe('a file that claims ages', () => {
  it.each<[string, Buffer<ArrayBuffer>]>([
    ['FLAC, in its stream’s description', flacOf(2 ** 31 - 1, 4_000)],
    ['FLAC, larger than memory', large(flacOf(2 ** 31 - 1, 4_000))],
    ['M4A in fragments, in the length of a sample', patched('aac-fragmented.m4a', 'tfhd', 16, u32(0xffff_ffff))],
  ])('refuses %s, without sending or charging anything', async (_, file) => {
    const refused = await send([PAID], file, '/files', 'application/octet-stream');
    expect([refused.status, refused.json]).toMatchObject([
      400,
      {
        error: {
          code: 'unsupported_audio',
          param: 'file',
          message: expect.stringMatching(/says that it is \d+ s long/),
        },
      },
    ]);
    expect([server('second').arrived.length, reservations.reserved.length, reservations.charges.size]).toEqual([
      0, 0, 0,
    ]);
    await expectNothingLeft();
  });

  it.each<[string, Buffer<ArrayBuffer>, number, number?]>([
    ['MP3, in a Xing header', mp3Claiming('Xing', 0xffff_ffff, 100), 100 * MP3_FRAME_SECONDS],
    ['MP3, in an Info header', mp3Claiming('Info', 0xffff_ffff, 100), 100 * MP3_FRAME_SECONDS],
    ['MP3, in a VBRI header', mp3Claiming('VBRI', 0xffff_ffff, 100), 100 * MP3_FRAME_SECONDS],
    [
      'M4A in fragments, in the number of samples of a run',
      patched('recorder/recorder.m4a', 'trun', 4, u32(0xffff_ffff)),
      5.96,
    ],
    ['Ogg with Opus, on its last page', patched('opus.ogg', 'OggS', 2, u64le(2n ** 52n), 'last'), 10.02],
    ['Ogg with Vorbis, on its last page', patched('vorbis.ogg', 'OggS', 2, u64le(2n ** 52n), 'last'), 4],
    ['WebM, in its duration', patched('opus.webm', '\x44\x89\x88', 0, double(1e15)), 10.02],
    // Money is held for the silence that the encoder put in front, and for what fills up the last packet.
    ['M4A, in its media header', patched('aac.m4a', 'mdhd', 16, u32(0xffff_ffff)), 6, 6.08],
    [
      'M4A in fragments, in the time of one of them',
      patched('aac-fragmented.m4a', 'tfdt', 4, Buffer.alloc(8, 0x7f), 'last'),
      6.08,
    ],
    ['WAV, in its data chunk', wavOf(64_000, { said: 0xffff_fff0 }), 2],
    ['WAV that knows no length', wavOf(64_000, { said: 0xffff_ffff }), 2],
    ['WAV of 64 bits', patched('wav/rf64.wav', 'ds64', 12, u64le(2n ** 60n)), 0.8],
  ])('%s is measured by what is in it', async (_, file, seconds, heldSeconds = seconds) => {
    server('second').answers = [answer({ text: 'heard' })];
    expect((await send([PAID], file, '/files', 'application/octet-stream')).status).toBe(200);
    expect(reservations.reserved[0]!.secondsMax).toBeCloseTo(heldSeconds, 1);
    expect([...reservations.charges.values()][0]!.seconds).toBeCloseTo(seconds, 1);
    await expectNothingLeft();
  });
});

describe('a file that claims less than is in it', () => {
  it.each<[string, Buffer<ArrayBuffer>, number]>([
    ['MP3, in a Xing header', mp3Claiming('Xing', 1, 4_000), 4_000 * MP3_FRAME_SECONDS],
    ['MP3, in a VBRI header', mp3Claiming('VBRI', 1, 4_000), 4_000 * MP3_FRAME_SECONDS],
    [
      'MP3, by frames of a high rate in front',
      Buffer.concat([mp3(10), load('vbr-headerless.mp3')]),
      10 * MP3_FRAME_SECONDS + 6.08,
    ],
    ['WAV, in its data chunk', wavOf(64_000, { said: 32 }), 2],
    ['M4A in fragments, in its headers', patched('aac-fragmented.m4a', 'mdhd', 16, u32(1)), 6.06],
  ])('%s is held for by what is in it', async (_, file, seconds) => {
    expect((await send([PAID], file, '/files', 'application/octet-stream')).status).toBe(200);
    expect(Math.abs(reservations.reserved[0]!.secondsMax - seconds) / seconds).toBeLessThan(0.02);
  });
});

describe('a few bytes that claim three hours', () => {
  const file = flacOf(3 * 3_600 * 16_000, 16_000, 100);

  it('holds the claimed length in full, and charges what the provider transcribed', async () => {
    expect((await send([PAID], file)).status).toBe(200);
    expect([reservations.reserved[0]?.secondsMax, [...reservations.charges.values()][0]?.seconds]).toEqual([
      10_800, 60,
    ]);
  });

  it('sends nothing to a provider without the credit for the claim', async () => {
    reservations.isBroke = true;
    expect((await send([PAID], file)).status).toBe(402);
    expect(server('second').arrived).toEqual([]);
    await expectNothingLeft();
  });
});

it('finds a length in bounded time and memory, or none, for any damaged header', async () => {
  const names = [
    'recorder/recorder-sliced.webm',
    'opus.webm',
    'recorder/recorder.m4a',
    'aac-fragmented.m4a',
    'aac.m4a',
    'vbr-xing.mp3',
    'opus.ogg',
  ];
  const files = names.map(load);
  const meter = new LengthMeter({ clock: systemClock });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.nat({ max: 1_500 }), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff)), {
        minLength: 1,
        maxLength: 6,
      }),
      async (file, changes) => {
        const damaged = Buffer.from(file);
        for (const [at, byte] of changes) damaged[at] = byte;
        let most = 0;
        const measured = {
          size: damaged.length,
          readAt: async (position: number, length: number) => {
            most = Math.max(most, length);
            return damaged.subarray(position, position + length);
          },
        };
        const seconds = (await meter.measure(measured, 'org_1'))?.secondsMax;
        expect(seconds === undefined || (Number.isFinite(seconds) && seconds > 0)).toBe(true);
        expect(most).toBeLessThanOrEqual(16 * 1024 * 1024);
      },
    ),
    { numRuns: 1_500, seed: 26 },
  );
}, 120_000);
