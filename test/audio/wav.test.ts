// WAV files of every kind that is read, cut at every byte, and those that are refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { WavReader } from '../../src/audio/containers/wav.ts';
import { numberedAudio, numberedSample } from '../fakes/audio/numbered-audio.ts';

interface Coding {
  tag: number;
  bits: number;
  /** Writes a 16-bit sample. */
  put(view: DataView, at: number, sample: number): void;
  /** What a reader must make of it: 8-bit codings lose detail. */
  read?: (sample: number) => number;
}

const CODINGS: Record<string, Coding> = {
  'PCM 8': {
    tag: 1,
    bits: 8,
    put: (view, at, sample) => view.setUint8(at, (sample >> 8) + 128),
    read: (sample) => (sample >> 8) * 256,
  },
  'PCM 16': { tag: 1, bits: 16, put: (view, at, sample) => view.setInt16(at, sample, true) },
  'PCM 24': {
    tag: 1,
    bits: 24,
    put: (view, at, sample) => {
      view.setUint8(at, 0);
      view.setInt16(at + 1, sample, true);
    },
  },
  'PCM 32': { tag: 1, bits: 32, put: (view, at, sample) => view.setInt32(at, sample * 65_536, true) },
  'float 32': { tag: 3, bits: 32, put: (view, at, sample) => view.setFloat32(at, sample / 32_768, true) },
  'float 64': { tag: 3, bits: 64, put: (view, at, sample) => view.setFloat64(at, sample / 32_768, true) },
  // The codes of the smallest and the largest magnitudes, by the sign of the sample.
  'μ-law': {
    tag: 7,
    bits: 8,
    put: (view, at, sample) => view.setUint8(at, sample < 0 ? 0x00 : 0xff),
    read: (sample) => (sample < 0 ? -32124 : 0),
  },
  'A-law': {
    tag: 6,
    bits: 8,
    put: (view, at, sample) => view.setUint8(at, sample < 0 ? 0x2a : 0xd5),
    read: (sample) => (sample < 0 ? -32256 : 8),
  },
};

interface Shape {
  channels?: number;
  extensible?: boolean;
  dataSize?: number;
  /** Chunks between the fmt chunk and the samples. */
  before?: Uint8Array;
  after?: Uint8Array;
}

const bytesOf = (...parts: (string | number[] | Uint8Array)[]) =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'string' ? [...part].map((letter) => letter.charCodeAt(0)) : [...part])),
  );
const u16 = (value: number) => [value & 255, (value >> 8) & 255];
const u32 = (value: number) => [...u16(value), ...u16(value >>> 16)];
const chunk = (name: string, body: Uint8Array) =>
  bytesOf(name, u32(body.length), body, body.length % 2 === 1 ? [0] : []);

const RATE = 22_050;
const SUBTYPE = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];

/** A file with `frames[frame][channel]`. */
function wav(coding: Coding, frames: number[][], shape: Shape = {}): Uint8Array {
  const channels = shape.channels ?? 1;
  const size = coding.bits / 8;
  const data = new Uint8Array(frames.length * channels * size);
  const view = new DataView(data.buffer);
  frames.flat().forEach((sample, i) => {
    coding.put(view, i * size, sample);
  });
  const fields = [
    ...u16(channels),
    ...u32(RATE),
    ...u32(RATE * channels * size),
    ...u16(channels * size),
    ...u16(coding.bits),
  ];
  const fmt = shape.extensible
    ? bytesOf(u16(0xfffe), fields, u16(22), u16(coding.bits), u32(0), u16(coding.tag), SUBTYPE)
    : bytesOf(u16(coding.tag), fields);
  const head = bytesOf(chunk('fmt ', fmt), shape.before ?? [], 'data', u32(shape.dataSize ?? data.length));
  return bytesOf('RIFF', u32(4 + head.length + data.length), 'WAVE', head, data, shape.after ?? []);
}

/** Reads a file in pieces of the given sizes, repeated. */
function read(file: Uint8Array, sizes: number[] = [file.length]): { samples: number[]; reader: WavReader } {
  const reader = new WavReader();
  const samples: number[] = [];
  for (let at = 0, i = 0; at < file.length; at += sizes[i++ % sizes.length]!) {
    samples.push(...reader.push(file.subarray(at, at + sizes[i % sizes.length]!)));
  }
  reader.end();
  return { samples, reader };
}

const RAMP = Array.from({ length: 257 }, (_, i) => numberedSample(i * 255 - 32_768));
const mono = RAMP.map((sample) => [sample]);

describe.each(Object.entries(CODINGS))('%s', (_, coding) => {
  const expected = RAMP.map(coding.read ?? ((sample) => sample));

  test('reads whole, byte by byte and in any pieces', () => {
    for (const extensible of [false, true]) {
      const file = wav(coding, mono, { extensible });
      expect(read(file).samples).toEqual(expected);
      expect(read(file, [1]).samples).toEqual(expected);
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 }), (sizes) => {
          expect(read(file, sizes).samples).toEqual(expected);
        }),
        { numRuns: 20 },
      );
    }
  });

  test('mixes down to mono', () => {
    const frames = RAMP.map((sample) => [sample, sample, sample]);
    expect(read(wav(coding, frames, { channels: 3 }), [7]).samples).toEqual(expected);
  });
});

