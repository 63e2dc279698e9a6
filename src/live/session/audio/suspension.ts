// When a session's connection to its provider is let go of because no audio comes, and when another is wanted: many vendors bill
// how long a connection is open. What happens then is decided by the session chart.
import type { Clock } from '../../../../machines/clock.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { IdleTimer } from '../../../runtime/timeouts.ts';

export interface SuspensionCalls {
  /** The leg has nothing to hear, and had nothing for a while. */
  quiet(): void;
  /** There is audio, and no leg, or one that is being let go of and owes nothing. */
  waiting(): void;
  /** Whether all that the leg was sent is answered for. */
  isAnswered(): boolean;
}

export class Suspension {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #pipeline: AudioPipeline;
  readonly #calls: SuspensionCalls;
  #deadline: IdleTimer | undefined;
  /** The leg was asked to finish. */
  #isLeaving = false;
  #isResting = false;
  /** Audio came since the leg was asked to finish. */
  #hasMore = false;

  constructor(clock: Clock, afterMs: number, pipeline: AudioPipeline, calls: SuspensionCalls) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#pipeline = pipeline;
    this.#calls = calls;
  }

  /** A leg hears. */
  begin(): void {
    this.stop();
    this.#isResting = false;
    this.#deadline = new IdleTimer(this.#clock, this.#afterMs, () => this.#look());
  }

  /** The leg is over. */
  stop(): void {
    this.#deadline?.stop();
    this.#deadline = undefined;
    this.#isLeaving = false;
  }

  /** Audio came, or the end of it with some left that no leg was sent. */
  audio(): void {
    this.#deadline?.touch();
    this.#hasMore = true;
    // Who speaks again does not wait for a goodbye.
    if (this.#isResting || (this.#isLeaving && this.#calls.isAnswered())) this.#wake();
  }

  /** The leg has said all there was, and was let go of. */
  rest(): void {
    this.#isResting = true;
    if (this.#hasMore) this.#wake();
  }

  #wake(): void {
    this.#isResting = false;
    this.#isLeaving = false;
    this.#calls.waiting();
  }

  #look(): void {
    const pipeline = this.#pipeline;
    const clock = this.#clock;
    // Held back by the leg's pace, or for want of money: that is no quiet.
    const isBusy = pipeline.waitMs(clock.now()) < Number.POSITIVE_INFINITY || pipeline.starved;
    if (isBusy || pipeline.ended) {
      this.begin();
      return;
    }
    this.#hasMore = false;
    this.#isLeaving = true;
    this.#calls.quiet();
  }
}
