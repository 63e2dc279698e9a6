// Files through a live codec: one leg, unpaced, as fast as it takes the audio; the finals are joined. Where the audio comes
// from, and who is answered, is decided elsewhere.

import type { Heard, LegReport, OpenLeg, Utterance } from '../../machines/events.ts';
import { BYTES_PER_SAMPLE } from '../api/audio-formats.ts';
import { LegFailed } from '../live/upstream/leg-failures.ts';
import type { LegHandle, UpstreamHost } from '../live/upstream/upstream-host.ts';
import type { BatchResult } from '../vendors/kit/provider.ts';
import { finalMissing, TurnText } from '../vendors/kit/turn-text.ts';

/** A leg that is alive is waited for so long behind the end of the audio, as a file's answer by HTTP is. */
const ANSWER_MS = 600_000;

/**
 * Transcribes audio through one live leg.
 *
 * @param request the leg; its `session` is of no use here
 * @param audio linear16 at `request.sampleRate`, in chunks of any even length, each valid until the next is requested
 * @param onUtterance hears each utterance of the result, in order, as soon as nothing about it can change
 * @throws LegFailed when the leg fails; the signal's reason when aborted; what `audio` throws
 */
export async function transcribeThroughLeg(
  upstream: UpstreamHost,
  legId: string,
  request: OpenLeg,
  audio: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  onUtterance?: (utterance: Utterance) => void,
): Promise<BatchResult> {
  signal.throwIfAborted();
  const job = new LegJob(onUtterance);
  const leg = upstream.open(legId, request, (report) => job.take(report));
  const abort = () => job.fail(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    await job.until(() => job.ready);
    // One second of audio is the most that a frame may hold.
    await job.send(leg, audio, BYTES_PER_SAMPLE * request.sampleRate);
    await job.finish(leg);
    return job.result();
  } finally {
    signal.removeEventListener('abort', abort);
    leg.command({ type: 'leg.close' });
  }
}

/** The leg's reports, as states to wait for. */
class LegJob {
  ready = false;
  #finished = false;
  /** Nothing was heard since it was to finish. */
  #isSilent = false;
  #isOverdue = false;
  #pressed = false;
  #fault: { error: unknown } | undefined;
  #wake: (() => void) | undefined;
  #sequence = 0;
  readonly #text = new TurnText();
  readonly #utterances: Utterance[] = [];
  readonly #warnings: BatchResult['warnings'] = [];
  #language: string | undefined;
  readonly #onUtterance: ((utterance: Utterance) => void) | undefined;
  /** Utterances that were told. */
  #told = 0;

  constructor(onUtterance: ((utterance: Utterance) => void) | undefined) {
    this.#onUtterance = onUtterance;
  }

  take(report: LegReport): void {
    if (report.type === 'leg.ready') this.ready = true;
    else if (report.type === 'leg.finished') this.#finished = true;
    else if (report.type === 'leg.pressure') this.#pressed = report.high;
    else if (report.type === 'leg.failed') this.#fault ??= { error: new LegFailed(report.failure) };
    else if (report.type === 'leg.overdue') this.#isOverdue = true;
    else if (report.type === 'leg.heard') {
      this.#isSilent = false;
      this.#hear(report.heard);
    }
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#fault ??= { error };
    this.#wake?.();
  }

  /** Resolves when the state is reached; rejects when the job has failed. */
  async until(reached: () => boolean): Promise<void> {
    for (;;) {
      if (this.#fault !== undefined) throw this.#fault.error;
      if (reached()) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Gives the leg all of the audio, as it comes and as there is room. */
  async send(leg: LegHandle, audio: AsyncIterable<Uint8Array>, frameBytesMax: number): Promise<void> {
    const chunks = audio[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#nextOf(chunks);
        if (next.done === true) return;
        for (let at = 0; at < next.value.length; at += frameBytesMax) {
          await this.until(() => !this.#pressed);
          this.#sequence++;
          const bytes = next.value.subarray(at, at + frameBytesMax);
          leg.command({ type: 'leg.audio', sequence: this.#sequence }, bytes);
        }
      }
    } catch (error) {
      // Not waited for: a source in the middle of a read may take its time.
      chunks.return?.().catch(() => {});
      throw error;
    }
  }

  /** Resolves when the leg has said all of it. One that takes longer than its provider needs as a rule is heard out while it speaks. */
  async finish(leg: LegHandle): Promise<void> {
    this.#isSilent = true;
    leg.command({ type: 'leg.finish', waitMs: ANSWER_MS });
    await this.until(() => this.#finished || this.#isOverdue);
    if (!this.#finished && this.#isSilent) leg.command({ type: 'leg.stalled' });
    await this.until(() => this.#finished);
  }

  /** The next chunk; a job that fails meanwhile does not wait for it. */
  async #nextOf(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    const read: { next?: IteratorResult<Uint8Array> } = {};
    chunks.next().then(
      (next) => {
        read.next = next;
        this.#wake?.();
      },
      (error: unknown) => this.fail(error),
    );
    await this.until(() => read.next !== undefined);
    return read.next as IteratorResult<Uint8Array>;
  }

  /** What was heard. Throws when words were heard that never became final: a part is not a transcription. */
  result(): BatchResult {
    if (this.#text.open) throw new LegFailed(finalMissing);
    this.#tell(this.#utterances.length);
    return { utterances: this.#utterances, language: this.#language, seconds: undefined, warnings: this.#warnings };
  }

  #hear(heard: Heard): void {
    if (heard.type === 'warned') this.#warn(heard);
    if (!('turnId' in heard)) return;
    const step = this.#text.hear(heard);
    if (step.type === 'ended') this.#utterances.push(step.utterance);
    else if (step.type === 'formatted') this.#utterances[this.#utterances.length - 1] = step.utterance;
    this.#language = this.#utterances.at(-1)?.language ?? this.#language;
    // The formatted version of the last one may be still to come, and takes its place.
    const isOpen = step.type === 'ended' && step.formattedFollows;
    if (step.type === 'ended' || step.type === 'formatted') this.#tell(this.#utterances.length - (isOpen ? 1 : 0));
  }

  #warn({ code, message, once }: Extract<Heard, { type: 'warned' }>): void {
    if (once && this.#warnings.some((warning) => warning.code === code)) return;
    this.#warnings.push({ code, message });
  }

  /** Tells of those that were settled since, up to a count of all. */
  #tell(count: number): void {
    for (; this.#told < count; this.#told++) this.#onUtterance?.(this.#utterances[this.#told] as Utterance);
  }
}
