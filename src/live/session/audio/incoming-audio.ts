// The way of a client's chunks to the leg. A chunk that completes no frame waits where it costs a copy and touches nothing else of
// its session: with many sessions most of what a chunk costs is memory that the processor has to fetch again.
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import type { IdleTimer } from '../../../runtime/timeouts.ts';
import type { LegPump } from '../leg/leg-pump.ts';
import type { Signals } from '../signals.ts';
import type { SessionDelays } from '../watch/session-delays.ts';
import type { AudioIntake } from './intake.ts';
import type { Suspension } from './suspension.ts';

export interface IncomingParts {
  pipeline: AudioPipeline;
  intake: AudioIntake;
  delays: SessionDelays;
  suspension: Suspension;
  /** The end of a session whose client sends nothing. */
  idle: IdleTimer;
  pump: Pick<LegPump, 'flush' | 'waits' | 'waitingBytesMax'>;
  signals: Signals;
}

export class IncomingAudio {
  readonly #parts: IncomingParts;
  readonly #waiting: WaitingChunks;
  #isOver = false;

  constructor(parts: IncomingParts) {
    this.#parts = parts;
    parts.signals.on('audioWanted', () => this.takeWaiting());
    this.#waiting = new WaitingChunks(() => {
      this.#came();
      parts.pump.waits();
    });
  }

  /** Audio bytes, valid during the call. */
  take(bytes: Uint8Array): void {
    if (this.#waiting.hold(bytes) || this.#isOver) return;
    const { intake, suspension, pump } = this.#parts;
    this.takeWaiting();
    this.#came();
    if (!intake.take(bytes)) return;
    suspension.audio();
    pump.flush();
    this.#waiting.bytesMax = intake.isSettled ? pump.waitingBytesMax : 0;
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

/** Chunks of a client that complete no frame: they wait together, where a chunk costs a copy and touches nothing else of its session. */
export class WaitingChunks {
  readonly #onFirst: () => void;
  #bytes = new Uint8Array(0);
  #length = 0;
  #bytesMax = 0;

  /** @param onFirst something begins to wait */
  constructor(onFirst: () => void) {
    this.#onFirst = onFirst;
  }

  /** From now on so many bytes may wait, less one; what waits has been taken. */
  set bytesMax(bytesMax: number) {
    if (bytesMax > this.#bytes.length) this.#bytes = new Uint8Array(bytesMax);
    this.#bytesMax = bytesMax;
  }

  /** Whether the chunk waits; else it is to be taken behind what does. */
  hold(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length;
    if (length >= this.#bytesMax) return false;
    this.#bytes.set(chunk, this.#length);
    if (this.#length === 0) this.#onFirst();
    this.#length = length;
    return true;
  }

  /** What waits, valid until the next chunk does; nothing waits, or may, until it is said again how much. */
  take(): Uint8Array | undefined {
    this.#bytesMax = 0;
    if (this.#length === 0) return undefined;
    const waited = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return waited;
  }
}
