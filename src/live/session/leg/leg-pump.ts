// Hands the session's audio to its leg: at the leg's pace, in its frames, and with the ends of turns between them.

import type { Clock } from '../../../../machines/clock.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import type { OpenVoiceScan } from '../../../recogniser/voice/scan.ts';
import type { LiveTiming } from '../../../vendors/kit/provider.ts';
import type { Spending } from '../billing/spending.ts';
import type { Charts } from '../charts.ts';
import type { SessionDependencies } from '../session-opening.ts';
import type { Signals } from '../signals.ts';
import { Finalizer } from '../turns/finalizer.ts';
import type { SessionDelays } from '../watch/session-delays.ts';
import type { SessionLog } from '../watch/session-log.ts';
import type { LegChannel } from './leg-channel.ts';

/** Audio handed to the leg before others get their turn of the event loop. */
const FLUSH_BYTES_MAX = 262_144;
/** What is gathered for a larger frame leaves this many ideal frames' time after the frame before it. */
const GATHERED_FRAMES_MAX = 2;

/** The parts of the session that work on the audio for its leg. */
export interface LegPumpParts {
  pipeline: AudioPipeline;
  charts: Pick<Charts, 'tell'>;
  spending: Pick<Spending, 'sent' | 'starved'>;
  delays: Pick<SessionDelays, 'begin' | 'held' | 'sent'>;
  log: SessionLog;
  signals: Signals;
}

export class LegPump {
  readonly #dependencies: SessionDependencies;
  readonly #parts: LegPumpParts;
  readonly #pipeline: AudioPipeline;
  /** Hertz of the session. */
  readonly #sampleRate: number;
  #channel: LegChannel;
  readonly #signals: Signals;
  readonly #finalizer: Finalizer;
  readonly #scheduler: SendScheduler;
  #slug = '';
  #frames = 0;
  #isOpen = false;
  #isFlushing = false;
  #drainedTold = false;
  /** The leg has said that it takes no more for now. */
  isHeldBack = false;

  constructor(
    dependencies: SessionDependencies,
    parts: LegPumpParts,
    sampleRate: number,
    channel: LegChannel,
    scan: OpenVoiceScan,
  ) {
    this.#dependencies = dependencies;
    this.#parts = parts;
    this.#pipeline = parts.pipeline;
    this.#sampleRate = sampleRate;
    this.#channel = channel;
    this.#signals = parts.signals;
    this.#signals.on('audioAllowed', () => this.flush());
    this.#finalizer = new Finalizer(parts.pipeline, sampleRate, {
      scan,
      checked: (outcome) => dependencies.totals.voiceChecked('turn', outcome),
    });
    this.#scheduler = new SendScheduler(dependencies.clock, parts.pipeline, parts.signals);
  }

  /** From now on audio goes that way. */
  use(channel: LegChannel): void {
    this.#channel = channel;
  }

  /** The leg of that model hears from this sample on. */
  open(slug: string, timing: LiveTiming, originSample: number): void {
    this.#signals.emit('audioWanted');
    this.#slug = slug;
    this.#finalizer.begin(timing.endpointing, originSample);
    this.#parts.delays.begin(originSample);
    this.#scheduler.begin(timing.frame.idealMs);
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
    this.#signals.emit('audioWanted');
    this.#isOpen = false;
    this.#scheduler.stop();
    this.#finalizer.stop();
  }

  /** Ends the current turn once the audio received so far has left. */
  finalize(): void {
    this.#signals.emit('audioWanted');
    if (!this.#finalizer.ask()) this.#dependencies.totals.dropped('finalize');
    this.flush();
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
    if (this.#isOpen) this.#scheduler.whenGathered();
  }

  /** Whether the leg takes nothing now; it says when that is over. */
  get #isHeld(): boolean {
    return this.isHeldBack || this.#channel.isFull;
  }

  /** Hands the leg what may leave now, and comes back when the pace, the loop or the leg allows more. */
  flush(): void {
    if (!this.#isOpen || this.#isHeld || this.#isFlushing) return;
    this.#isFlushing = true;
    const before = this.#frames;
    try {
      this.#handOver();
    } catch (error) {
      this.#signals.emit('fault', 'audio', error);
      return;
    } finally {
      this.#isFlushing = false;
    }
    if (this.#isOpen && this.#frames > before) this.#parts.spending.sent();
    if (this.#isOpen) this.#afterFlush();
  }

  #handOver(): void {
    const { clock, totals } = this.#dependencies;
    const now = clock.now();
    let budget = FLUSH_BYTES_MAX;
    while (this.#isOpen && !this.#isHeld && budget > 0) {
      this.#finalizer.tellDue(now, this.#tellEnd);
      const frame = this.#pipeline.next(now);
      if (frame === undefined) return;
      this.#frames++;
      this.#scheduler.left(now);
      budget -= frame.bytes.byteLength;
      totals.audioSent(frame.samples / this.#sampleRate);
      this.#channel.command({ type: 'leg.audio', sequence: this.#frames }, frame.bytes);
      const passedMs = this.#parts.delays.sent(this.#pipeline.sentSamples, now);
      if (passedMs !== undefined) this.#parts.log.passed(this.#slug, passedMs);
      if (frame.endsTurn) this.endTurn();
    }
  }

  readonly #tellEnd = (): void => this.#channel.command({ type: 'leg.finalize' });

  #afterFlush(): void {
    if (this.#pipeline.gathering) this.#scheduler.whenGathered();
    else if (this.#pipeline.drained) this.#tellDrained();
    else if (this.#pipeline.starved) this.#parts.spending.starved();
    else if (!this.#isHeld) this.#scheduler.whenPaced();
  }

  #tellDrained(): void {
    if (this.#drainedTold) return;
    this.#drainedTold = true;
    this.#parts.charts.tell({ type: 'audio.drained' });
  }
}

/** Sends audio when none arrives: its pace allows more, or what is gathered for a larger frame has waited long enough. */
class SendScheduler {
  readonly #clock: Clock;
  readonly #pipeline: AudioPipeline;
  #gatheredMsMax = 0;
  readonly #signals: Signals;
  #leftMs = 0;
  #gathered: unknown;
  #paced: unknown;

  constructor(clock: Clock, pipeline: AudioPipeline, signals: Signals) {
    this.#clock = clock;
    this.#pipeline = pipeline;
    this.#signals = signals;
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
      this.#signals.emit('audioWanted');
      if (this.#pipeline.gathering) this.#pipeline.flush();
      this.#signals.emit('audioAllowed');
    }, inMs);
  }

  /** Something may wait for the pace. */
  whenPaced(): void {
    if (this.#paced !== undefined) return;
    const waitMs = this.#pipeline.waitMs(this.#clock.now());
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#paced = this.#clock.setTimeout(() => {
      this.#paced = undefined;
      this.#signals.emit('audioAllowed');
    }, Math.ceil(waitMs));
  }

  stop(): void {
    this.#clock.clearTimeout(this.#gathered);
    this.#clock.clearTimeout(this.#paced);
    this.#gathered = undefined;
    this.#paced = undefined;
  }
}
