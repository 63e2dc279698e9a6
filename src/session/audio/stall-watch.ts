// Notices a leg that has gone quiet: speech went in and nothing came out for the provider's limit. What follows is the
// session's.
import type { Clock } from '../../../machines/clock.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import { Deadline } from '../../runtime/deadline.ts';

/** How often a leg is looked at within its stall limit, as long as nothing is unanswered. */
const LOOKS = 4;

type Audio = Pick<AudioPipeline, 'sentSamples' | 'speechSince' | 'speechStartAfter' | 'legTimeline'>;

export class StallWatch {
  readonly #clock: Clock;
  readonly #audio: Audio;
  readonly #sampleRate: number;
  readonly #stallMs: number;
  readonly #onStall: () => void;
  #look: Deadline | undefined;
  #heardAtMs: number;
  #sentWhenHeard: number;

  /** @param stallMs Infinity for legs that may be silent */
  constructor(clock: Clock, audio: Audio, sampleRate: number, stallMs: number, onStall: () => void) {
    this.#clock = clock;
    this.#audio = audio;
    this.#sampleRate = sampleRate;
    this.#stallMs = stallMs;
    this.#onStall = onStall;
    this.#heardAtMs = clock.now();
    this.#sentWhenHeard = audio.sentSamples;
    if (stallMs !== Number.POSITIVE_INFINITY) this.#lookAfter(stallMs / LOOKS);
  }

  /** The leg gave a sign of life. */
  heard(): void {
    this.#heardAtMs = this.#clock.now();
    this.#sentWhenHeard = this.#audio.sentSamples;
    this.#look?.touch();
  }

  stop(): void {
    this.#look?.stop();
  }

  #lookAfter(afterMs: number): void {
    this.#look = new Deadline(this.#clock, afterMs, () => {
      if (!this.#audio.speechSince(this.#sentWhenHeard)) {
        this.#lookAfter(this.#stallMs / LOOKS);
        return;
      }
      const leftMs = this.#unansweredSinceMs() + this.#stallMs - this.#clock.now();
      if (leftMs <= 0) this.#onStall();
      else this.#lookAfter(leftMs);
    });
  }

  /**
   * The limit counts from the speech on: before it the leg had nothing to say, for however long. When the speech was sent is
   * told by its place in the audio; what was sent faster than it was spoken counts from the last sign of life.
   */
  #unansweredSinceMs(): number {
    const { sentSamples, legTimeline } = this.#audio;
    const start = Math.min(this.#audio.speechStartAfter(this.#sentWhenHeard), sentSamples);
    const agoMs = ((legTimeline.legOf(sentSamples) - legTimeline.legOf(start)) * 1000) / this.#sampleRate;
    return Math.max(this.#heardAtMs, this.#clock.now() - agoMs);
  }
}
