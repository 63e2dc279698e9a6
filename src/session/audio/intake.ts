// What becomes of a client's audio before it is on the tape: files in disguise, a backlog past its bound, audio that comes
// too late, and audio that comes at an odd speed are told apart here. What is done about them is the session's decision.
import type { Clock } from '../../../machines/clock.ts';
import { isCoded, type ListenRequest } from '../../api/listen.ts';
import { ContainerSniffer } from '../../audio/container.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { SessionTotals } from '../session-dependencies.ts';
import { type Backlog, backlogOf } from './backlog.ts';
import { LayoutWatch, type OddLayout } from './layout-watch.ts';
import { RateWatch } from './rate-watch.ts';

export interface IntakeOptions {
  request: ListenRequest;
  pipeline: AudioPipeline;
  clock: Clock;
  totals: SessionTotals;
  /** Seconds of audio the session may hold ahead of what was sent on. */
  backlogSecondsMax: number;
  /** The audio is a file of this name. Nothing more is taken. */
  onContainer(name: string): void;
  /** It cannot be decoded any further, with what to tell the client. */
  onUnsupported(message: string): void;
  /** A piece of it is damaged, and was passed over. Once. */
  onDamaged(): void;
  /** This chunk was refused; what was taken before stays. */
  onBacklog(backlog: Backlog): void;
  /** Audio came after the end. Once. */
  onLate(): void;
  /** Audio arrives at this multiple of real time, steadily. Once. */
  onOddRate(ratio: number): void;
  /** The audio does not look like one channel of 16-bit integers. Once. */
  onOddLayout(layout: OddLayout): void;
}

export class AudioIntake {
  readonly #options: IntakeOptions;
  /** None where the audio says itself what it is, and how fast it is. */
  readonly #sniffer: ContainerSniffer | undefined;
  readonly #rateWatch: RateWatch | undefined;
  readonly #layoutWatch: LayoutWatch | undefined;
  #lateTold = false;
  /** Only what is decoded tells of damage. */
  #damageTold: boolean;

  constructor(options: IntakeOptions) {
    this.#options = options;
    const { encoding, sampleRate } = options.request;
    const isRaw = !isCoded(encoding);
    this.#damageTold = isRaw;
    this.#sniffer = isRaw ? new ContainerSniffer() : undefined;
    this.#rateWatch = isRaw ? new RateWatch(sampleRate) : undefined;
    this.#layoutWatch = encoding === 'linear16' ? new LayoutWatch() : undefined;
  }

  /** What the audio is has been told from its first bytes. */
  get isSettled(): boolean {
    return this.#sniffer?.settled ?? true;
  }

  /** Takes bytes, valid during the call. True when there is more for the leg. */
  take(bytes: Uint8Array): boolean {
    const { pipeline, totals, clock, request } = this.#options;
    if (pipeline.ended) {
      this.#late();
      return false;
    }
    const sniffer = this.#sniffer;
    const container = sniffer === undefined || sniffer.settled ? undefined : sniffer.look(bytes);
    if (container !== undefined) {
      this.#options.onContainer(container);
      return false;
    }
    const before = pipeline.receivedSamples;
    const taken = pipeline.push(bytes);
    if (taken === 'backlog_exceeded') {
      totals.dropped('audio_backlog');
      this.#options.onBacklog(backlogOf(this.#options.backlogSecondsMax, pipeline.shortage));
      return false;
    }
    totals.audioReceived((pipeline.receivedSamples - before) / request.sampleRate);
    if (!this.#damageTold && pipeline.damagedPieces > 0) {
      this.#damageTold = true;
      this.#options.onDamaged();
    }
    if (taken === 'unsupported') {
      this.#options.onUnsupported(pipeline.fault ?? '');
      return false;
    }
    const ratio = this.#rateWatch?.note(pipeline.receivedSamples, clock.now());
    if (ratio !== undefined) this.#options.onOddRate(ratio);
    const layout = this.#layoutWatch?.note(bytes);
    if (layout !== undefined) this.#options.onOddLayout(layout);
    return true;
  }

  #late(): void {
    this.#options.totals.dropped('audio_after_close');
    if (this.#lateTold) return;
    this.#lateTold = true;
    this.#options.onLate();
  }
}
