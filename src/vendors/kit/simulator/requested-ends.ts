// Ends that a client asks for where nothing else ends a turn: each is due when the ear has come there.
import type { HeardText } from './words.ts';

/** The ear may take so long to say what was heard before an end; with no words, one may still be on its way. */
const HEARING_MS = 2_000;
const QUIET_MS = 200;
const ROUNDING_SECONDS = 1e-6;

export class RequestedEnds {
  readonly #later: (delayMs: number, work: () => void) => unknown;
  readonly #reached: (endSeconds: number) => void;
  /** Ends that the ear has not come to, in rising order. */
  readonly #asked: number[] = [];
  #heardSeconds = 0;
  #isHearing = false;

  constructor(later: (delayMs: number, work: () => void) => unknown, reached: (endSeconds: number) => void) {
    this.#later = later;
    this.#reached = reached;
  }

  get areWaited(): boolean {
    return this.#asked.length > 0;
  }

  /** All audio up to here is to be told; the ear was asked to end its turn. */
  ask(atSeconds: number): void {
    this.#asked.push(atSeconds);
    this.#settle(this.#heardSeconds);
    this.#later(this.#isHearing ? HEARING_MS : QUIET_MS, () => this.#settle(atSeconds));
  }

  /** Words are being heard. */
  hearing(): void {
    this.#isHearing = true;
  }

  /** A turn of the ear is over. */
  heard({ end }: HeardText): void {
    this.#heardSeconds = end;
    this.#isHearing = false;
    this.#settle(end);
  }

  #settle(untilSeconds: number): void {
    while (this.#asked[0] !== undefined && this.#asked[0] <= untilSeconds + ROUNDING_SECONDS)
      this.#reached(this.#asked.shift() as number);
  }
}
