// When a session's connection to its provider is released because no audio comes, and when another is wanted: many vendors bill
// how long a connection is open. What happens then is decided by the session chart.
import type { Clock } from '../../../../machines/clock.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { IdleTimer } from '../../../runtime/timeouts.ts';
import type { Charts } from '../charts.ts';
import type { Turns } from '../turns/turns.ts';

export interface SuspensionParts {
  pipeline: AudioPipeline;
  charts: Pick<Charts, 'tell'>;
  turns: Pick<Turns, 'open'>;
}

export class Suspension {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #parts: SuspensionParts;
  #deadline: IdleTimer | undefined;
  /** The leg was asked to finish. */
  #isLeaving = false;
  #isResting = false;
  /** Audio came since the leg was asked to finish. */
  #hasMore = false;

  constructor(clock: Clock, afterMs: number, parts: SuspensionParts) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#parts = parts;
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
    if (this.#isResting || (this.#isLeaving && this.#isAnswered)) this.#wake();
  }

  /** The leg has said all there was, and was released. */
  rest(): void {
    this.#isResting = true;
    if (this.#hasMore) this.#wake();
  }

  /** Whether there is nothing to be heard in what the leg was sent, and no turn open, that has no final. */
  get #isAnswered(): boolean {
    const { pipeline, turns } = this.#parts;
    return !turns.open && !pipeline.soundSince(pipeline.coveredSamples);
  }

  #wake(): void {
    this.#isResting = false;
    this.#isLeaving = false;
    this.#parts.charts.tell({ type: 'audio.waiting' });
  }

  #look(): void {
    const { pipeline, charts } = this.#parts;
    const clock = this.#clock;
    // Held back by the leg's pace, or for want of money: that is not silence.
    const isBusy = pipeline.waitMs(clock.now()) < Number.POSITIVE_INFINITY || pipeline.starved;
    if (isBusy || pipeline.ended) {
      this.begin();
      return;
    }
    this.#hasMore = false;
    this.#isLeaving = true;
    charts.tell({ type: 'audio.quiet' });
  }
}
