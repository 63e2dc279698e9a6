// The samples of a file for a model that hears files live, converted to the model's rate: WAV and headerless PCM are read here, other
// containers are decoded by ../decoding.
import type { FileFormat } from '../api/audio-formats.ts';
import { SampleFileReader, UnreadableSamples } from '../audio/containers/sample-file.ts';
import { WavReader } from '../audio/containers/wav.ts';
import { PcmConverter } from '../audio/resampler.ts';
import { LegFailed } from '../live/upstream/leg-failures.ts';
import { audioTooLong, audioUnusable } from './failures.ts';
import type { FileSource } from './file-source.ts';

/** One channel of a file, piece by piece. */
export interface FileSamples {
  /** Known from the first piece on. */
  readonly sampleRate: number;
  /** Some of the sound that the file once had is missing. Known at the end. */
  readonly isDamaged: boolean;
  /** The next samples, valid until those after them are requested; undefined at the end. Rejects when the file cannot be read. */
  next(): Promise<Int16Array | undefined>;
  /** Releases the file, whatever is in progress. */
  close(): void;
}

/** Mono linear16 out of a file's chunks, at any rate. */
export class FileDecoder {
  readonly #pieces: FileSamples;
  #first: Int16Array | undefined;
  #samples = 0;

  private constructor(pieces: FileSamples, first: Int16Array | undefined) {
    this.#pieces = pieces;
    this.#first = first;
  }

  /**
   * Reads as much as tells the sample rate.
   *
   * @param decode opens other containers than WAV
   * @throws LegFailed when the file is one that only other models take; the ApiError `unsupported_audio` when nobody can read it
   */
  static async open(file: FileSource, decode: (file: FileSource) => FileSamples): Promise<FileDecoder> {
    const pieces = samplesOf(file, decode);
    try {
      return new FileDecoder(pieces, await pieces.next());
    } catch (error) {
      pieces.close();
      throw error;
    }
  }

  get sampleRate(): number {
    return this.#pieces.sampleRate;
  }

  /** Of the audio given so far. */
  get seconds(): number {
    return this.#samples / this.sampleRate;
  }

  get isDamaged(): boolean {
    return this.#pieces.isDamaged;
  }

  /** All of it at a rate. Throws LegFailed where it is longer than the model takes. */
  async *audio(sampleRate: number, secondsMax: number | null): AsyncGenerator<Uint8Array> {
    const converter = new PcmConverter(this.sampleRate, sampleRate);
    try {
      for (let samples = this.#first; samples !== undefined; samples = await this.#pieces.next()) {
        this.#first = undefined;
        this.#samples += samples.length;
        if (secondsMax !== null && this.seconds > secondsMax) throw new LegFailed(audioTooLong(secondsMax));
        yield bytesOf(converter.push(samples));
      }
      yield bytesOf(converter.end());
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#pieces.close();
  }
}

function samplesOf(file: FileSource, decode: (file: FileSource) => FileSamples): FileSamples {
  const { kind } = file;
  if (kind.kind === 'raw') return new ReadSamples(file.read(), new RawReader(kind.sampleRate), 'PCM');
  if (kind.format === 'wav') return new ReadSamples(file.readUntagged(), new WavReader(), kind.title);
  if (!SAMPLE_FILES.includes(kind.format)) return decode(file);
  return new ReadSamples(file.readUntagged(), new SampleFileReader(kind.title), kind.title);
}

/** Those whose samples are not compressed, other than WAV. */
const SAMPLE_FILES: readonly FileFormat[] = ['aiff', 'au', 'caf', 'w64', 'rifx'];

/** What gives samples as soon as bytes are there. */
interface SampleReader {
  /** Undefined until the samples begin. */
  readonly format: { sampleRate: number } | undefined;
  /** Samples are missing at the end. */
  readonly isDamaged?: boolean;
  push(bytes: Uint8Array): Int16Array;
  end(): void;
}

class ReadSamples implements FileSamples {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #reader: SampleReader;
  readonly #title: string;

  constructor(chunks: AsyncIterator<Uint8Array>, reader: SampleReader, title: string) {
    this.#chunks = chunks;
    this.#reader = reader;
    this.#title = title;
  }

  get isDamaged(): boolean {
    return this.#reader.isDamaged ?? false;
  }

  get sampleRate(): number {
    return this.#reader.format?.sampleRate ?? 0;
  }

  async next(): Promise<Int16Array | undefined> {
    for (;;) {
      const next = await this.#chunks.next();
      const samples = this.#readable(() => (next.done === true ? this.#reader.end() : this.#reader.push(next.value)));
      if (next.done === true) return undefined;
      if (this.#reader.format !== undefined) return samples ?? undefined;
    }
  }

  #readable<Read>(read: () => Read): Read {
    try {
      return read();
    } catch (error) {
      if (error instanceof UnreadableSamples) throw new LegFailed(audioUnusable(this.#title, error.message));
      throw error;
    }
  }

  close(): void {
    // Not waited for: it may be in the middle of a read.
    this.#chunks.return?.().catch(() => {});
  }
}

/** Headerless little-endian linear16 in chunks of any length. */
class RawReader implements SampleReader {
  readonly format: { sampleRate: number };
  #odd: number | undefined;

  constructor(sampleRate: number) {
    this.format = { sampleRate };
  }

  push(bytes: Uint8Array): Int16Array {
    const carried = this.#odd === undefined ? 0 : 1;
    const samples = new Int16Array((bytes.length + carried) >> 1);
    if (samples.length === 0) {
      this.#odd ??= bytes[0];
      return samples;
    }
    const out = new Uint8Array(samples.buffer);
    if (this.#odd !== undefined) out[0] = this.#odd;
    const taken = out.length - carried;
    out.set(bytes.subarray(0, taken), carried);
    this.#odd = bytes[taken];
    return samples;
  }

  end(): void {}
}

const bytesOf = (samples: Int16Array): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
