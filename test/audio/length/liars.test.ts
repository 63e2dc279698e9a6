// Files that say less of themselves than is in them: none is measured shorter than what a decoder would hear of it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flacOf, MP3_FRAME_SECONDS, mp3, wavOf } from '../../fakes/audio/audio-files.ts';
import { measured } from '../../fakes/audio/measured.ts';
import { oggPage, opusOgg, speexOgg } from '../../fakes/audio/ogg-files.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/audio/formats');
const load = (name: string): Buffer => readFileSync(join(FOLDER, name));

/** Every place of a mark. */
function placesOf(bytes: Buffer, mark: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(mark, 0, 'latin1'); at !== -1; at = bytes.indexOf(mark, at + 1, 'latin1'))
    places.push(at);
  return places;
}

/** Where a file says how long it is: bytes behind each of its marks. */
type Claims = readonly [mark: string, from: number, to: number][];

const MOVIE: Claims = [
  ['mvhd', 20, 24],
  ['tkhd', 24, 28],
  ['mdhd', 20, 24],
  ['stts', 12, 20],
];

const CLAIMS: readonly [name: string, seconds: number, claims: Claims][] = [
  // Granule, number and checksum of every page.
  [
    'opus.ogg',
    10,
    [
      ['OggS', 6, 14],
      ['OggS', 18, 26],
    ],
  ],
  [
    'vorbis.ogg',
    3.98,
    [
      ['OggS', 6, 14],
      ['OggS', 18, 26],
    ],
  ],
  [
    'flac.ogg',
    2,
    [
      ['OggS', 6, 14],
      ['fLaC', 22, 42],
    ],
  ],
  // Sizes of frames; samples, without the bits of rate and channels in front of them; checksum.
  [
    'flac.flac',
    2,
    [
      ['fLaC', 12, 18],
      ['fLaC', 22, 42],
    ],
  ],
  ['aac.m4a', 6, MOVIE],
  ['aac-fragmented.m4a', 6.06, [...MOVIE, ['trex', 16, 20], ['tfdt', 4, 8], ['mehd', 4, 12]]],
  ['opus-fragmented.m4a', 6, [...MOVIE, ['trex', 16, 20], ['tfdt', 4, 8], ['mehd', 4, 12]]],
  ['recorder/recorder.m4a', 5.95, [...MOVIE, ['trex', 16, 20], ['tfdt', 4, 8]]],
  ['opus.webm', 10, [['\x44\x89\x88', 3, 11]]],
  [
    'cbr.mp3',
    6.08,
    [
      ['Info', 4, 40],
      ['Xing', 4, 40],
    ],
  ],
  [
    'wav/list.wav',
    0.8,
    [
      ['RIFF', 4, 8],
      ['data', 4, 8],
      ['fmt ', 16, 20],
    ],
  ],
  [
    'wav/adpcm.wav',
    6.1,
    [
      ['RIFF', 4, 8],
      ['data', 4, 8],
      ['fact', 8, 12],
    ],
  ],
];

