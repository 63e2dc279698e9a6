// The numbered pieces of a track, in the order of their numbers: some carriers send them as they come.

/** Pieces that are kept for one that is missing: a fifth of a second. */
const KEPT_MAX = 10;

export class InOrder<Piece> {
  #next: number | undefined;
  readonly #kept = new Map<number, Piece>();

  /** Those that are next. One that comes later than its successors is told as it comes: none is left out. */
  *take(number: number, piece: Piece): Iterable<Piece> {
    this.#next ??= number;
    if (number > this.#next) {
      this.#kept.set(number, piece);
      if (this.#kept.size <= KEPT_MAX) return;
      // It is missed no longer.
      this.#next = Math.min(...this.#kept.keys());
    } else {
      yield piece;
      if (number < this.#next) return;
      this.#next++;
    }
    yield* this.#followers();
  }

  /** All that is kept. */
  *end(): Iterable<Piece> {
    while (this.#kept.size > 0) {
      this.#next = Math.min(...this.#kept.keys());
      yield* this.#followers();
    }
  }

  *#followers(): Iterable<Piece> {
    for (;;) {
      const next = this.#next as number;
      const piece = this.#kept.get(next);
      if (piece === undefined) return;
      this.#kept.delete(next);
      this.#next = next + 1;
      yield piece;
    }
  }
}
