// What a lane that is behind leaves out: of each pause that which the leg has no need of. Positions in, positions out; whether the
// lane is behind is its own matter.
import type { SpeechMeter } from './voice/energy.ts';

/** Sent of each pause: a word's sound fades, the next begins quietly, and between the two a recogniser wants to hear a pause. */
const KEPT_MS = { behind: 150, before: 150 } as const;
/** Less is not worth a place on the leg's timeline. */
const SKIP_MS_MIN = 50;
/** A longer pause is left out in several steps: what is passed over is read from the spool, and kept for a replay. */
const SKIP_MS_MAX = 60_000;

export class Pauses {
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

  /** Where the lane goes on: at `position` unless there is nothing to be heard for a while, and never beyond `end`. */
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
