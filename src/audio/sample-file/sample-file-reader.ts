// Reads a file of uncompressed samples other than WAV from a stream of chunks: header, then samples as mono 16-bit at the file's own
// rate. Any cut of the stream gives the same samples.
import type { Scan } from '../length/scan.ts';
import { alawSample, mulawSample, toSample } from '../pcm.ts';
import { type SampleFile, type SampleFormat, sampleFile } from './sample-file.ts';

/** The file cannot be read; the message follows "cannot be decoded: ". */
export class UnreadableSamples extends Error {}

const HEADER_BYTES_MAX = 1024 * 1024;
const CHANNELS_MAX = 64;
const SAMPLE_RATE = { min: 1_000, max: 384_000 };
const NO_SAMPLES = new Int16Array(0);

type Read = (view: DataView, at: number) => number;

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
