// Cuts a stream of samples into parts, each in a file on the disk: what is in memory is one piece of the stream. Where it is cut is
// decided in plan.ts.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import type { AudioFile } from '../file-source.ts';
import { PauseFinder } from './pauses.ts';
import { type CutRules, type Part, partAt, reachOf, startAfter } from './plan.ts';

/** Where the samples of a part wait for a model: written once, read any number of times until it is closed. */
export interface PartFile {
  write(bytes: Uint8Array): Promise<void>;
  readAt(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The audio of a part. */
export interface PartAudio {
  /** From 0 on. */
  index: number;
  file: AudioFile;
  /** Gives up its file. */
  close(): Promise<void>;
}

/** A part with its audio, in samples. */
export interface CutPart extends Part, PartAudio {}

export interface CutOptions {
  sampleRate: number;
  rules: CutRules;
  /** Length of the file, as far as it is known. */
  samples: number | undefined;
  /** Rejects with an ApiError where the disk has no room. */
  openFile(): Promise<PartFile>;
}

const PIECE_BYTES = 64 * 1024;
/** Providers refuse shorter audio; what is added is silence. */
const SECONDS_MIN = 1;

/**
 * The parts, as soon as each is cut; the caller closes it. The next is not read before it is requested.
 *
 * @param audio linear16 in chunks of whole samples, each valid until the next is requested
 */
export async function* cutParts(audio: AsyncIterable<Uint8Array>, options: CutOptions): AsyncGenerator<CutPart> {
  const cutter = new Cutter(options);
  try {
    await cutter.open();
    for await (const chunk of audio) {
      for (let rest = chunk; rest.length > 0; ) {
        // With samples left, so that no part is empty.
        if (cutter.isFull) yield await cutter.cut();
        rest = rest.subarray(await cutter.take(rest));
      }
    }
    const last = await cutter.last();
    if (last !== undefined) yield last;
  } finally {
    await cutter.close();
  }
}

class Cutter {
  readonly #options: CutOptions;
  readonly #finder: PauseFinder;
  /** Of the part that is being written. */
  #file: PartFile | undefined;
  #start = 0;
  #reach: number;
  /** Samples taken. */
  #position = 0;
  #parts = 0;

  constructor(options: CutOptions) {
    this.#options = options;
    const { sampleRate, rules, samples } = options;
    this.#finder = new PauseFinder(sampleRate, rules.pause);
    this.#reach = reachOf(0, samples, rules);
  }

  async open(): Promise<void> {
    this.#file = await this.#options.openFile();
  }

  /** The part has no room for more. */
  get isFull(): boolean {
    return this.#position === this.#reach;
  }

  /** Takes what there is room for. Returns how many bytes that were. */
  async take(bytes: Uint8Array): Promise<number> {
    const piece = bytes.subarray(0, (this.#reach - this.#position) * BYTES_PER_SAMPLE);
    const samples = piece.length / BYTES_PER_SAMPLE;
    await this.#file?.write(piece);
    this.#finder.take(new Int16Array(piece.buffer, piece.byteOffset, samples));
    this.#position += samples;
    return piece.length;
  }

  /** Ends the part that is full; the rest of what was taken is the beginning of the next. */
  async cut(): Promise<CutPart> {
    const { rules, samples, openFile } = this.#options;
    const part = partAt(this.#start, this.#reach, this.#finder.pauses, rules);
    const file = this.#file as PartFile;
    const next = await openFile();
    try {
      const from = (startAfter(part) - part.start) * BYTES_PER_SAMPLE;
      const to = (this.#position - part.start) * BYTES_PER_SAMPLE;
      for await (const bytes of piecesOf(file, from, to)) await next.write(bytes);
    } catch (error) {
      await next.close();
      throw error;
    }
    this.#file = next;
    this.#start = startAfter(part);
    this.#reach = reachOf(this.#start, samples, rules);
    this.#finder.forget(this.#start);
    return this.#part(part, file);
  }

  /** What is left; undefined where the file has no audio. */
  async last(): Promise<CutPart | undefined> {
    const file = this.#file;
    if (file === undefined || this.#position === 0) return undefined;
    const part = { start: this.#start, end: this.#position, overlap: 0 };
    const missing = this.#options.sampleRate * SECONDS_MIN - (part.end - part.start);
    if (missing > 0) await file.write(new Uint8Array(missing * BYTES_PER_SAMPLE));
    this.#file = undefined;
    return this.#part(part, file, Math.max(0, missing));
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #part(part: Part, file: PartFile, silence = 0): CutPart {
    const { sampleRate } = this.#options;
    const samples = part.end - part.start + silence;
    const bytes = samples * BYTES_PER_SAMPLE;
    const seconds = samples / sampleRate;
    const audio: AudioFile = {
      bytes,
      rawSampleRate: sampleRate,
      seconds,
      secondsMax: seconds,
      read: () => piecesOf(file, 0, bytes),
    };
    const index = this.#parts++;
    return { ...part, index, file: audio, close: () => file.close() };
  }
}

/** Some of a file, in bytes. */
async function* piecesOf(file: PartFile, from: number, to: number): AsyncGenerator<Uint8Array> {
  for (let at = from; at < to; ) {
    const piece = await file.readAt(at, Math.min(PIECE_BYTES, to - at));
    if (piece.length === 0) throw new Error('A part of a file is shorter than it was written.');
    at += piece.length;
    yield piece;
  }
}
