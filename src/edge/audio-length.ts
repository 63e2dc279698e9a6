// How long a kept file is, by what its container says: read a little at a time, within bounds of time and memory, because the
// file is the client's. What the length is good for is decided by whoever asks.
import type { Clock } from '../../machines/clock.ts';
import { sniffContainer } from '../audio/container.ts';
import type { MeasuredAudio } from '../audio/length/measured.ts';
import type { LengthScan } from '../audio/length-scan.ts';
import { mp3Seconds } from '../audio/mp3-length.ts';
import { fragmentedMp4Seconds } from '../audio/mp4-length.ts';
import { webmSeconds } from '../audio/webm-length.ts';

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
/** Two frames of MP3 fit. */
const SNIFF_BYTES = 4096;
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

  /** How much audio there is; undefined where the file does not say, cannot be read, or takes too long. Never rejects. */
  async measure(file: MeasuredFile, _organisationId: string): Promise<MeasuredAudio | undefined> {
    if (this.#waiting > WAITING_MAX) return undefined;
    this.#waiting++;
    const turn = this.#last.then(() => this.#measure(file));
    this.#last = turn;
    try {
      const secondsMax = await turn;
      return secondsMax === undefined ? undefined : { secondsMax, channels: 1 };
    } finally {
      this.#waiting--;
    }
  }

  async #measure(file: MeasuredFile): Promise<number | undefined> {
    const reader = new BoundedReader(file, this.#clock, this.#limits);
    try {
      const seconds = await secondsIn(reader, file.size);
      return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
    } catch {
      return undefined;
    }
  }
}

/** What is known to go wrong with the parser is looked through here. */
async function secondsIn(reader: BoundedReader, size: number): Promise<number | undefined> {
  const container = sniffContainer(await reader.bytes(0, SNIFF_BYTES));
  // The parser takes the rate of the first frames for that of all, and the word of a header before that of the frames.
  if (container === 'MP3') return (await reader.scan(mp3Seconds(size))) ?? parsed(reader);
  // The parser finds few of the fragments.
  if (container === 'MP4') return (await reader.scan(fragmentedMp4Seconds(size))) ?? parsed(reader);
  // The parser looks no further than a length that the file tells.
  if (container === 'WebM or Matroska') {
    const said = (await parsed(reader).catch(() => undefined)) ?? 0;
    // What is in the file is longer than what it says of itself, if that was made to be cheap.
    return Math.max(said, (await reader.scan(webmSeconds(size)).catch(() => undefined)) ?? 0);
  }
  return parsed(reader);
}

async function parsed(reader: BoundedReader): Promise<number | undefined> {
  // Most requests need no parser.
  const { parseBlob } = await import('music-metadata');
  return (await parseBlob(reader.asBlob(), { duration: true, skipCovers: true })).format.duration;
}

/** The file as parsers read it: any part of it, on demand. Fails when a bound is passed. */
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
    const slice = (from = 0, to = size) => ({
      arrayBuffer: async () => new Uint8Array(await this.bytes(from, Math.max(0, to - from))).buffer,
    });
    return { size, type: '', slice } as unknown as Blob;
  }

  /** What a scan of the file finds. */
  async scan(scan: LengthScan): Promise<number | undefined> {
    let step = scan.next();
    while (step.done !== true) {
      const { at, length } = step.value;
      const isDue = this.#isTurnOver();
      step = scan.next((isDue ? undefined : this.#held(at, length)) ?? (await this.bytes(at, length)));
    }
    return step.value;
  }

  /** Not to be changed. Fewer at the end of the file. */
  async bytes(at: number, length: number): Promise<Uint8Array> {
    if (length > this.#limits.pieceBytesMax) throw new RangeError('A piece is larger than any header.');
    if (this.#isTurnOver()) await this.#giveWay();
    const held = this.#held(at, length);
    if (held !== undefined) return held;
    const bytes = await this.#file.readAt(at, Math.max(length, BLOCK_BYTES));
    this.#block = { at, bytes };
    return bytes.subarray(0, length);
  }

  #held(at: number, length: number): Uint8Array | undefined {
    const { at: start, bytes } = this.#block;
    const end = Math.min(at + length, this.#file.size);
    return at < start || end > start + bytes.length ? undefined : bytes.subarray(at - start, at - start + length);
  }

  #isTurnOver(): boolean {
    const nowMs = this.#clock.now();
    if (nowMs > this.#endMs) throw new RangeError('The file takes too long to be measured.');
    return nowMs - this.#turnMs >= STRETCH_MS;
  }

  /** A parser that finds everything in memory would let nobody else run. */
  async #giveWay(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#turnMs = this.#clock.now();
  }
}
