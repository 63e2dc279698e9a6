// The beginning of an M4A file with one track, in front of its samples: what a stretch of a longer file needs to be a file. ISO/IEC
// 14496-12, sections 4 and 8.

export interface M4aTrack {
  /** `stsd` of the track that the samples are from, without the head of the box. */
  description: Uint8Array;
  /** Of a second. */
  timescale: number;
  /** Of each sample. */
  sampleTicks: number;
  /** Bytes of each sample, in their order. */
  sizes: Uint32Array;
}

/** Bytes of the header beside four for each sample and the description. */
export const M4A_HEADER_BYTES = 640;
export const M4A_SAMPLE_BYTES = 4;

const BOX_HEAD_BYTES = 8;
/** No rotation and no scaling. */
const MATRIX = words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
const TRACK_ENABLED = 7;
const TRACK_ID = 1;
/** In the file itself. */
const SELF_CONTAINED = 1;
const FULL_SPEED = 0x10000;
const FULL_VOLUME = 0x0100_0000;
/** `und`, undetermined, in letters of five bits. */
const NO_LANGUAGE = 0x55c4_0000;

/** Everything in front of the samples. They follow without gaps; less than 4 GiB of them. */
export function m4aHeader(track: M4aTrack): Uint8Array {
  const sampleBytes = track.sizes.reduce((sum, bytes) => sum + bytes, 0);
  const type = box('ftyp', text('M4A '), words(0), text('M4A mp42isom'));
  // The place of the samples is a number of constant width.
  const moovBytes = movie(track, 0).length;
  const moov = movie(track, type.length + moovBytes + BOX_HEAD_BYTES);
  return Buffer.concat([type, moov, words(BOX_HEAD_BYTES + sampleBytes), text('mdat')]);
}

function movie({ description, timescale, sampleTicks, sizes }: M4aTrack, samplesAt: number): Uint8Array {
  const count = sizes.length;
  const ticks = count * sampleTicks;
  const table = box(
    'stbl',
    box('stsd', description),
    box('stts', words(0, 1, count, sampleTicks)),
    box('stsc', words(0, 1, 1, count, 1)),
    box('stsz', words(0, 0, count), numbers(sizes)),
    box('stco', words(0, 1, samplesAt)),
  );
  const media = box(
    'mdia',
    box('mdhd', words(0, 0, 0, timescale, ticks, NO_LANGUAGE)),
    box('hdlr', words(0, 0), text('soun'), words(0, 0, 0), text('\0')),
    box(
      'minf',
      box('smhd', words(0, 0)),
      box('dinf', box('dref', words(0, 1), box('url ', words(SELF_CONTAINED)))),
      table,
    ),
  );
  const header = words(TRACK_ENABLED, 0, 0, TRACK_ID, 0, ticks, 0, 0, 0, FULL_VOLUME);
  return box(
    'moov',
    box(
      'mvhd',
      words(0, 0, 0, timescale, ticks, FULL_SPEED, FULL_VOLUME, 0, 0),
      MATRIX,
      words(0, 0, 0, 0, 0, 0, TRACK_ID + 1),
    ),
    box('trak', box('tkhd', header, MATRIX, words(0, 0)), media),
  );
}

function box(type: string, ...contents: readonly Uint8Array[]): Uint8Array {
  const bytes = contents.reduce((sum, content) => sum + content.length, BOX_HEAD_BYTES);
  return Buffer.concat([words(bytes), text(type), ...contents]);
}

function words(...values: readonly number[]): Uint8Array {
  return numbers(values);
}

function numbers(values: Uint32Array | readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [place, value] of values.entries()) bytes.writeUInt32BE(value, 4 * place);
  return bytes;
}

const text = (letters: string): Uint8Array => Buffer.from(letters, 'latin1');
