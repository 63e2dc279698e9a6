// When audio is handed on although none comes: its pace allows more, or what is gathered for a larger frame has waited long enough.
import type { Clock } from '../../../machines/clock.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';

/** What is gathered leaves so many ideal frames' time after the frame before it. */
const GATHERED_FRAMES_MAX = 2;

export interface LaterCalls {
  /** What waits at the client's end of the session is to be taken as well. */
  takeWaiting(): void;
  pump(): void;
}

export class LaterPumps {
  readonly #clock: Clock;
  readonly #pipeline: AudioPipeline;
  #gatheredMsMax = 0;
  readonly #calls: LaterCalls;
  #leftMs = 0;
  #gathered: unknown;
  #paced: unknown;

  constructor(clock: Clock, pipeline: AudioPipeline, calls: LaterCalls) {
    this.#clock = clock;
    this.#pipeline = pipeline;
    this.#calls = calls;
  }

  /** Another leg begins to hear, which likes frames of that length. */
  begin(idealMs: number): void {
    this.stop();
    this.#gatheredMsMax = GATHERED_FRAMES_MAX * idealMs;
    this.#leftMs = this.#clock.now();
  }

  /** A frame leaves now. */
  left(nowMs: number): void {
    this.#leftMs = nowMs;
  }

  /** Something waits for more. One timer for many frames: it looks again where one has left meanwhile. */
  whenGathered(): void {
    if (this.#gathered !== undefined) return;
    const clock = this.#clock;
    const inMs = Math.max(1, this.#leftMs + this.#gatheredMsMax - clock.now());
    this.#gathered = clock.setTimeout(() => {
      this.#gathered = undefined;
      if (clock.now() - this.#leftMs < this.#gatheredMsMax) {
        this.whenGathered();
        return;
      }
      this.#calls.takeWaiting();
      if (this.#pipeline.gathering) this.#pipeline.flush();
      this.#calls.pump();
    }, inMs);
  }

  /** Something may wait for the pace. */
  whenPaced(): void {
    if (this.#paced !== undefined) return;
    const waitMs = this.#pipeline.waitMs(this.#clock.now());
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#paced = this.#clock.setTimeout(() => {
      this.#paced = undefined;
      this.#calls.pump();
    }, Math.ceil(waitMs));
  }

  stop(): void {
    this.#clock.clearTimeout(this.#gathered);
    this.#clock.clearTimeout(this.#paced);
    this.#gathered = undefined;
    this.#paced = undefined;
  }
}
