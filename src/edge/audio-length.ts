// How long a kept file is, by what its container says: read a little at a time, within bounds of time and memory, because the
// file is the client's. What the length is good for is decided by whoever asks.
import type { Clock } from '../../machines/clock.ts';

export interface MeasuredFile {
  /** Bytes. */
  size: number;
  /** Some of it from a position on, or less at its end. */
  readAt(position: number, length: number): Promise<Uint8Array>;
}

export interface MeasureLimits {
  /** Time for one file. */
  timeMs: number;
  /** Most that is read at a time: a header that asks for more is no header of sound. */
  pieceBytesMax: number;
}

const LIMITS: MeasureLimits = { timeMs: 3_000, pieceBytesMax: 4 * 1024 * 1024 };
/** Files that wait for their turn, since reading headers is work for the processor; one more is not measured. */
const WAITING_MAX = 64;
/** Work at a stretch, after which others have their turn. */
const STRETCH_MS = 5;
/** Read from the file at once, so that small reads cost no call each. */
const BLOCK_BYTES = 64 * 1024;

/** Measures one file after the other. */
export class LengthMeter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #limits: MeasureLimits;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(clock: Pick<Clock, 'now'>, limits: MeasureLimits = LIMITS) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Files that are measured, or wait for it. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Seconds of audio; undefined where the file does not say, cannot be read, or takes too long. Never rejects. */
  async secondsOf(file: MeasuredFile): Promise<number | undefined> {
    if (this.#waiting > WAITING_MAX) return undefined;
    this.#waiting++;
    const turn = this.#last.then(() => this.#measure(file));
    this.#last = turn;
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }

  async #measure(file: MeasuredFile): Promise<number | undefined> {
    try {
      // Most requests need no parser.
      const { parseBlob } = await import('music-metadata');
      const blob = new BoundedReader(file, this.#clock, this.#limits).asBlob();
      const { duration } = (await parseBlob(blob, { duration: true, skipCovers: true })).format;
      return duration !== undefined && Number.isFinite(duration) && duration > 0 ? duration : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The file as the parser reads it: any part of it, on demand. Fails when a bound is passed. */
class BoundedReader {
  readonly #file: MeasuredFile;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #limits: MeasureLimits;
  readonly #endMs: number;
  #turnMs: number;
  #block: { at: number; bytes: Uint8Array } = { at: 0, bytes: new Uint8Array(0) };

  constructor(file: MeasuredFile, clock: Pick<Clock, 'now'>, limits: MeasureLimits) {
    this.#file = file;
    this.#clock = clock;
    this.#limits = limits;
    this.#turnMs = clock.now();
    this.#endMs = this.#turnMs + limits.timeMs;
  }

  /** The parser asks a blob for its size and for slices, and each slice for its bytes. */
  asBlob(): Blob {
    const { size } = this.#file;
    const slice = (from = 0, to = size) => ({ arrayBuffer: () => this.#read(from, Math.max(0, to - from)) });
    return { size, type: '', slice } as unknown as Blob;
  }

  async #read(at: number, length: number): Promise<ArrayBuffer> {
    if (length > this.#limits.pieceBytesMax) throw new RangeError('A piece is larger than any header.');
    await this.#giveWay();
    const known = this.#block;
    if (at < known.at || at + length > known.at + known.bytes.length) {
      this.#block = { at, bytes: await this.#file.readAt(at, Math.max(length, BLOCK_BYTES)) };
    }
    const { at: start, bytes } = this.#block;
    return new Uint8Array(bytes.subarray(at - start, at - start + length)).buffer;
  }

  /** A parser that finds everything in memory would let nobody else run. */
  async #giveWay(): Promise<void> {
    const nowMs = this.#clock.now();
    if (nowMs > this.#endMs) throw new RangeError('The file takes too long to be measured.');
    if (nowMs - this.#turnMs < STRETCH_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnMs = this.#clock.now();
  }
}
