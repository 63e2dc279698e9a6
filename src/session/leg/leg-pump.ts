// Hands the session's audio to its leg: at the leg's pace, in its frames, and with the ends of turns between them.
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { LiveTiming } from '../../providers/provider.ts';
import type { SessionDependencies } from '../session-dependencies.ts';
import { Finalizer } from '../turns/finalizer.ts';
import { LaterPumps } from './later-pumps.ts';
import type { LegChannel } from './leg-channel.ts';
import type { CurrentLegCalls, CurrentLegParts } from './leg-parts.ts';

/** Audio handed to the leg before others get their turn of the event loop. */
const PUMP_BYTES_MAX = 262_144;

export class LegPump {
  readonly #dependencies: SessionDependencies;
  readonly #parts: CurrentLegParts;
  readonly #pipeline: AudioPipeline;
  /** Hertz of the session. */
  readonly #sampleRate: number;
  readonly #channel: LegChannel;
  readonly #calls: Pick<CurrentLegCalls, 'takeWaiting' | 'fault'>;
  readonly #finalizer: Finalizer;
  readonly #later: LaterPumps;
  #slug = '';
  #frames = 0;
  #isOpen = false;
  #isPumping = false;
  #drainedTold = false;
  /** The leg has said that it takes no more for now. */
  isHeldBack = false;

  constructor(
    dependencies: SessionDependencies,
    parts: CurrentLegParts,
    sampleRate: number,
    channel: LegChannel,
    calls: Pick<CurrentLegCalls, 'takeWaiting' | 'fault'>,
  ) {
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#pipeline = parts.pipeline;
    this.#sampleRate = sampleRate;
    this.#channel = channel;
    this.#calls = calls;
    this.#finalizer = new Finalizer(parts.pipeline, sampleRate);
    this.#later = new LaterPumps(dependencies.clock, parts.pipeline, {
      takeWaiting: () => calls.takeWaiting(),
      pump: () => this.pump(),
    });
  }

  /** The leg of that model hears from this sample on. */
  open(slug: string, timing: LiveTiming, originSample: number): void {
    this.#calls.takeWaiting();
    this.#slug = slug;
    this.#finalizer.begin(timing.endpointing, originSample);
    this.#parts.delays.begin(originSample);
    this.#later.begin(timing.frame.idealMs);
    this.#frames = 0;
    this.#drainedTold = false;
    this.#isOpen = true;
  }

  /** Audio waits: for this leg or for another. */
  hold(): void {
    this.#isOpen = false;
    this.#parts.delays.held();
  }

  close(): void {
    this.#calls.takeWaiting();
    this.#isOpen = false;
    this.#later.stop();
  }

  /** Ends the current turn once the audio received so far has left. */
  finalize(): void {
    this.#calls.takeWaiting();
    if (!this.#finalizer.ask()) this.#dependencies.totals.dropped('finalize');
    this.pump();
  }

  /** Ends the current turn behind what the leg was given. */
  endTurn(): void {
    this.#finalizer.endedByPause();
    this.#tellEnd();
  }

  /** Bytes of the client that may wait until a frame is complete; 0 where none may. */
  get waitingBytesMax(): number {
    return this.#isOpen && !this.#isHeld ? this.#pipeline.waitingBytesMax : 0;
  }

  /** The client's chunks begin to wait. */
  waits(): void {
    if (this.#isOpen) this.#later.whenGathered();
  }

  /** Whether the leg takes nothing now; it says when that is over. */
  get #isHeld(): boolean {
    return this.isHeldBack || this.#channel.isFull;
  }

  /** Hands the leg what may leave now, and comes back when the pace, the loop or the leg allows more. */
  pump(): void {
    if (!this.#isOpen || this.#isHeld || this.#isPumping) return;
    this.#isPumping = true;
    const before = this.#frames;
    try {
      this.#handOver();
    } catch (error) {
      this.#calls.fault('audio', error);
      return;
    } finally {
      this.#isPumping = false;
    }
    if (this.#isOpen && this.#frames > before) this.#parts.spending.sent();
    if (this.#isOpen) this.#afterPump();
  }

  #handOver(): void {
    const { clock, totals } = this.#dependencies;
    const now = clock.now();
    let budget = PUMP_BYTES_MAX;
    while (this.#isOpen && !this.#isHeld && budget > 0) {
      this.#finalizer.tellDue(now, this.#tellEnd);
      const frame = this.#pipeline.next(now);
      if (frame === undefined) return;
      this.#frames++;
      this.#later.left(now);
      budget -= frame.bytes.byteLength;
      totals.audioSent(frame.samples / this.#sampleRate);
      this.#channel.command({ type: 'leg.audio', sequence: this.#frames }, frame.bytes);
      const passedMs = this.#parts.delays.sent(this.#pipeline.sentSamples, now);
      if (passedMs !== undefined) this.#parts.log.passed(this.#slug, passedMs);
      if (frame.endsTurn) this.endTurn();
    }
  }

  readonly #tellEnd = (): void => this.#channel.command({ type: 'leg.finalize' });

  #afterPump(): void {
    if (this.#pipeline.gathering) this.#later.whenGathered();
    else if (this.#pipeline.drained) this.#tellDrained();
    else if (this.#pipeline.starved) this.#parts.spending.starved();
    else if (!this.#isHeld) this.#later.whenPaced();
  }

  #tellDrained(): void {
    if (this.#drainedTold) return;
    this.#drainedTold = true;
    this.#parts.charts.tell({ type: 'audio.drained' });
  }
}
