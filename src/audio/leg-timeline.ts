// Which sample of the session a leg's clock stands for. A leg that was behind was not given all of each pause: there its clock
// stood still while the session's continued.

/** Places that are remembered; a lane leaves out nothing more until finals cover the oldest. */
const SKIPS_MAX = 256;

/**
 * Positions of both clocks are in samples at the session's rate. Rising, and exact from the last `forget` on: what the leg was
 * given lies where it was in the session, and what was left out lies nowhere on the leg's clock.
 */
export class LegTimeline {
  /** Where each piece begins on the leg's clock, and how much later it lies in the session. */
  readonly #starts = [0];
  readonly #shifts: number[];

  constructor(originSample = 0) {
    this.#shifts = [originSample];
  }

  /** Places that are remembered now. */
  get skips(): number {
    return this.#starts.length - 1;
  }

  /** Whether nothing more may be left out. */
  get isFull(): boolean {
    return this.skips >= SKIPS_MAX;
  }

  /** The leg is given nothing of [from, to), which lies behind all that it was given. */
  leaveOut(from: number, to: number): void {
    const last = this.#starts.length - 1;
    const start = from - this.#shifts[last]!;
    if (start === this.#starts[last]) {
      this.#shifts[last] = to - start;
      return;
    }
    this.#starts.push(start);
    this.#shifts.push(to - start);
  }

  /** Where something begins: behind what was left out there. */
  startOf(legSample: number): number {
    return legSample + this.#shifts[this.#pieceAt(legSample)]!;
  }

  /** Where something ends: before what was left out there. */
  endOf(legSample: number): number {
    const piece = this.#pieceAt(legSample);
    const before = piece > 0 && this.#starts[piece] === legSample ? piece - 1 : piece;
    return legSample + this.#shifts[before]!;
  }

  /** Where a word lies. What was left out is nobody's: one that reaches over such a place lies where most of it is. */
  wordOf(start: number, end: number): { start: number; end: number } {
    const last = this.#pieceAt(end);
    let best = this.#pieceAt(start);
    for (let piece = best + 1; piece <= last; piece++) {
      if (this.#shareOf(piece, start, end) > this.#shareOf(best, start, end)) best = piece;
    }
    const shift = this.#shifts[best]!;
    const from = best === 0 ? start : Math.max(start, this.#starts[best]!);
    return { start: from + shift, end: Math.min(end, this.#endOfPiece(best)) + shift };
  }

  /** Where the leg's clock stands at a position of the session. */
  legOf(sessionSample: number): number {
    let piece = this.#starts.length - 1;
    while (piece > 0 && sessionSample < this.#starts[piece]! + this.#shifts[piece]!) piece--;
    return Math.min(sessionSample - this.#shifts[piece]!, this.#endOfPiece(piece));
  }

  /** Nothing that lies before the position will be requested again. */
  forget(sessionSample: number): void {
    let old = 0;
    while (old < this.skips && this.#starts[old + 1]! + this.#shifts[old + 1]! <= sessionSample) old++;
    if (old === 0) return;
    this.#starts.splice(0, old);
    this.#shifts.splice(0, old);
  }

  /** The piece that holds a position of the leg's clock; the first one holds what is before it as well. */
  #pieceAt(legSample: number): number {
    let piece = this.#starts.length - 1;
    while (piece > 0 && !(legSample >= this.#starts[piece]!)) piece--;
    return piece;
  }

  #endOfPiece(piece: number): number {
    return this.#starts[piece + 1] ?? Number.POSITIVE_INFINITY;
  }

  #shareOf(piece: number, start: number, end: number): number {
    return Math.min(end, this.#endOfPiece(piece)) - Math.max(start, this.#starts[piece]!);
  }
}
