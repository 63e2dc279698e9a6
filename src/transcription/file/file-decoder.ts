// The samples of a file for a model that hears files live: WAV and headerless PCM, converted to the model's rate. Other
// containers go to models that take files as they are.
import { refuse } from '../../api/errors.ts';
import { PcmConverter } from '../../audio/resampler.ts';
import { WavReader } from '../../audio/wav/wav.ts';
import { LegFailed } from '../../upstream/leg-failed.ts';
import { audioTooLong, formatUnsupported } from '../failures.ts';
import type { FileSource } from './file-source.ts';

/** Mono linear16 out of a file's chunks, at any rate. */
export class FileDecoder {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #head: Int16Array[];
  readonly #read: (bytes: Uint8Array) => Int16Array;
  readonly #finish: () => void;
  readonly sampleRate: number;
  #samples = 0;

  private constructor(
    chunks: AsyncIterator<Uint8Array>,
    head: Int16Array[],
    sampleRate: number,
    read: (bytes: Uint8Array) => Int16Array,
    finish: () => void,
  ) {
    this.#chunks = chunks;
    this.#head = head;
    this.sampleRate = sampleRate;
    this.#read = read;
    this.#finish = finish;
  }

  /**
   * Reads as much as the header takes.
   *
   * @throws LegFailed when the file is a container that only other models take; the Refusals `missing_file` and
   *   `unsupported_audio` when nobody can read it
   */
  static async open(file: FileSource): Promise<FileDecoder> {
    const { kind } = file;
    if (kind.kind === 'raw') {
      const pcm = new RawReader();
      return new FileDecoder(
        file.read(),
        [],
        kind.sampleRate,
        (bytes) => pcm.push(bytes),
        () => {},
      );
    }
    if (kind.extension !== 'wav') throw new LegFailed(formatUnsupported(kind.title));
    const chunks = file.read();
    const wav = new WavReader();
    const read = (bytes: Uint8Array) => wav.push(bytes);
    const finish = () => wav.end();
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) break;
      const samples = read(next.value);
      if (wav.format !== undefined)
        return new FileDecoder(chunks, [samples.slice()], wav.format.sampleRate, read, finish);
    }
    wav.end();
    throw refuse(
      'missing_file',
      'The `file` part has no audio. Send a WAV file, or headerless PCM as audio/l16;rate=16000.',
      { param: 'file' },
    );
  }

  /** Of the audio given so far. */
  get seconds(): number {
    return this.#samples / this.sampleRate;
  }

  /** All of it at a rate. Throws LegFailed where it is longer than the model takes. */
  async *audio(sampleRate: number, secondsMax: number | null): AsyncGenerator<Uint8Array> {
    const converter = new PcmConverter(this.sampleRate, sampleRate);
    for await (const samples of this.#decoded()) {
      this.#samples += samples.length;
      if (secondsMax !== null && this.seconds > secondsMax) throw new LegFailed(audioTooLong(secondsMax));
      yield bytesOf(converter.push(samples));
    }
    yield bytesOf(converter.end());
  }

  async *#decoded(): AsyncGenerator<Int16Array> {
    try {
      yield* this.#head;
      for (;;) {
        const next = await this.#chunks.next();
        if (next.done === true) break;
        yield this.#read(next.value);
      }
      this.#finish();
    } finally {
      await this.#chunks.return?.();
    }
  }
}

/** Headerless little-endian linear16 in chunks of any length. */
class RawReader {
  #odd: number | undefined;

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
}

const bytesOf = (samples: Int16Array): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
