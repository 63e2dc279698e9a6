// Files through a live codec: one leg, unpaced, as fast as it takes the audio; the finals are joined. Where the audio comes
// from, and who is answered, is decided elsewhere.
import type { Heard, LegFailure, LegReport, OpenLeg, Utterance } from '../../machines/events.ts';
import type { BatchResult } from '../providers/provider.ts';
import { TurnText } from '../providers/turn-text.ts';
import type { LegHandle, UpstreamHost } from './live.ts';

/** The leg failed before it finished. */
export class LegFailed extends Error {
  override readonly name = 'LegFailed';
  readonly failure: LegFailure;

  constructor(failure: LegFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Bytes of one frame to the leg: one second at 16 kHz. */
const FRAME_BYTES = 32_000;

/**
 * Transcribes audio through one live leg.
 *
 * @param request the leg; its `session` is of no use here
 * @param audio linear16 at `request.sampleRate`, in chunks of any even length, each valid until the next is asked for
 * @throws LegFailed when the leg fails; the signal's reason when aborted; what `audio` throws
 */
export async function transcribeThroughLeg(
  upstream: UpstreamHost,
  legId: string,
  request: OpenLeg,
  audio: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<BatchResult> {
  const job = new LegJob();
  job.leg = upstream.open(legId, request, (report) => job.take(report));
  const abort = () => job.fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    signal.throwIfAborted();
    await job.until((state) => state.ready);
    for await (const chunk of audio) await job.send(chunk);
    job.leg.command({ type: 'leg.finish' });
    await job.until((state) => state.finished);
    return job.result();
  } finally {
    signal.removeEventListener('abort', abort);
    job.leg.command({ type: 'leg.close' });
  }
}

/** The leg's reports, as states to wait for. */
class LegJob {
  leg: LegHandle | undefined;
  ready = false;
  finished = false;
  private pressed = false;
  private fault: { error: unknown } | undefined;
  private wake: (() => void) | undefined;
  private sequence = 0;
  private readonly text = new TurnText();
  private readonly utterances: Utterance[] = [];
  private readonly warnings: BatchResult['warnings'] = [];
  private language: string | undefined;

  take(report: LegReport): void {
    if (report.type === 'leg.ready') this.ready = true;
    else if (report.type === 'leg.finished') this.finished = true;
    else if (report.type === 'leg.pressure') this.pressed = report.high;
    else if (report.type === 'leg.failed') this.fault ??= { error: new LegFailed(report.failure) };
    else this.hear(report.heard);
    this.wake?.();
  }

  fail(error: unknown): void {
    this.fault ??= { error };
    this.wake?.();
  }

  /** Resolves when the state is reached; rejects when the job has failed. */
  async until(reached: (state: LegJob) => boolean): Promise<void> {
    for (;;) {
      if (this.fault !== undefined) throw this.fault.error;
      if (reached(this)) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  async send(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; at += FRAME_BYTES) {
      await this.until((state) => !state.pressed);
      this.sequence++;
      this.leg?.command({ type: 'leg.audio', sequence: this.sequence }, chunk.subarray(at, at + FRAME_BYTES));
    }
  }

  result(): BatchResult {
    return { utterances: this.utterances, language: this.language, warnings: this.warnings };
  }

  private hear(heard: Heard): void {
    if (heard.type === 'warned') this.warnings.push({ code: heard.code, message: heard.message });
    if (!('turnId' in heard)) return;
    const step = this.text.hear(heard);
    if (step.type === 'ended') this.utterances.push(step.utterance);
    else if (step.type === 'formatted') this.utterances[this.utterances.length - 1] = step.utterance;
    this.language = this.utterances.at(-1)?.language ?? this.language;
  }
}
