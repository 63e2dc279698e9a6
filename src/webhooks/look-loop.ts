// When the owner of the accounts looks for what is due: now and then, at once when it is told to, and never twice at a time.
import type { Clock } from '../../machines/clock.ts';

/** Looks without a pause between them. */
const ROUNDS_MAX = 100;

export class LookLoop {
  readonly #clock: Clock;
  readonly #lookOnce: () => Promise<number>;
  #timer: unknown;
  #looking: Promise<void> | undefined;
  #again = false;
  #isClosed = false;

  /** @param lookOnce never rejects; resolves with the milliseconds until the next look */
  constructor(clock: Clock, lookOnce: () => Promise<number>) {
    this.#clock = clock;
    this.#lookOnce = lookOnce;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** There may be something to do. During a look, another one follows it. */
  look(): void {
    if (this.#isClosed) return;
    this.#again = true;
    this.#looking ??= this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#clock.clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#clock.clearTimeout(this.#timer);
    let waitMs = 0;
    for (let round = 0; this.#again && round < ROUNDS_MAX && !this.#isClosed; round++) {
      this.#again = false;
      waitMs = await this.#lookOnce();
    }
    this.#looking = undefined;
    if (!this.#isClosed) this.#timer = this.#clock.setTimeout(() => this.look(), waitMs);
  }
}
