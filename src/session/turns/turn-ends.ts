// Where a client asked for the end of a turn: told to each leg once its audio up to there has left, and to the next leg again
// as long as no final covers it.

/** Ends of turns that may be asked for ahead of their finals. */
const ENDS_MAX = 256;

export class TurnEnds {
  /** Positions in the session, rising. */
  #ends: number[] = [];
  /** How many of these the leg was told of. */
  #told = 0;

  /** A turn is to end at this sample. False when too many are asked for already: then it is left out. */
  ask(sample: number): boolean {
    if (this.#ends.length >= ENDS_MAX) return false;
    if (this.#ends.at(-1) !== sample || this.#told === this.#ends.length) this.#ends.push(sample);
    return true;
  }

  /** Everything before the sample is covered by a final. */
  covered(sample: number): void {
    const open = this.#ends.filter((end) => end > sample);
    this.#told = Math.max(0, this.#told - (this.#ends.length - open.length));
    this.#ends = open;
  }

  /** A new leg hears from the end of the last final on. */
  rewind(): void {
    this.#told = 0;
  }

  /** The next end that the leg was not told of. */
  get next(): number | undefined {
    return this.#ends[this.#told];
  }

  /** The leg is told of it: each end once. */
  tellNext(): void {
    this.#told++;
  }
}
