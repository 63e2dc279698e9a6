// Files of uncompressed samples other than WAV: where the samples begin, how they are written, and a reader of them. Apple's "Audio
// Interchange File Format AIFF-C" and "Core Audio Format Specification 1.0", Sun's AU as NeXT documents it, Sony's "Wave64", and RIFX,
// which is WAV with the most significant byte first.

import { alawSample, mulawSample, toSample } from '../pcm.ts';
import { type Scan, textAt, viewOf } from '../scan.ts';

/** The file cannot be read; the message follows "cannot be decoded: ". */
export class UnreadableSamples extends Error {
  override readonly name = 'UnreadableSamples';
}

const HEADER_BYTES_MAX = 1024 * 1024;
const CHANNELS_MAX = 64;
const SAMPLE_RATE = { min: 1_000, max: 384_000 };
const NO_SAMPLES = new Int16Array(0);

type Read = (view: DataView, at: number) => number;

/**
 * Reads a stream of chunks: header, then samples as mono 16-bit at the file's own rate. Any cut of the stream gives the same samples.
 */
export class SampleFileReader {
  readonly #scan: Scan<SampleFile | undefined>;
  #wanted: { at: number; length: number } | undefined;
  /** The beginning while the header is read, then the frame that began in the previous push. */
  #held = Buffer.alloc(0);
  #format: SampleFormat | undefined;
  #read: Read = () => 0;
  /** Infinity where the file does not say. */
  #samplesLeft = 0;

  /** @param kind as `sniffContainer` names it */
  constructor(kind: string) {
    this.#scan = sampleFile(kind, 0, Number.POSITIVE_INFINITY);
    this.#wanted = this.#scan.next().value as { at: number; length: number };
  }

  /** Undefined until the samples begin. */
  get format(): SampleFormat | undefined {
    return this.#format;
  }

  /** The header says that there are more samples, or none are here. Known at the end. */
  get isDamaged(): boolean {
    return this.#format !== undefined && Number.isFinite(this.#samplesLeft) && this.#samplesLeft > 0;
  }

