// One leg's way through the tape: which samples the next frame holds, at the leg's rate, and whether it may leave now.
// A lane begins at its origin and only goes forward; failing over is a new lane. One that is behind leaves out parts of pauses,
// and notes on the leg's timeline where.
import { BYTES_PER_SAMPLE } from '../api/audio-formats.ts';
import {
  type FrameContract,
  type FrameSizes,
  frameSamples,
  frameSizes,
  type Gathering,
  missingSamples,
  Pacer,
} from './frames.ts';
import type { LegTimeline } from './leg-timeline.ts';
import { Resampler } from './resampler.ts';
import type { Tape } from './tape/tape.ts';
import type { SpeechMeter } from './voice/energy.ts';

/** A lane whose newest audio has to wait longer than this for the pace is behind. */
const BEHIND_MS = 200;
/** A frame that ends within a pause holds a multiple of this, as recognisers work in steps of 10 or 20 ms. */
const STEP_MS = 20;

export interface LaneContract {
  frame: FrameContract;
  /** Hertz of the frames. */
  sampleRate: number;
  /** Audio seconds per second that the leg accepts; Infinity for no limit. */
  speedMax: number;
  /** Audio that may be sent at once, ahead of `speedMax`, in milliseconds. One frame may always be. */
  burstMs: number;
  /** A pause of this length ends a turn: the leg is told so where it is not sent that much. */
  turnPauseMs: number;
  /** Absent: frames leave as soon as the contract allows. */
  gathering?: Gathering | undefined;
}

export interface AudioFrame {
  /** Linear16, little-endian, at the lane's rate. Used again: valid until the next frame of any lane is requested. */
  bytes: Uint8Array;
  /** Position of the first sample in the session. */
  start: number;
  /** Samples of the session that the frame holds: what was padded at the end is none. */
  samples: number;
  /** The rest of the pause behind it is left out, and the turn is over: the leg is told. */
  endsTurn: boolean;
}

/** Of all lanes: what was used last is in the processor's caches, and a frame is copied by whatever sends it. */
let samples = new Int16Array(0);
/** A view of exactly the frame. */
let bytes = new Uint8Array(0);

function reserve(count: number): void {
  const length = count * BYTES_PER_SAMPLE;
  if (samples.length < count) samples = new Int16Array(2 * count);
  else if (bytes.length === length) return;
  bytes = new Uint8Array(samples.buffer, 0, length);
}

export class Lane {
  readonly #tape: Tape;
  readonly #tail: FrameContract['tail'];
  readonly #sizes: FrameSizes;
  readonly #rate: number;
  readonly #sessionRate: number;
  readonly #timeline: LegTimeline;
  readonly #pauses: Pauses;
  readonly #pacer: Pacer;
  readonly #resampler: Resampler | undefined;
  readonly #gathering: Gathering | undefined;
  /** Where the tape is read next. A resampler reads ahead of what was given out. */
  #read: number;
  /** Samples given out, at the lane's rate, without padding. */
  #given = 0;
  /** The newest audio had to wait for the pace, and the provider has not worked off since then what it was sent. */
  #isBehind = false;

  /** Begins where the tape's lane position is, which is the timeline's origin. */
  constructor(
    { tape, meter, timeline }: { tape: Tape; meter: SpeechMeter; timeline: LegTimeline },
    contract: LaneContract,
    sessionRate: number,
    nowMs: number,
  ) {
    this.#tape = tape;
    this.#timeline = timeline;
    this.#pauses = new Pauses(meter.audible, contract.turnPauseMs, sessionRate, tape.sent);
    this.#tail = contract.frame.tail;
    this.#rate = contract.sampleRate;
    this.#sessionRate = sessionRate;
    this.#sizes = frameSizes(contract.frame, contract.sampleRate);
    this.#read = tape.sent;
    this.#gathering = contract.gathering;
    this.#pacer = new Pacer(contract.speedMax, Math.max(contract.burstMs, this.#ms(this.#sizes.largest)), nowMs);
    this.#resampler = contract.sampleRate === sessionRate ? undefined : new Resampler(sessionRate, contract.sampleRate);
  }

  /** A pause of another length ends a turn from now on. */
  turnPause(turnPauseMs: number): void {
    this.#pauses.turnPause(turnPauseMs);
  }

