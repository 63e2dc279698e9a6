// Reads a WAV file from a stream of chunks: header, then samples as mono 16-bit at the file's own rate. Any cut of the stream
// gives the same samples. Rates are the resampler's, what becomes of the samples is the caller's.
// RIFF/WAVE: Microsoft's "Multiple Channel Audio Data and WAVE Files" and mmreg.h; RF64: EBU Tech 3306.

import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import { type ApiError, apiError } from '../../api/errors.ts';
import { alawSample, decode, mulawSample, type SampleMemory, toSample } from '../pcm.ts';
import { textAt, viewOf } from '../scan.ts';
import { sniffContainer } from './detection.ts';

interface WavFormat {
  coding: 'pcm' | 'float' | 'alaw' | 'mulaw';
  /** Of the file; they are mixed to one. */
  channels: number;
  sampleRate: number;
  /** Of one sample of one channel. */
  bitsPerSample: number;
}

/** What may come before the samples (pictures, tags); it is skipped, never kept. */
const HEADER_BYTES_MAX = 1024 * 1024;
const CHANNELS_MAX = 64;
const SAMPLE_RATE = { min: 1000, max: 384_000 };

const RIFF_BYTES = 12;
const CHUNK_BYTES = 8;
/** The longest `fmt ` chunk with a meaning: WAVE_FORMAT_EXTENSIBLE. */
const FMT_BYTES = { min: 16, max: 40 };
/** The chunk of RF64 that says what 32 bits cannot: lengths of the file and of the samples. */
const DS64_BYTES = 16;
const EXTENSIBLE = 0xfffe;
const CODINGS: Readonly<Record<number, WavFormat['coding']>> = { 1: 'pcm', 3: 'float', 6: 'alaw', 7: 'mulaw' };
const BITS: Readonly<Record<WavFormat['coding'], readonly number[]>> = {
  pcm: [8, 16, 24, 32],
  float: [32, 64],
  alaw: [8],
  mulaw: [8],
};
/** The last 14 bytes of every KSDATAFORMAT_SUBTYPE GUID; the first 2 are the format tag. */
const SUBTYPE_GUID = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
/** Writers that do not know the length yet leave one of these; the samples then go on to the end. */
const UNKNOWN_SIZES: readonly number[] = [0, 0xffff_ffff];

type ReadSample = (data: DataView, at: number) => number;

/** Sample of one channel, in units of a 16-bit sample. */
const READERS: Readonly<Record<string, ReadSample>> = {
  pcm8: (data, at) => (data.getUint8(at) - 128) * 256,
  pcm16: (data, at) => data.getInt16(at, true),
  pcm24: (data, at) => (data.getInt8(at + 2) * 65_536 + data.getUint16(at, true)) / 256,
  pcm32: (data, at) => data.getInt32(at, true) / 65_536,
  float32: (data, at) => data.getFloat32(at, true) * 32_768,
  float64: (data, at) => data.getFloat64(at, true) * 32_768,
  alaw8: (data, at) => alawSample(data.getUint8(at)),
  mulaw8: (data, at) => mulawSample(data.getUint8(at)),
};

const NO_SAMPLES = new Int16Array(0);

function sampleMemory(count: number): SampleMemory {
  const samples = new Int16Array(count);
  return { samples, bytes: new Uint8Array(samples.buffer) };
}

export class WavReader {
  readonly #isEndless: boolean;
  /** What comes next: pieces of the header, one chunk's head or body at a time, then samples, then what is of no interest. */
  #expected: 'riff' | 'chunk' | 'ds64' | 'fmt' | 'samples' | 'trailer' = 'riff';
  readonly #piece = new Uint8Array(FMT_BYTES.max);
  #pieceBytes = RIFF_BYTES;
  #pieceHeld = 0;
  /** Bytes of the present chunk to pass over: before the next piece, or once the present one is read. */
  #skip = 0;
  #skipAfterPiece = 0;
  /** The chunk before has an odd length: the next one may begin with its padding. */
  #isAfterOdd = false;
  #headerBytes = 0;
  #format: WavFormat | undefined;
  #readSample: ReadSample = () => 0;
  /** The samples are 16-bit mono already, as most files are: they are copied as they lie. */
  #plain = false;
  /** A sample frame that began in the previous push. */
  #frame = new Uint8Array(0);
  #frameHeld = 0;
  /** Bytes of samples, as RF64 says them. */
  #longBytes = 0;
  /** Bytes of samples still to come; Infinity when the file does not say. */
  #samplesLeft = 0;
  #output = sampleMemory(0);

