// One leg's way through the tape: which samples the next frame holds, at the leg's rate, and whether it may leave now.
// A lane begins at its origin and only goes forward, so that the leg's clock never shifts; failing over is a new lane.
import { BYTES_PER_SAMPLE } from '../api/linear16.ts';
import { type FrameContract, type FrameSizes, frameSamples, frameSizes } from './coalescer.ts';
import { Pacer } from './pacer.ts';
import { Resampler } from './resampler.ts';
import type { Tape } from './tape/tape.ts';

export interface LaneContract {
  frame: FrameContract;
  /** Hertz of the frames. */
  sampleRate: number;
  /** Audio seconds per second that the leg accepts; Infinity for no limit. */
  speedMax: number;
  /** Audio that may be sent at once, ahead of `speedMax`, in milliseconds. One frame may always be. */
  burstMs: number;
}

export interface AudioFrame {
  /** Linear16, little-endian, at the lane's rate. Used again: valid until the next frame is asked for. */
  bytes: Uint8Array;
  /** Position of the first sample in the session. */
  start: number;
  /** Samples of the session that the frame covers: what was padded at the end covers none. */
  samples: number;
}

export class Lane {
  readonly #tape: Tape;
  readonly #tail: FrameContract['tail'];
  readonly #sizes: FrameSizes;
  readonly #rate: number;
  readonly #sessionRate: number;
  readonly #origin: number;
  readonly #pacer: Pacer;
  readonly #resampler: Resampler | undefined;
  /** Where the resampler's input is on the tape. */
  #converted: number;
  /** Samples given out, at the lane's rate, without padding. */
  #given = 0;
  #frame = new Int16Array(0);
  #bytes: Uint8Array = new Uint8Array(0);

  /** Begins where the tape's lane position is. */
  constructor(tape: Tape, contract: LaneContract, sessionRate: number, nowMs: number) {
    this.#tape = tape;
    this.#tail = contract.frame.tail;
    this.#rate = contract.sampleRate;
    this.#sessionRate = sessionRate;
    this.#sizes = frameSizes(contract.frame, contract.sampleRate);
    this.#origin = tape.sent;
    this.#converted = tape.sent;
    this.#pacer = new Pacer(contract.speedMax, Math.max(contract.burstMs, this.#ms(this.#sizes.largest)), nowMs);
    this.#resampler = contract.sampleRate === sessionRate ? undefined : new Resampler(sessionRate, contract.sampleRate);
  }

  /** Samples, at the lane's rate, that the tape's audio up to `position` gives and that were not given out yet. */
  available(position: number, ended: boolean): number {
    const inputs = position - this.#origin;
    return (this.#resampler?.outputsFor(inputs, ended) ?? inputs) - this.#given;
  }

  /**
   * Size of the next frame, at the lane's rate and without padding; 0 to wait for more audio.
   *
   * @param end where the audio ends that may be given out
   * @param flushTo what was received before this position does not wait for the contract's minimum
   */
  size(end: number, flushTo: number, ended: boolean): number {
    // A limit may lie before the lane's origin.
    const available = Math.max(0, this.available(end, ended));
    const size = frameSamples(this.#sizes, available);
    return size > 0 || !(ended || this.flushing(Math.min(flushTo, end))) ? size : available;
  }

  /** Whether audio before `flushTo` can still leave because of the flush alone. */
  flushing(flushTo: number): boolean {
    return this.#tail === 'short' && this.available(flushTo, false) > 0;
  }

  /** Milliseconds until a frame of `size` may leave. */
  waitMs(size: number, nowMs: number): number {
    return this.#pacer.waitMs(this.#ms(this.#padded(size)), nowMs);
  }

  /** The next frame, of `size` samples. Throws when the tape's spool cannot be read. */
  take(size: number, ended: boolean, nowMs: number): AudioFrame {
    const padded = this.#padded(size);
    this.#reserve(padded);
    if (this.#resampler === undefined) this.#copy(size);
    else this.#convert(this.#resampler, size, ended);
    if (padded > size) this.#frame.fill(0, size, padded);
    this.#given += size;
    this.#pacer.take(this.#ms(padded), nowMs);
    const start = this.#tape.sent;
    const end = this.#position(this.#given);
    this.#tape.advance(end);
    return { bytes: this.#bytes, start, samples: end - start };
  }

  /** Where the session is when the lane has given out so many samples. */
  #position(given: number): number {
    if (this.#resampler === undefined) return this.#origin + given;
    // The last output of all may lie less than a sample beyond the end.
    return Math.min(this.#tape.received, this.#origin + Math.round((given * this.#sessionRate) / this.#rate));
  }

  #padded(size: number): number {
    return this.#tail === 'pad' ? Math.max(size, this.#sizes.min) : size;
  }

  #ms(samples: number): number {
    return (samples * 1000) / this.#rate;
  }

  /** Makes `#bytes` a view of exactly so many samples; steady frames make no new objects. */
  #reserve(samples: number): void {
    if (this.#frame.length === 0) this.#frame = new Int16Array(this.#sizes.largest);
    const bytes = samples * BYTES_PER_SAMPLE;
    if (this.#bytes.length !== bytes) this.#bytes = new Uint8Array(this.#frame.buffer, 0, bytes);
  }

  #copy(size: number): void {
    for (let made = 0; made < size; ) {
      const piece = this.#tape.view(this.#tape.sent + made, size - made);
      this.#frame.set(piece, made);
      made += piece.length;
    }
  }

  #convert(resampler: Resampler, size: number, ended: boolean): void {
    for (let made = resampler.read(this.#frame, 0, size); made < size; ) {
      const left = this.#tape.received - this.#converted;
      if (left > 0) this.#converted += resampler.write(this.#tape.view(this.#converted, left));
      else if (ended) resampler.end();
      made += resampler.read(this.#frame, made, size - made);
    }
  }
}
