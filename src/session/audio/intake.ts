// What becomes of a client's audio before it is on the tape: files in disguise, a backlog past its bound, audio that comes
// too late, and audio that comes at an odd speed are told apart here. What is done about them is the session's decision.
import type { Clock } from '../../../machines/clock.ts';
import type { ListenRequest } from '../../api/listen.ts';
import { ContainerSniffer } from '../../audio/container.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { SessionTotals } from '../session-dependencies.ts';
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
  /** This chunk was refused; what was taken before stays. */
  onBacklog(secondsMax: number): void;
  /** Audio came after the end. Once. */
  onLate(): void;
  /** Audio arrives at this multiple of real time, steadily. Once. */
  onOddRate(ratio: number): void;
  /** The audio does not look like one channel of 16-bit integers. Once. */
  onOddLayout(layout: OddLayout): void;
}

export class AudioIntake {
  readonly #options: IntakeOptions;
  readonly #sniffer = new ContainerSniffer();
  readonly #rateWatch: RateWatch;
  readonly #layoutWatch: LayoutWatch | undefined;
  #lateTold = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#rateWatch = new RateWatch(options.request.sampleRate);
    this.#layoutWatch = options.request.encoding === 'linear16' ? new LayoutWatch() : undefined;
  }

  /** What the audio is has been told from its first bytes. */
  get isSettled(): boolean {
    return this.#sniffer.settled;
  }

  /** Takes bytes, valid during the call. True when there is more for the leg. */
  take(bytes: Uint8Array): boolean {
    const { pipeline, totals, clock, request } = this.#options;
    if (pipeline.ended) {
      this.#late();
      return false;
    }
    const container = this.#sniffer.settled ? undefined : this.#sniffer.look(bytes);
    if (container !== undefined) {
      this.#options.onContainer(container);
      return false;
    }
    const before = pipeline.receivedSamples;
    if (pipeline.push(bytes) === 'backlog_exceeded') {
      totals.dropped('audio_backlog');
      this.#options.onBacklog(this.#options.backlogSecondsMax);
      return false;
    }
    totals.audioReceived((pipeline.receivedSamples - before) / request.sampleRate);
    const ratio = this.#rateWatch.note(pipeline.receivedSamples, clock.now());
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

export const containerWords = (name: string, encoding: string): string =>
  `The audio is a file (${name}), by its first bytes. Live audio is headerless ${encoding}: send the samples without the container, or post the file to /v1/audio/transcriptions.`;

export const backlogWords = (secondsMax: number): string =>
  `The audio is more than ${secondsMax} s ahead of what could be sent on. Send it more slowly; what was accepted is transcribed.`;