  /** Samples, at the lane's rate, that the tape's audio up to `position` gives and that were not given out yet. */
  available(position: number, ended: boolean): number {
    const inputs = this.#timeline.legOf(position);
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
    if (size > 0)
      return !ended && this.#isGathered(available) && !this.#isBefore(flushTo, end) ? 0 : this.#upToPause(size);
    return ended || this.flushing(Math.min(flushTo, end)) ? available : 0;
  }

  /** Whether a frame could leave, and waits for more audio to share its cost. */
  isGathering(end: number, flushTo: number): boolean {
    const available = this.available(end, false);
    return available >= this.#sizes.min && this.#isGathered(available) && !this.#isBefore(flushTo, end);
  }

  /** Samples of the session that are missing until a frame leaves, or fewer; 0 or less where one can. */
  missing(end: number, flushTo: number): number {
    if (this.#isBefore(flushTo, end)) return 0;
    const missing = this.#missing(this.available(end, false));
    // A resampler gives what it was given a little later, or earlier where a part of a sample was left.
    return this.#resampler === undefined ? missing : Math.floor((missing * this.#sessionRate) / this.#rate) - 1;
  }

  /** A lane that is behind ends a frame where it can leave out the rest of a pause. A resampler reads ahead of that. */
  #upToPause(size: number): number {
    if (!this.#isBehind || this.#resampler !== undefined) return size;
    const keptEnd = this.#pauses.keptEnd(this.#read);
    if (keptEnd === undefined) return size;
    const step = Math.ceil((this.#rate * STEP_MS) / 1000);
    return Math.min(size, Math.max(this.#sizes.min, step * Math.ceil((keptEnd - this.#read) / step)));
  }

  #isGathered(available: number): boolean {
    return this.#missing(available) > 0;
  }

  #missing(available: number): number {
    return missingSamples(this.#sizes, this.#gathering?.share ?? 0, this.#given, available);
  }

  /** Whether there is audio that was flushed. */
  #isBefore(flushTo: number, end: number): boolean {
    return flushTo > this.#tape.sent && this.available(Math.min(flushTo, end), false) > 0;
  }

  /** Whether audio before `flushTo` can still leave because of the flush alone. */
  flushing(flushTo: number): boolean {
    return this.#tail === 'short' && this.available(flushTo, false) > 0;
  }

  /** Milliseconds until a frame of `size` may leave. */
  waitMs(size: number, nowMs: number): number {
    return this.#pacer.waitMs(this.#ms(this.#padded(size)), nowMs);
  }

  /**
   * The next frame, of `size` samples. Throws when the tape's spool cannot be read.
   *
   * @param end where the audio ends that may be given out
   */
  take(size: number, end: number, ended: boolean, nowMs: number): AudioFrame {
    const padded = this.#padded(size);
    reserve(padded);
    if (this.#resampler === undefined) this.#copy(size);
    else this.#convert(this.#resampler, size, ended);
    if (padded > size) samples.fill(0, size, padded);
    this.#given += size;
    if (this.#pacer.isIdle(nowMs)) this.#isBehind = false;
    this.#pacer.take(this.#ms(padded), nowMs);
    const start = this.#tape.sent;
    this.#tape.advance(this.#position(this.#given));
    const held = this.#timeline.legOf(this.#tape.sent) - this.#timeline.legOf(start);
    return { bytes, start, samples: held, endsTurn: this.#catchUp(end, nowMs) };
  }

  /** Continues behind the pause that the lane is in, where it is behind. Returns whether the leg's turn ends by that. */
  #catchUp(end: number, nowMs: number): boolean {
    const lateMs = this.#pacer.waitMs(this.#ms(this.available(end, false)), nowMs);
    this.#isBehind ||= lateMs > BEHIND_MS;
    if (!this.#isBehind || this.#timeline.isFull) return false;
    const from = this.#read;
    const to = this.#pauses.after(from, end);
    if (to === from) return false;
    const endsTurn = this.#pauses.endsTurn(from);
    this.#timeline.leaveOut(from, to);
    this.#read = to;
    this.#tape.advance(this.#position(this.#given));
    return endsTurn;
  }

  /** Where the session is when the lane has given out so many samples. */
  #position(given: number): number {
    if (this.#resampler === undefined) return this.#timeline.startOf(given);
    // The last output of all may lie less than a sample beyond the end.
    const inputs = Math.round((given * this.#sessionRate) / this.#rate);
    return Math.min(this.#tape.received, this.#timeline.startOf(inputs));
  }

  #padded(size: number): number {
    return this.#tail === 'pad' ? Math.max(size, this.#sizes.min) : size;
  }

  #ms(samples: number): number {
    return (samples * 1000) / this.#rate;
  }

  #copy(size: number): void {
    for (let made = 0; made < size; ) {
      const piece = this.#tape.view(this.#read, size - made);
      samples.set(piece, made);
      this.#read += piece.length;
      made += piece.length;
    }
  }

  #convert(resampler: Resampler, size: number, ended: boolean): void {
    for (let made = resampler.read(samples, 0, size); made < size; ) {
      const left = this.#tape.received - this.#read;
      if (left > 0) this.#read += resampler.write(this.#tape.view(this.#read, left));
      else if (ended) resampler.end();
      made += resampler.read(samples, made, size - made);
    }
  }
}

/** Sent of each pause: a word's sound fades, the next begins quietly, and between the two a recogniser wants to hear a pause. */
const KEPT_MS = { behind: 150, before: 150 } as const;
/** Less is not worth a place on the leg's timeline. */
const SKIP_MS_MIN = 50;
/** A longer pause is left out in several steps: what is passed over is read from the spool, and kept for a replay. */
const SKIP_MS_MAX = 60_000;

/**
 * What a lane that is behind leaves out: the part of each pause that the leg does not need. Positions in, positions out. Loudness alone
 * finds pauses: of 71 s of speech made 30 dB quieter it leaves out 0.6 s, so a voice detector has nothing to add. Noise that is sent costs only time.
 */
class Pauses {
  readonly #audible: SpeechMeter['audible'];
  readonly #origin: number;
  readonly #kept: { behind: number; before: number };
  readonly #sampleRate: number;
  #endsTurn: number;
  readonly #skip: { min: number; max: number };
  /** Where the pause began of which the leg was told that it ends a turn. */
  #told: number | undefined;

  /**
   * @param endsTurnMs a pause of this length ends a turn: the leg is told so where it is not sent that much
   * @param origin where the lane begins: a pause before that is none of the leg's
   */
  constructor(audible: SpeechMeter['audible'], endsTurnMs: number, sampleRate: number, origin: number) {
    const samplesOf = (ms: number) => Math.round((ms * sampleRate) / 1000);
    this.#audible = audible;
    this.#origin = origin;
    this.#kept = { behind: samplesOf(KEPT_MS.behind), before: samplesOf(KEPT_MS.before) };
    this.#sampleRate = sampleRate;
    this.#endsTurn = samplesOf(endsTurnMs);
    this.#skip = { min: samplesOf(SKIP_MS_MIN), max: samplesOf(SKIP_MS_MAX) };
  }

  /** A pause of another length ends a turn from now on. */
  turnPause(endsTurnMs: number): void {
    this.#endsTurn = Math.round((endsTurnMs * this.#sampleRate) / 1000);
  }

  /** Where the lane continues: at `position` unless there is nothing to be heard for a while, and never beyond `end`. */
  after(position: number, end: number): number {
    const from = this.#since(position);
    if (from === undefined || position - from < this.#kept.behind) return position;
    const next = Math.min(this.#audible.startAfter(position) - this.#kept.before, position + this.#skip.max, end);
    return next - position >= this.#skip.min ? next : position;
  }

  /** Where the part of the next pause ends that is sent after a sound; undefined where none of the pause is left out. */
  keptEnd(position: number): number | undefined {
    const { behind, before } = this.#kept;
    const from = this.#since(position) ?? this.#audible.endAfter(position, behind + before + this.#skip.min);
    return from === undefined || from + behind <= position ? undefined : from + behind;
  }

  /** Whether the pause at `position`, as long as it is known to be, ends a turn that the leg has heard. Once for each pause. */
  endsTurn(position: number): boolean {
    const from = this.#since(position);
    if (from === undefined || from === this.#origin || from === this.#told) return false;
    if (this.#audible.startAfter(position) - from < this.#endsTurn) return false;
    this.#told = from;
    return true;
  }

  /** Where the pause began for the leg, of which `position` is a part. */
  #since(position: number): number | undefined {
    const from = this.#audible.quietSince(position);
    return from === undefined ? undefined : Math.max(from, this.#origin);
  }
}
