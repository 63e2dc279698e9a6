// What becomes of a client's audio before it is on the tape: files in disguise, a backlog past its bound, audio that comes
// too late, and audio that comes at an odd speed are told apart here. What is done about them is the session's decision.
import { isCoded, type ListenRequest } from '../../../api/listen.ts';
import { ContainerSniffer } from '../../../audio/containers/detection.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { containerWords } from '../../../audio/streams/sound-stream.ts';
import type { SpoolShortage } from '../../../audio/tape/spool.ts';
import type { Charts } from '../charts.ts';
import type { EventWriter } from '../event-writer.ts';
import type { SessionDependencies, SessionOpening } from '../session-opening.ts';
import type { Signals } from '../signals.ts';
import { LayoutWatch, RateWatch } from './format-watch.ts';

/** The parts of the session that its audio concerns. */
export interface IntakeParts {
  pipeline: AudioPipeline;
  /** Seconds of audio the session may hold ahead of what was sent on. */
  backlogSecondsMax: number;
  events: Pick<EventWriter, 'damaged' | 'lateAudio' | 'rateSuspect' | 'layoutSuspect'>;
  charts: Pick<Charts, 'endError'>;
  signals: Signals;
}

export class AudioIntake {
  readonly #request: ListenRequest;
  readonly #dependencies: Pick<SessionDependencies, 'clock' | 'totals'>;
  readonly #parts: IntakeParts;
  /** None where the audio says itself what it is, and how fast it is. */
  readonly #sniffer: ContainerSniffer | undefined;
  readonly #rateWatch: RateWatch | undefined;
  readonly #layoutWatch: LayoutWatch | undefined;
  #isLateReported = false;
  /** Only what is decoded tells of damage. */
  #isDamageReported: boolean;

  constructor(
    { request }: SessionOpening,
    dependencies: Pick<SessionDependencies, 'clock' | 'totals'>,
    parts: IntakeParts,
  ) {
    this.#request = request;
    this.#dependencies = dependencies;
    this.#parts = parts;
    const { encoding, sampleRate } = request;
    const isRaw = !isCoded(encoding);
    this.#isDamageReported = isRaw;
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
    const { totals, clock } = this.#dependencies;
    const { pipeline } = this.#parts;
    if (pipeline.ended) {
      this.#late();
      return false;
    }
    const sniffer = this.#sniffer;
    const container = sniffer === undefined || sniffer.settled ? undefined : sniffer.look(bytes);
    if (container !== undefined) {
      this.#parts.signals.emit('abort', 'unsupported_audio', containerWords(container, this.#request.encoding));
      return false;
    }
    const before = pipeline.receivedSamples;
    const taken = pipeline.push(bytes);
    if (taken === 'backlog_exceeded') {
      totals.dropped('audio_backlog');
      // What was taken before stays.
      const { code, message } = backlogOf(this.#parts.backlogSecondsMax, pipeline.shortage);
      this.#parts.signals.emit('stop', 'error', code, message);
      return false;
    }
    totals.audioReceived((pipeline.receivedSamples - before) / this.#request.sampleRate);
    if (!this.#isDamageReported && pipeline.damagedPieces > 0) {
      this.#isDamageReported = true;
      this.#parts.events.damaged();
    }
    if (taken === 'unsupported') {
      this.#parts.signals.emit('abort', 'unsupported_audio', pipeline.fault ?? '');
      return false;
    }
    const ratio = this.#rateWatch?.note(pipeline.receivedSamples, clock.now());
    if (ratio !== undefined) this.#parts.events.rateSuspect(ratio);
    const layout = this.#layoutWatch?.note(bytes);
    if (layout !== undefined) this.#parts.events.layoutSuspect(layout);
    return true;
  }

  #late(): void {
    this.#dependencies.totals.dropped('audio_after_close');
    if (this.#isLateReported) return;
    this.#isLateReported = true;
    this.#parts.events.lateAudio(this.#parts.charts.endError);
  }
}

/** What a client is told when its audio is further ahead than can be held: which limit was reached, and whose it is. */
interface Backlog {
  code: 'audio_backlog_exceeded' | 'overloaded';
  message: string;
}

/** @param shortage of the spool; undefined when the session holds as much as it may */
function backlogOf(secondsMax: number, shortage: SpoolShortage | undefined): Backlog {
  const message = `The audio is more than ${secondsMax} s ahead of what could be sent on. Send it more slowly.`;
  const backlog =
    shortage === undefined ? { code: 'audio_backlog_exceeded' as const, message } : spoolBacklog(shortage);
  return { ...backlog, message: `${backlog.message} What was accepted is transcribed.` };
}

/** The spool takes no more, however little this session has in it. */
export function spoolBacklog(shortage: SpoolShortage): Backlog {
  if (shortage === 'share') {
    const message =
      'The sessions of your organisation hold as much audio on the disk of this node as one organisation may. Send audio at the pace of speech, or fewer recordings at a time.';
    return { code: 'audio_backlog_exceeded', message };
  }
  const message =
    shortage === 'full'
      ? 'This node has no room left for audio that waits. Try again later, or send audio at the pace of speech.'
      : 'This node could not write audio that waits to its disk. Try again later, or send audio at the pace of speech.';
  return { code: 'overloaded', message };
}