  /** Throws UnreadableSamples. */
  push(bytes: Uint8Array): Int16Array {
    const held = Buffer.concat([this.#held, bytes]);
    if (this.#format !== undefined) return this.#samples(held);
    this.#held = held;
    const samplesAt = this.#header(false);
    return samplesAt === undefined ? NO_SAMPLES : this.#samples(this.#held.subarray(samplesAt));
  }

  /** Throws UnreadableSamples where the samples never began. */
  end(): void {
    if (this.#format === undefined && this.#header(true) === undefined)
      throw new UnreadableSamples('it ends before its samples begin');
  }

  /** Where the samples begin, once that is known. */
  #header(isWhole: boolean): number | undefined {
    while (this.#wanted !== undefined) {
      const { at, length } = this.#wanted;
      if (at + length > HEADER_BYTES_MAX) throw new UnreadableSamples('its samples do not begin in its first megabyte');
      if (at + length > this.#held.length && !isWhole) return undefined;
      const step = this.#scan.next(this.#held.subarray(at, at + length));
      if (step.done === true) return this.#begin(step.value);
      this.#wanted = step.value;
    }
    return undefined;
  }

  #begin(file: SampleFile | undefined): number {
    this.#wanted = undefined;
    const { format, samplesAt = 0, sampleBytes = Number.POSITIVE_INFINITY } = file ?? {};
    const read = format && readerOf(format);
    if (format === undefined || read === undefined)
      throw new UnreadableSamples('its samples are compressed, or their coding is unknown');
    const { channels, sampleRate } = format;
    if (channels < 1 || channels > CHANNELS_MAX)
      throw new UnreadableSamples(`it has ${channels} channels, and 1 to ${CHANNELS_MAX} are read`);
    if (!(sampleRate >= SAMPLE_RATE.min && sampleRate <= SAMPLE_RATE.max))
      throw new UnreadableSamples(
        `its sample rate is ${sampleRate}, and ${SAMPLE_RATE.min} to ${SAMPLE_RATE.max} are read`,
      );
    this.#format = format;
    this.#read = read;
    this.#samplesLeft = sampleBytes;
    return samplesAt;
  }

  #samples(all: Buffer): Int16Array {
    const { bytes, channels } = this.#format!;
    const frameBytes = bytes * channels;
    const data = all.subarray(0, Math.min(all.length, this.#samplesLeft));
    const frames = Math.floor(data.length / frameBytes);
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    const samples = new Int16Array(frames);
    for (let frame = 0, at = 0; frame < frames; frame++) {
      let sum = 0;
      for (let channel = 0; channel < channels; channel++, at += bytes) sum += this.#read(view, at);
      samples[frame] = toSample(sum / channels);
    }
    this.#samplesLeft -= frames * frameBytes;
    this.#held = Buffer.from(data.subarray(frames * frameBytes));
    return samples;
  }
}

/** In units of a 16-bit sample. */
function readerOf({ coding, bytes, isBigEndian }: SampleFormat): Read | undefined {
  const isLittle = !isBigEndian;
  if (coding === 'mulaw') return (view, at) => mulawSample(view.getUint8(at));
  if (coding === 'alaw') return (view, at) => alawSample(view.getUint8(at));
  if (coding === 'float' && bytes === 4) return (view, at) => view.getFloat32(at, isLittle) * 32_768;
  if (coding === 'float' && bytes === 8) return (view, at) => view.getFloat64(at, isLittle) * 32_768;
  if (coding === 'unsigned' && bytes === 1) return (view, at) => (view.getUint8(at) - 128) * 256;
  if (coding !== 'signed') return undefined;
  if (bytes === 1) return (view, at) => view.getInt8(at) * 256;
  if (bytes === 2) return (view, at) => view.getInt16(at, isLittle);
  if (bytes === 3) {
    // The upper two bytes say enough.
    const upper = isBigEndian ? 0 : 1;
    return (view, at) => view.getInt16(at + upper, isLittle);
  }
  return bytes === 4 ? (view, at) => view.getInt32(at, isLittle) / 65_536 : undefined;
}

type SampleCoding = 'signed' | 'unsigned' | 'float' | 'mulaw' | 'alaw';

interface SampleFormat {
  coding: SampleCoding;
  /** Of one sample of one channel. */
  bytes: number;
  channels: number;
  sampleRate: number;
  isBigEndian: boolean;
}

export interface SampleFile {
  /** Undefined where the samples are compressed, or in a way that is unknown. */
  format: SampleFormat | undefined;
  samplesAt: number;
  /** As the header says; undefined where its writer did not know. */
  sampleBytes: number | undefined;
  /** The body of a `fmt ` chunk, where it has one, and its byte order. */
  wave?: { body: Uint8Array; isBigEndian: boolean };
  /** CAF alone: what describes compressed packets. */
  caf?: { description: Uint8Array; cookie: Uint8Array; packets: { at: number; bytes: number } | undefined };
}

/** Chunks in front of the samples, and after them. */
const CHUNKS_MAX = 10_000;
const BODY_BYTES_MAX = 4_096;
const UNKNOWN_SIZES = [0xffff_ffff, 0x7fff_ffff];

const isUnknown = (size: number): boolean => UNKNOWN_SIZES.includes(size);

/** Undefined where the samples are not found. */
function* auFile(from: number): Scan<SampleFile | undefined> {
  const head: Uint8Array = yield { at: from, length: 24 };
  if (head.length < 24) return undefined;
  const view = viewOf(head);
  const said = view.getUint32(8);
  const kind = AU_CODINGS[view.getUint32(12)];
  const [sampleRate, channels] = [view.getUint32(16), view.getUint32(20)];
  return {
    format: kind && { coding: kind[0], bytes: kind[1], sampleRate, channels, isBigEndian: true },
    samplesAt: from + Math.max(24, view.getUint32(4)),
    sampleBytes: isUnknown(said) ? undefined : said,
  };
}

const AU_CODINGS: Readonly<Record<number, readonly [SampleCoding, number]>> = {
  1: ['mulaw', 1],
  2: ['signed', 1],
  3: ['signed', 2],
  4: ['signed', 3],
  5: ['signed', 4],
  6: ['float', 4],
  7: ['float', 8],
  27: ['alaw', 1],
};

function* aiffFile(from: number, size: number): Scan<SampleFile | undefined> {
  let format: SampleFormat | undefined;
  let samples: { at: number; bytes: number } | undefined;
  for (let at = from + 12, chunks = 0; at + 8 <= size && chunks < CHUNKS_MAX; chunks++) {
    const head: Uint8Array = yield { at, length: 16 };
    if (head.length < 8) break;
    const bytes = viewOf(head).getUint32(4);
    const name = textAt(head, 0, 4);
    if (name === 'COMM') format = aiffFormat(yield { at: at + 8, length: Math.min(bytes, BODY_BYTES_MAX) });
    if (name === 'SSND' && head.length >= 12) {
      const offset = viewOf(head).getUint32(8);
      samples = { at: at + 16 + offset, bytes: bytes - 8 - offset };
    }
    if (samples !== undefined && format !== undefined) break;
    at += 8 + bytes + (bytes % 2);
  }
  return samples === undefined
    ? undefined
    : {
        format,
        samplesAt: samples.at,
        sampleBytes: samples.bytes <= 0 || isUnknown(samples.bytes) ? undefined : samples.bytes,
      };
}

/** Of samples that are not plain integers, whose bytes are said elsewhere. */
const AIFF_CODINGS: Readonly<Record<string, readonly [SampleCoding, number]>> = {
  raw: ['unsigned', 1],
  in24: ['signed', 3],
  in32: ['signed', 4],
  fl32: ['float', 4],
  fl64: ['float', 8],
  ulaw: ['mulaw', 1],
  alaw: ['alaw', 1],
};

function aiffFormat(body: Uint8Array): SampleFormat | undefined {
  if (body.length < 18) return undefined;
  const view = viewOf(body);
  const channels = view.getUint16(0);
  const sampleRate = extended(view, 8);
  const compression = body.length < 22 ? 'NONE' : textAt(body, 18, 4);
  const said = ['NONE', 'twos', 'sowt'].includes(compression)
    ? (['signed', Math.ceil(view.getUint16(6) / 8)] as const)
    : AIFF_CODINGS[compression.trim().toLowerCase()];
  if (said === undefined) return undefined;
  return { coding: said[0], bytes: said[1], channels, sampleRate, isBigEndian: compression !== 'sowt' };
}

/** A floating-point number of 80 bits. */
function extended(view: DataView, at: number): number {
  const exponent = (view.getUint16(at) & 0x7fff) - 16_383 - 63;
  return Number(view.getBigUint64(at + 2)) * 2 ** exponent;
}

function* cafFile(from: number, size: number): Scan<SampleFile | undefined> {
  let [description, cookie] = [new Uint8Array(0), new Uint8Array(0)];
  let packets: { at: number; bytes: number } | undefined;
  let samples: { at: number; bytes: number | undefined } | undefined;
  for (let at = from + 8, chunks = 0; at + 12 <= size && chunks < CHUNKS_MAX; chunks++) {
    const head: Uint8Array = yield { at, length: 12 };
    if (head.length < 12) break;
    const name = textAt(head, 0, 4);
    const said = Number(viewOf(head).getBigInt64(4));
    const isOpen = said < 0;
    const body = { at: at + 12, length: Math.min(isOpen ? 0 : said, BODY_BYTES_MAX) };
    if (name === 'desc') description = (yield body).slice();
    else if (name === 'kuki') cookie = (yield body).slice();
    else if (name === 'pakt') packets = { at: body.at, bytes: said };
    // The number of edits stands in front of the samples.
    else if (name === 'data') samples = { at: body.at + 4, bytes: isOpen ? undefined : said - 4 };
    if (isOpen) break;
    const isPlain = samples !== undefined && cafFormat(description) !== undefined;
    if (isPlain) break;
    at += 12 + said;
  }
  if (samples === undefined) return undefined;
  return {
    format: cafFormat(description),
    samplesAt: samples.at,
    sampleBytes: samples.bytes,
    caf: { description, cookie, packets },
  };
}

const CAF_FLOAT = 1;
const CAF_LITTLE_ENDIAN = 2;

function cafFormat(description: Uint8Array): SampleFormat | undefined {
  if (description.length < 32) return undefined;
  const view = viewOf(description);
  const sampleRate = view.getFloat64(0);
  const name = textAt(description, 8, 4);
  const flags = view.getUint32(12);
  const channels = view.getUint32(24);
  const bytes = Math.ceil(view.getUint32(28) / 8);
  if (name === 'lpcm') {
    const coding = (flags & CAF_FLOAT) === 0 ? 'signed' : 'float';
    return { coding, bytes, channels, sampleRate, isBigEndian: (flags & CAF_LITTLE_ENDIAN) === 0 };
  }
  if (name !== 'ulaw' && name !== 'alaw') return undefined;
  return { coding: name === 'ulaw' ? 'mulaw' : 'alaw', bytes: 1, channels, sampleRate, isBigEndian: true };
}

/** RIFX, or Wave64, whose chunks are named by 16 bytes. */
function* waveFile(from: number, size: number, kind: 'RIFX' | 'Wave64'): Scan<SampleFile | undefined> {
  const [headBytes, step, first] = kind === 'RIFX' ? [8, 2, 12] : [24, 8, 40];
  const isBigEndian = kind === 'RIFX';
  let body = new Uint8Array(0);
  for (let at = from + first, chunks = 0; at + headBytes <= size && chunks < CHUNKS_MAX; chunks++) {
    const head: Uint8Array = yield { at, length: headBytes };
    if (head.length < headBytes) break;
    const name = textAt(head, 0, 4);
    // Wave64 counts the head too.
    const bytes = isBigEndian ? viewOf(head).getUint32(4) : Number(viewOf(head).getBigUint64(16, true)) - headBytes;
    if (bytes < 0) return undefined;
    if (name === 'fmt ') body = (yield { at: at + headBytes, length: Math.min(bytes, BODY_BYTES_MAX) }).slice();
    if (name === 'data') {
      const sampleBytes = bytes === 0 || isUnknown(bytes) || !Number.isSafeInteger(bytes) ? undefined : bytes;
      const wave = { body, isBigEndian };
      return { format: waveFormat(body, isBigEndian), samplesAt: at + headBytes, sampleBytes, wave };
    }
    at += Math.ceil((headBytes + bytes) / step) * step;
  }
  return undefined;
}

const EXTENSIBLE = 0xfffe;
const WAVE_CODINGS: Readonly<Record<number, SampleCoding>> = { 1: 'signed', 3: 'float', 6: 'alaw', 7: 'mulaw' };

function waveFormat(body: Uint8Array, isBigEndian: boolean): SampleFormat | undefined {
  if (body.length < 16) return undefined;
  const view = viewOf(body);
  const tag = view.getUint16(0, !isBigEndian);
  const coding = WAVE_CODINGS[tag === EXTENSIBLE && body.length >= 26 ? view.getUint16(24, !isBigEndian) : tag];
  if (coding === undefined) return undefined;
  const bytes = Math.ceil(view.getUint16(14, !isBigEndian) / 8);
  return {
    coding: coding === 'signed' && bytes === 1 ? 'unsigned' : coding,
    bytes,
    channels: view.getUint16(2, !isBigEndian),
    sampleRate: view.getUint32(4, !isBigEndian),
    isBigEndian,
  };
}

/** The file of one of these kinds, by its name as `sniffContainer` gives it. */
export function sampleFile(kind: string, from: number, size: number): Scan<SampleFile | undefined> {
  switch (kind) {
    case 'AIFF':
      return aiffFile(from, size);
    case 'AU':
      return auFile(from);
    case 'CAF':
      return cafFile(from, size);
    case 'Wave64':
      return waveFile(from, size, 'Wave64');
    default:
      return waveFile(from, size, 'RIFX');
  }
}