  /** @param isEndless samples go on to the end, whatever the header says: its writer did not know */
  constructor({ isEndless = false } = {}) {
    this.#isEndless = isEndless;
  }

  /** Undefined until the samples begin. */
  get format(): WavFormat | undefined {
    return this.#expected === 'samples' || this.#expected === 'trailer' ? this.#format : undefined;
  }

  /**
   * The samples that this chunk of the file completes, mixed to mono. Valid until the next call.
   *
   * @throws ApiError `unsupported_audio` when this is not a WAV file, or one that cannot be read.
   */
  push(bytes: Uint8Array): Int16Array {
    let at = 0;
    while (at < bytes.length && this.#expected !== 'samples' && this.#expected !== 'trailer') {
      at += this.#header(bytes.subarray(at));
    }
    if (this.#expected !== 'samples' || this.#format === undefined) return NO_SAMPLES;
    const data = bytes.subarray(at, Math.min(bytes.length, at + this.#samplesLeft));
    this.#samplesLeft -= data.length;
    if (this.#samplesLeft === 0) this.#expected = 'trailer';
    return this.#samples(data, this.#format.channels);
  }

  /**
   * The file is complete. A broken last sample frame is dropped: nothing can be made of it.
   *
   * @throws ApiError `unsupported_audio` when the file ended before its samples.
   */
  end(): void {
    if (this.#expected === 'riff') throw notWav(this.#piece.subarray(0, this.#pieceHeld));
    if (this.format === undefined) throw unreadable('it ends before its samples begin. Send the whole file.');
  }

  /** Takes bytes of the header and says how many. */
  #header(bytes: Uint8Array): number {
    const skipping = this.#skip > 0;
    const taken = Math.min(bytes.length, skipping ? this.#skip : this.#pieceBytes - this.#pieceHeld);
    this.#headerBytes += taken;
    if (this.#headerBytes > HEADER_BYTES_MAX) {
      throw unreadable('1 MiB of it came without samples. Remove pictures and tags from its header.');
    }
    if (skipping) {
      this.#skip -= taken;
      return taken;
    }
    this.#piece.set(bytes.subarray(0, taken), this.#pieceHeld);
    this.#pieceHeld += taken;
    if (this.#pieceHeld === this.#pieceBytes) this.#pieceRead(this.#piece.subarray(0, this.#pieceHeld));
    return taken;
  }

  #pieceRead(piece: Uint8Array): void {
    if (this.#isPadded(piece)) return;
    if (this.#expected === 'riff' && !isWave(piece)) throw notWav(piece);
    if (this.#expected === 'ds64') this.#longBytes = Number(viewOf(piece).getBigUint64(8, true));
    if (this.#expected === 'fmt') this.#format = readFormat(piece);
    const size = this.#expected === 'chunk' ? viewOf(piece).getUint32(4, true) : undefined;
    this.#expected = 'chunk';
    this.#pieceBytes = CHUNK_BYTES;
    this.#pieceHeld = 0;
    this.#skip = this.#skipAfterPiece;
    this.#skipAfterPiece = 0;
    if (size !== undefined) this.#chunk(textAt(piece, 0, 4), size);
  }

  /** Whether a byte of padding was in front of the head of a chunk: then the rest of the head follows. */
  #isPadded(piece: Uint8Array): boolean {
    const isPadded = this.#expected === 'chunk' && this.#isAfterOdd && !isChunkName(piece);
    this.#isAfterOdd = false;
    if (!isPadded) return false;
    this.#piece.copyWithin(0, 1, CHUNK_BYTES);
    this.#pieceHeld = CHUNK_BYTES - 1;
    return true;
  }

  /** A chunk begins. Chunks are padded to an even length. */
  #chunk(name: string, size: number): void {
    if (name === 'data') {
      this.#beginSamples(size);
    } else if (name === 'fmt ') {
      if (size < FMT_BYTES.min)
        throw unreadable(`its fmt chunk has ${size} bytes instead of ${FMT_BYTES.min} or more.`);
      this.#expectBody('fmt', size, FMT_BYTES.max);
    } else if (name === 'ds64' && size >= DS64_BYTES) {
      this.#expectBody('ds64', size, DS64_BYTES);
    } else {
      this.#skip = size;
      this.#isAfterOdd = size % 2 === 1;
    }
  }

  /** The body of the present chunk as one piece, up to its last byte with a meaning. */
  #expectBody(body: 'fmt' | 'ds64', size: number, bytesMax: number): void {
    this.#expected = body;
    this.#pieceBytes = Math.min(size, bytesMax);
    this.#skipAfterPiece = size - this.#pieceBytes;
    this.#isAfterOdd = size % 2 === 1;
  }

  #beginSamples(size: number): void {
    if (this.#format === undefined) throw unreadable('its samples come before its fmt chunk. Write it anew.');
    const { coding, bitsPerSample, channels } = this.#format;
    this.#readSample = READERS[coding + bitsPerSample]!;
    this.#plain = coding === 'pcm' && bitsPerSample === 16 && channels === 1;
    this.#frame = new Uint8Array((channels * bitsPerSample) / 8);
    const said = UNKNOWN_SIZES.includes(size) ? this.#longBytes || Number.POSITIVE_INFINITY : size;
    this.#samplesLeft = this.#isEndless ? Number.POSITIVE_INFINITY : said;
    this.#expected = 'samples';
  }

  #samples(data: Uint8Array, channels: number): Int16Array {
    const frameBytes = this.#frame.length;
    const total = Math.floor((this.#frameHeld + data.length) / frameBytes);
    if (this.#output.samples.length < total) this.#output = sampleMemory(total);
    const { samples } = this.#output;
    let at = 0;
    let made = 0;
    if (this.#frameHeld > 0) {
      at = Math.min(data.length, frameBytes - this.#frameHeld);
      this.#frame.set(data.subarray(0, at), this.#frameHeld);
      this.#frameHeld += at;
      if (this.#frameHeld < frameBytes) return NO_SAMPLES;
      samples[made++] = this.#mix(viewOf(this.#frame), 0, channels);
    }
    if (this.#plain) {
      decode('linear16', data, at, total - made, this.#output, made);
    } else {
      const source = viewOf(data);
      for (let i = made; i < total; i++) samples[i] = this.#mix(source, at + (i - made) * frameBytes, channels);
    }
    const rest = data.subarray(at + (total - made) * frameBytes);
    this.#frame.set(rest);
    this.#frameHeld = rest.length;
    return samples.subarray(0, total);
  }

  /** The mean of the channels. */
  #mix(data: DataView, at: number, channels: number): number {
    const bytes = this.#frame.length / channels;
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += this.#readSample(data, at + channel * bytes);
    return toSample(sum / channels);
  }
}

const isWave = (riff: Uint8Array): boolean =>
  ['RIFF', 'RF64'].includes(textAt(riff, 0, 4)) && textAt(riff, 8, 4) === 'WAVE';

/** Reads the body of a `fmt ` chunk: 16 to 40 bytes. */
function readFormat(body: Uint8Array): WavFormat {
  const fields = viewOf(body);
  const channels = fields.getUint16(2, true);
  const sampleRate = fields.getUint32(4, true);
  const blockAlign = fields.getUint16(12, true);
  const tag = formatTag(body);
  const coding = CODINGS[tag];
  const bits = fields.getUint16(14, true);
  // Twelve bits are stored in two bytes, twenty in three, at the upper end.
  const bitsPerSample = Math.ceil(bits / 8) * 8;
  if (coding === undefined || !BITS[coding].includes(bitsPerSample)) {
    throw unreadable(
      `its coding (format ${tag}, ${bits} bits) is not supported. Send 8, 16, 24 or 32-bit PCM, 32 or 64-bit float, μ-law or A-law.`,
    );
  }
  if (channels < 1 || channels > CHANNELS_MAX)
    throw unreadable(`it has ${channels} channels; 1 to ${CHANNELS_MAX} are read.`);
  if (sampleRate < SAMPLE_RATE.min || sampleRate > SAMPLE_RATE.max) {
    throw unreadable(`its sample rate is ${sampleRate}; ${SAMPLE_RATE.min} to ${SAMPLE_RATE.max} are read.`);
  }
  if (blockAlign !== (channels * bitsPerSample) / 8) {
    throw unreadable(
      `its header says ${blockAlign} bytes for ${channels} samples of ${bitsPerSample} bits. Write it anew.`,
    );
  }
  return { coding, channels, sampleRate, bitsPerSample };
}

/** The format tag; of WAVE_FORMAT_EXTENSIBLE the one inside its sub-format. */
function formatTag(body: Uint8Array): number {
  const tag = viewOf(body).getUint16(0, true);
  const isWaveSubtype = SUBTYPE_GUID.every((byte, i) => body[26 + i] === byte);
  return tag === EXTENSIBLE && isWaveSubtype ? viewOf(body).getUint16(24, true) : tag;
}

function notWav(beginning: Uint8Array): ApiError {
  const name = sniffContainer(beginning);
  const what =
    name === undefined || name === 'WAV' || name === 'WAV (64-bit)'
      ? 'The file is not a WAV file.'
      : `The file is ${name}, not WAV.`;
  return apiError('unsupported_audio', `${what} Convert it to WAV (RIFF/WAVE) and send it again.`, { param: 'file' });
}

function unreadable(why: string): ApiError {
  return apiError('unsupported_audio', `The WAV file cannot be read: ${why}`, { param: 'file' });
}

export const WAV_HEADER_BYTES = 44;
/** What a header says when the length is not known, or larger than it can say. */
const UNKNOWN_SIZE = 0xffff_ffff;

/** What the header says of each encoding: the tag of the format, and the bytes of a sample. */
const WRITTEN = {
  linear16: { tag: 1, bytes: BYTES_PER_SAMPLE },
  alaw: { tag: 6, bytes: 1 },
  mulaw: { tag: 7, bytes: 1 },
} as const;

/** The header of samples without one, whether their length is known or not. */
export function wavHeader(
  sampleRate: number,
  sampleBytes: number | undefined,
  coding: keyof typeof WRITTEN = 'linear16',
  channels = 1,
): Uint8Array {
  const { tag, bytes } = WRITTEN[coding];
  const frameBytes = bytes * channels;
  const size = (length: number) => Math.min(length, UNKNOWN_SIZE);
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(size((sampleBytes ?? UNKNOWN_SIZE) + WAV_HEADER_BYTES - 8), 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(8 * bytes, 34);
  header.write('data', 36);
  header.writeUInt32LE(size(sampleBytes ?? UNKNOWN_SIZE), 40);
  return header;
}

/** Writers that do not know the length of their samples yet leave one near two gigabytes or more. */
export const UNKNOWN_BYTES_MIN = 0x7fff_0000;

/** Names of chunks that follow others. */
const NAMES = [
  'data',
  'fmt ',
  'LIST',
  'fact',
  'cue ',
  'bext',
  'id3 ',
  'ID3 ',
  'junk',
  'JUNK',
  'smpl',
  'inst',
  'PEAK',
  'iXML',
  'list',
  'FLLR',
  'PAD ',
  'DISP',
  'cart',
  'acid',
  'axml',
  'chna',
  'plst',
  'umid',
  'slnt',
  '_PMX',
  'afsp',
  'LGWV',
];

const isChunkName = (bytes: Uint8Array): boolean => NAMES.includes(textAt(bytes, 0, 4));

/**
 * Bytes between the end of a chunk and the next one: chunks have an even length, except in files of writers that leave the padding out.
 *
 * @param next what follows the body
 */
export const paddingAfter = (size: number, next: Uint8Array): number => (size % 2 === 0 || isChunkName(next) ? 0 : 1);