describe('any false length, in any field', () => {
  it.each(CLAIMS)('%s is measured at no less than %f s', (name, seconds, claims) => {
    const bytes = load(name);
    const places = claims.flatMap(([mark, from, to]) =>
      placesOf(bytes, mark).flatMap((at) => Array.from({ length: to - from }, (_, index) => at + from + index)),
    );
    expect(places.length).toBeGreaterThan(0);
    const lies = fc.array(fc.tuple(fc.constantFrom(...places), fc.nat({ max: 255 })), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(fc.oneof(lies, fc.constantFrom(0, 1, 255)), (lie) => {
        const forged = Buffer.from(bytes);
        const changes = typeof lie === 'number' ? places.map((at) => [at, lie] as const) : lie;
        for (const [at, byte] of changes) forged[at] = byte;
        expect(measured(forged)?.secondsMax ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(seconds);
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});

/** Frames of 320 kbit/s, in which another stream of 8 kbit/s is hidden: 60 frames in each, half a frame later. */
function streamInStream(frames: number): Buffer {
  const [outer, inner] = [1440, 24];
  const file = Buffer.alloc(frames * outer);
  for (let at = inner / 2; at + inner <= file.length; at += inner) file.writeUInt32BE(0xfff314c0, at);
  for (let at = 0; at < file.length; at += outer) file.writeUInt32BE(0xfffbe800 + (at === 0 ? 0xc0 : 0x40), at);
  return file;
}
const INNER_SECONDS = 576 / 24_000;

const id3 = (bytes: number, said = bytes): Buffer =>
  Buffer.concat([
    Buffer.from('ID3\x04\0\0', 'latin1'),
    Buffer.from([said >> 21, said >> 14, said >> 7, said].map((byte) => byte & 0x7f)),
    Buffer.alloc(bytes),
  ]);

/** AAC of 16 kHz in ADTS: 64 ms and 100 bytes a frame. */
function adts(frames: number): Buffer {
  const file = Buffer.alloc(frames * 100);
  for (let at = 0; at < file.length; at += 100) file.set([0xff, 0xf1, 0x60, 0x40, 0x0c, 0x9f, 0xfc], at);
  return file;
}

/** WAV whose data is in two chunks, with a chunk of something else between them. */
function wavOfTwoParts(): Buffer {
  const more = Buffer.concat([Buffer.from('LIST\x04\0\0\0INFOdata', 'latin1'), Buffer.alloc(4)]);
  return Buffer.concat([wavOf(32_000), more, Buffer.alloc(64_000)]);
}

const patched = (bytes: Buffer, ...changes: readonly [at: number, byte: number][]): Buffer => {
  const copy = Buffer.from(bytes);
  for (const [at, byte] of changes) copy[at] = byte;
  return copy;
};

/** M4A whose samples are one, as large as all of them: decoders go on in it. */
function m4aOfOneSample(): Buffer {
  const bytes = load('aac.m4a');
  const [sizes = 0] = placesOf(bytes, 'stsz');
  const count = bytes.readUInt32BE(sizes + 12);
  let sum = 0;
  for (let sample = 0; sample < count; sample++) sum += bytes.readUInt32BE(sizes + 16 + sample * 4);
  bytes.writeUInt32BE(1, sizes + 12);
  bytes.writeUInt32BE(sum, sizes + 16);
  bytes.writeUInt32BE(1, placesOf(bytes, 'stts')[0]! + 12);
  return bytes;
}

/** M4A with two blocks in each sample, none larger than a packet may be: decoders go on in it. */
function m4aOfPairs(): Buffer {
  const bytes = load('aac.m4a');
  const [sizes = 0] = placesOf(bytes, 'stsz');
  const count = Math.floor(bytes.readUInt32BE(sizes + 12) / 2);
  for (let pair = 0; pair < count; pair++) {
    const at = sizes + 16 + pair * 8;
    bytes.writeUInt32BE(bytes.readUInt32BE(at) + bytes.readUInt32BE(at + 4), sizes + 16 + pair * 4);
  }
  bytes.writeUInt32BE(count, sizes + 12);
  bytes.writeUInt32BE(count, placesOf(bytes, 'stsc')[0]! + 16);
  bytes.writeUInt32BE(count, placesOf(bytes, 'stts')[0]! + 12);
  return bytes;
}

/** Times of all clusters, and how long the whole is. */
function webmWithoutTimes(): Buffer {
  const bytes = load('recorder/recorder-sliced.webm');
  for (const at of placesOf(bytes, '\x1f\x43\xb6\x75')) {
    const timestamp = bytes.indexOf(0xe7, at + 4);
    bytes.fill(0, timestamp + 2, timestamp + 2 + (bytes[timestamp + 1]! & 0x7f));
  }
  return bytes;
}

/** What a reader stumbles over, and then looks for the next cluster. */
function damagedWebm(): Buffer {
  const bytes = load('recorder/recorder-sliced.webm');
  const [first = 0] = placesOf(bytes, '\x1f\x43\xb6\x75');
  return Buffer.concat([bytes.subarray(0, first), Buffer.from([0, 0, 0, 0, 0xec, 0xff]), bytes.subarray(first)]);
}

/** Ogg in the body of a page that no reader takes: its checksum is wrong. */
const hiddenOgg = (): Buffer => {
  const inner = Buffer.concat(opusOgg(100, [8]));
  const parts = Array.from({ length: Math.ceil(inner.length / 254) }, (_, index) =>
    inner.subarray(index * 254, index * 254 + 254),
  );
  return Buffer.concat([...opusOgg(2, [8], 9), oggPage(parts, { serial: 9 })]);
};

const interleaved = (): Buffer => {
  const [one, other] = [opusOgg(500, [8], 0), opusOgg(500, [8], 1)];
  return Buffer.concat(one.flatMap((page, index) => [page, other[index]!]));
};

describe('a file that is more than its beginning says', () => {
  it.each<[string, Buffer, number]>([
    [
      'Ogg of several streams, one after the other',
      Buffer.concat(['opus', 'vorbis', 'flac'].map((name) => load(`${name}.ogg`))),
      16,
    ],
    ['Ogg of two multiplexed streams, one with the number 0', interleaved(), 10],
    ['Ogg in a page of Ogg that is damaged', hiddenOgg(), 2],
    ['Opus of 120 ms a packet', Buffer.concat(opusOgg(1_000, [0x1b, 2])), 120],
    ['Opus of 120 ms a packet, in 48 frames', Buffer.concat(opusOgg(1_000, [0x83, 48])), 120],
    ['Speex of ten frames a packet', speexOgg(100, 10), 20],
    ['Speex that does not say how many', speexOgg(100, 0), 2],
    ['FLAC, twice', Buffer.concat([load('flac.flac'), load('flac.flac')]), 4],
    ['FLAC behind a tag of MP3', Buffer.concat([id3(500), load('flac.flac')]), 2],
    ['AAC behind a tag of MP3', Buffer.concat([id3(500), adts(100)]), 6.4],
    ['MP3, twice, of two rates', Buffer.concat([load('cbr.mp3'), mp3(400)]), 6.08 + 400 * MP3_FRAME_SECONDS],
    [
      'MP3 behind a thousand tags',
      Buffer.concat([...Array<Buffer>(900).fill(id3(10)), mp3(400)]),
      400 * MP3_FRAME_SECONDS,
    ],
    [
      'MP3 behind a tag that is longer than the file',
      Buffer.concat([id3(10, 2_000_000), mp3(400)]),
      400 * MP3_FRAME_SECONDS,
    ],
    ['MP3 within the frames of MP3', streamInStream(100), 5_990 * INNER_SECONDS],
    ['MP3 with something else behind it', Buffer.concat([mp3(10), Buffer.alloc(1_000_000)]), 980],
    ['M4A of one sample that is too large for a packet', m4aOfOneSample(), 6],
    ['M4A of two blocks in each sample', m4aOfPairs(), 6],
    ['WebM, twice', Buffer.concat([load('opus.webm'), load('opus.webm')]), 20],
    ['WebM without times', webmWithoutTimes(), 5.9],
    ['WebM that is damaged in front', damagedWebm(), 5.9],
    ['WAV that says one second', wavOf(600 * 32_000, { said: 32_000 }), 600],
    ['WAV of two parts', wavOfTwoParts(), 3],
    ['WAV with samples that are said to be larger', wavOf(64_000, { block: 64_000 }), 2],
    ['WAV with a rate of bytes that is said to be larger', patched(wavOf(64_000), [31, 0x7f]), 2],
    ['mu-law that is said to have 16 bits', patched(wavOf(64_000), [20, 7]), 4],
    ['WAV of blocks that hold nothing but their heads', patched(load('wav/adpcm.wav'), [32, 7], [33, 0]), 6.1],
  ])('%s', (_, bytes, seconds) => {
    // Many packets are summed up: less a nanosecond for each of them.
    expect(measured(bytes)?.secondsMax ?? 0).toBeGreaterThanOrEqual(seconds - 1e-6);
  });

  it.each<[string, Buffer, number]>([
    ['M4A of one sample', m4aOfOneSample(), 6],
    ['M4A of two blocks in each sample', m4aOfPairs(), 6],
    ['MP3, twice, of two rates', Buffer.concat([load('cbr.mp3'), mp3(400)]), 6 + 400 * MP3_FRAME_SECONDS],
    ['MP3 within the frames of MP3', streamInStream(100), 5_990 * INNER_SECONDS],
    ['WebM, twice', Buffer.concat([load('opus.webm'), load('opus.webm')]), 20],
  ])('%s is charged in full where the provider does not report a duration', (_, bytes, seconds) => {
    expect(measured(bytes)?.seconds ?? 0).toBeGreaterThanOrEqual(seconds - 1e-6);
  });

  it('follows its bytes where its coding is unknown', () => {
    expect(measured(patched(wavOf(64_000), [20, 0x61], [21, 0x01]))).toMatchObject({ isStated: true });
    expect(measured(Buffer.concat([id3(50), Buffer.from('neither frames nor anything'.repeat(50))]))).toBeUndefined();
  });
});

describe('the channels of a file', () => {
  it.each<[string, Buffer, number]>([
    ['WAV', wavOf(64_000, { channels: 8 }), 8],
    ['FLAC', flacWith(6), 6],
    ['Ogg with Opus', patched(load('opus.ogg'), [28 + 9, 6]), 6],
    ['Ogg with Vorbis', load('vorbis.ogg'), 1],
    ['WebM', load('recorder/recorder.webm'), 2],
    ['M4A', load('recorder/recorder.m4a'), 2],
    ['MP3', load('cbr.mp3'), 1],
  ])('count for %s', (_, bytes, channels) => {
    expect(measured(bytes)?.channels).toBe(channels);
  });
});

function flacWith(channels: number): Buffer {
  const file = flacOf(480_000);
  file[20] = file[20]! | ((channels - 1) << 1);
  return file;
}
