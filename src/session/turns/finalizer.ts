// When a leg is told to end a turn: where the client asked for it, behind the turn's audio; and where the gateway hears an end,
// for a model that makes no turns itself.
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { Endpointing } from '../../providers/provider.ts';
import { Endpointer } from './endpointer.ts';
import { TurnEnds } from './turn-ends.ts';

export class Finalizer {
  readonly #pipeline: AudioPipeline;
  readonly #sampleRate: number;
  readonly #ends = new TurnEnds();
  #endpointer: Endpointer | undefined;

  constructor(pipeline: AudioPipeline, sampleRate: number) {
    this.#pipeline = pipeline;
    this.#sampleRate = sampleRate;
  }

  /** A new leg. Turns that were to end did not: the leg before failed, and this one hears them again. */
  begin(endpointing: Endpointing | undefined, originSample: number): void {
    this.#endpointer =
      endpointing === undefined ? undefined : new Endpointer(endpointing, this.#sampleRate, originSample);
    this.#ends.covered(this.#pipeline.coveredSamples);
    this.#ends.rewind();
  }

  /** The current turn is to end once the audio received so far has left. False when too many are asked for already. */
  ask(): boolean {
    this.#pipeline.flush();
    this.#ends.covered(this.#pipeline.coveredSamples);
    return this.#ends.ask(this.#pipeline.receivedSamples);
  }

  /** Calls `tell` for each turn that is to end now, as far as its audio may leave at all. */
  tellDue(nowMs: number, tell: () => void): void {
    const pipeline = this.#pipeline;
    for (let end = this.#ends.next; end !== undefined; end = this.#ends.next) {
      // An end within what is held back, with nothing more to leave by itself, does not wait for it. What waits for money will leave.
      if (pipeline.sentSamples < end && (pipeline.starved || pipeline.waitMs(nowMs) < Number.POSITIVE_INFINITY)) break;
      this.#ends.tellNext();
      this.#endpointer?.ended(pipeline.sentSamples);
      tell();
    }
    if (this.#endpointer?.due(pipeline) === true) tell();
  }

  /** The turn ends behind what the leg was given, and it is told: no end up to there is due any more. */
  endedByPause(): void {
    const { sentSamples } = this.#pipeline;
    for (let end = this.#ends.next; end !== undefined && end <= sentSamples; end = this.#ends.next)
      this.#ends.tellNext();
    this.#endpointer?.ended(sentSamples);
  }
}
