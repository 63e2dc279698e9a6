// Ends turns for models that make none, or that let them grow without end: where speech has been followed by enough silence,
// or a turn with speech has become too long.
// Positions in, a decision out; what is said to the model, and when the audio leaves, is the leg's.
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { Endpointing } from '../../providers/provider.ts';

/** What is known of the audio. */
type EndpointerAudio = Pick<
  AudioPipeline,
  'sentSamples' | 'coveredSamples' | 'meter' | 'speechStartAfter' | 'speechSince' | 'soundSince'
>;

export class Endpointer {
  readonly #silenceSamples: number;
  readonly #longestSamples: number;
  /** Where the current turn began: not before the end of the last one, and not in the silence behind that. */
  #from: number;

  constructor({ silenceMs, longestMs }: Endpointing, sampleRate: number, originSample: number) {
    this.#silenceSamples = Math.round((silenceMs * sampleRate) / 1000);
    this.#longestSamples = Math.round((longestMs * sampleRate) / 1000);
    this.#from = originSample;
  }

  /** The turn was ended there for another reason. */
  ended(sample: number): void {
    this.#from = sample;
  }

  /** Whether the turn is to end behind what the leg has been given. Then the next turn begins there. Never in silence alone. */
  due(pipeline: EndpointerAudio): boolean {
    const { sentSamples } = pipeline;
    // Turns that the model has ended by itself count as well.
    this.#from = Math.max(this.#from, pipeline.coveredSamples);
    if (!pipeline.speechSince(this.#from)) return this.#quietlyDue(pipeline);
    const speechEnd = pipeline.meter.speech.endAfter(this.#from, this.#silenceSamples);
    const isOver = speechEnd !== undefined && sentSamples >= speechEnd + this.#silenceSamples;
    // A turn begins with its first word: what was before makes it no longer.
    const isTooLong = sentSamples - pipeline.speechStartAfter(this.#from) >= this.#longestSamples;
    if (!isOver && !isTooLong) return false;
    this.#from = sentSamples;
    return true;
  }

  /** Nothing was loud enough to be taken for speech. A speaker far from the microphone is that quiet. */
  #quietlyDue(pipeline: EndpointerAudio): boolean {
    const { sentSamples } = pipeline;
    const hasSound = pipeline.soundSince(this.#from);
    const isDue = hasSound && sentSamples - this.#from >= this.#longestSamples;
    if (isDue || !hasSound) this.#from = Math.max(this.#from, sentSamples);
    return isDue;
  }
}
