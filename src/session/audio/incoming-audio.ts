// The way of a client's chunks to the leg. A chunk that completes no frame waits where it costs a copy and touches nothing else of
// its session: with many sessions most of what a chunk costs is memory that the processor has to fetch again.
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { Deadline } from '../../runtime/deadline.ts';
import type { CurrentLeg } from '../leg/current-leg.ts';
import type { SessionDelays } from '../watch/session-delays.ts';
import type { AudioIntake } from './intake.ts';
import type { Suspension } from './suspension.ts';
import { WaitingChunks } from './waiting-chunks.ts';

export interface IncomingParts {
  pipeline: AudioPipeline;
  intake: AudioIntake;
  delays: SessionDelays;
  suspension: Suspension;
  /** The end of a session whose client sends nothing. */
  idle: Deadline;
  leg: Pick<CurrentLeg, 'pump' | 'waits' | 'waitingBytesMax'>;
}

export class IncomingAudio {
  readonly #parts: IncomingParts;
  readonly #waiting: WaitingChunks;
  #isOver = false;

  constructor(parts: IncomingParts) {
    this.#parts = parts;
    this.#waiting = new WaitingChunks(() => {
      this.#came();
      parts.leg.waits();
    });
  }

  /** Audio bytes, valid during the call. */
  take(bytes: Uint8Array): void {
    if (this.#waiting.hold(bytes) || this.#isOver) return;
    const { intake, suspension, leg } = this.#parts;
    this.takeWaiting();
    this.#came();
    if (!intake.take(bytes)) return;
    suspension.audio();
    leg.pump();
    this.#waiting.bytesMax = intake.isSettled ? leg.waitingBytesMax : 0;
  }

  /** What waited for more of it waits no longer. The leg is not pumped. */
  takeWaiting(): void {
    const waited = this.#waiting.take();
    if (waited !== undefined && !this.#isOver && this.#parts.intake.take(waited)) this.#parts.suspension.audio();
  }

  /** Nothing is taken any more, or waited for. */
  stop(): void {
    const { idle, suspension } = this.#parts;
    this.#isOver = true;
    idle.stop();
    suspension.stop();
  }

  #came(): void {
    const { pipeline, delays, idle } = this.#parts;
    idle.touch();
    delays.received(pipeline.receivedSamples, pipeline.sentSamples);
  }
}