const PCM16 = CODINGS['PCM 16']!;

test('knows the format when the samples begin', () => {
  const reader = new WavReader();
  const file = wav(PCM16, [[1, 2]], { channels: 2 });
  reader.push(file.subarray(0, 43));
  expect(reader.format).toBeUndefined();
  expect([...reader.push(file.subarray(43))]).toEqual([2]);
  expect(reader.format).toEqual({ coding: 'pcm', channels: 2, sampleRate: RATE, bitsPerSample: 16 });
});

test('channels that differ give their mean, loud ones without overflow', () => {
  const frames = [
    [32_767, 32_767],
    [-32_768, -32_768],
    [100, -100],
    [1, 2],
  ];
  expect(read(wav(PCM16, frames, { channels: 2 })).samples).toEqual([32_767, -32_768, 0, 2]);
});

test.each([0, 0xffff_ffff, 0x7fff_f000, 100_000])(
  'samples go on to the end of the file when their size is said to be %i',
  (dataSize) => {
    expect(read(wav(PCM16, mono, { dataSize }), [5]).samples).toEqual(RAMP);
  },
);

test('chunks of no interest are passed over, before and after the samples, odd ones with their pad byte', () => {
  const before = bytesOf(
    chunk('LIST', new Uint8Array(33)),
    chunk('bext', new Uint8Array(602)),
    chunk('JUNK', new Uint8Array(0)),
  );
  const after = chunk('id3 ', new Uint8Array(77).fill(1));
  for (const sizes of [[1], [13], [10_000]]) {
    expect(read(wav(PCM16, mono, { before, after }), sizes).samples).toEqual(RAMP);
  }
});

test('drops a broken last sample frame', () => {
  const file = wav(
    PCM16,
    [
      [5, 6],
      [7, 8],
    ],
    { channels: 2 },
  );
  expect(read(file.subarray(0, file.length - 1), [1]).samples).toEqual([6]);
});

test('reads a file without samples as empty', () => {
  expect(read(wav(PCM16, [])).samples).toEqual([]);
});

test('reads a megabyte of samples in one piece', () => {
  const pcm = numberedAudio(0, 500_000);
  const file = bytesOf('RIFF', u32(36 + pcm.length), 'WAVE', chunk('fmt ', wav(PCM16, []).subarray(20, 36)));
  const reader = new WavReader();
  reader.push(file);
  reader.push(bytesOf('data', u32(pcm.length)));
  expect(Buffer.from(reader.push(pcm).slice().buffer).equals(pcm)).toBe(true);
});

describe('the refusal of an unreadable file', () => {
  const patched = (at: number, ...bytes: number[]) => {
    const file = wav(PCM16, mono);
    file.set(bytes, at);
    return file;
  };
  const FILES: [what: string, file: Uint8Array, message: RegExp][] = [
    [
      'an MP3 file',
      bytesOf('ID3\x04\x00\x00\x00\x00\x01\x76', new Uint8Array(50)),
      /is MP3, not WAV.*Convert it to WAV/,
    ],
    ['a big-endian file', patched(3, 0x58), /WAV \(big-endian\)/],
    ['RIFF of another kind', patched(8, 0x41, 0x56, 0x49, 0x20), /not a WAV file/],
    ['no file at all', new Uint8Array(0), /not a WAV file/],
    ['text', bytesOf('hello'), /not a WAV file/],
    ['ADPCM', patched(20, 2, 0), /format 2, 16 bits/],
    ['12 bytes a sample', patched(34, 96), /format 1, 96 bits/],
    ['no channel', patched(22, 0), /0 channels/],
    ['a rate of 0', patched(24, 0, 0, 0, 0), /sample rate is 0/],
    ['a block size that does not fit', patched(32, 3), /3 bytes for 1 samples of 16 bits/],
    ['a short fmt chunk', patched(16, 14), /fmt chunk has 14 bytes/],
    ['samples before the format', bytesOf('RIFF', u32(99), 'WAVE', chunk('data', new Uint8Array(8))), /before its fmt/],
    ['a file cut in its header', wav(PCM16, mono).subarray(0, 30), /ends before its samples/],
    [
      'a header without end',
      wav(PCM16, mono, { before: chunk('LIST', new Uint8Array(1_100_000)) }),
      /1 MiB of it came/,
    ],
  ];

  test.each(FILES)('%s', (_, file, message) => {
    for (const sizes of [[file.length], [3]]) {
      const reading = () => read(file, sizes);
      expect(reading).toThrow(ApiError);
      expect(reading).toThrow(message);
    }
  });
});
