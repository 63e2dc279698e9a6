// Notices a leg that has gone quiet: speech went in and nothing came out for the provider's limit. What follows is the
// session's.
import type { Clock } from '../../machines/clock.ts';
import type { AudioPipeline } from '../audio/pipeline.ts';
import { Deadline } from '../runtime/deadline.ts';

/** How often a leg is looked at within its stall limit. */
const LOOKS = 4;

export class StallWatch {
  private readonly clock: Clock;
  private readonly pipeline: Pick<AudioPipeline, 'sentSamples' | 'speechSince'>;
  private readonly stallMs: number;
  private readonly onStall: () => void;
  private look: Deadline | undefined;
  private sentAtLastReport: number;
  /** When speech was first seen that the leg has said nothing to. */
  private unansweredSinceMs: number | undefined;

  /** @param stallMs Infinity for legs that may be silent */
  constructor(
    clock: Clock,
    pipeline: Pick<AudioPipeline, 'sentSamples' | 'speechSince'>,
    stallMs: number,
    onStall: () => void,
  ) {
    this.clock = clock;
    this.pipeline = pipeline;
    this.stallMs = stallMs;
    this.onStall = onStall;
    this.sentAtLastReport = pipeline.sentSamples;
    this.arm();
  }

  /** The leg gave a sign of life. */
  heard(): void {
    this.sentAtLastReport = this.pipeline.sentSamples;
    this.unansweredSinceMs = undefined;
    this.look?.touch();
  }

  stop(): void {
    this.look?.stop();
  }

  private arm(): void {
    if (this.stallMs === Number.POSITIVE_INFINITY) return;
    this.look = new Deadline(this.clock, this.stallMs / LOOKS, () => {
      // The limit counts from the speech on: before it the leg had nothing to say, for however long.
      if (this.pipeline.speechSince(this.sentAtLastReport)) this.unansweredSinceMs ??= this.clock.now();
      if (this.clock.now() - (this.unansweredSinceMs ?? Number.NaN) >= this.stallMs) this.onStall();
      else this.arm();
    });
  }
}
