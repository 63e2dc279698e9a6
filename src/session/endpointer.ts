// Ends turns for models that make none, or that let them grow without end: where speech has been followed by enough silence,
// or a turn with speech has become too long.
// Positions in, a decision out; what is said to the model, and when the audio leaves, is the leg's.
import type { AudioPipeline } from '../audio/pipeline.ts';
import type { Endpointing } from '../providers/provider.ts';

export class Endpointer {
  private readonly silenceSamples: number;
  private readonly longestSamples: number;
  /** Where the current turn began: not before the end of the last one, and not in the silence behind that. */
  private from: number;

  constructor({ silenceMs, longestMs }: Endpointing, sampleRate: number, originSample: number) {
    this.silenceSamples = Math.round((silenceMs * sampleRate) / 1000);
    this.longestSamples = Math.round((longestMs * sampleRate) / 1000);
    this.from = originSample;
  }

  /** The turn was ended there for another reason. */
  ended(sample: number): void {
    this.from = sample;
  }

  /** Whether the turn is to end behind what the leg has been given. Then the next turn begins there. Never in silence alone. */
  due(pipeline: Pick<AudioPipeline, 'sentSamples' | 'coveredSamples' | 'speechEndAfter' | 'speechSince'>): boolean {
    const { sentSamples } = pipeline;
    // Turns that the model has ended by itself count as well.
    const from = Math.max(this.from, pipeline.coveredSamples);
    // A turn begins with its first word: the silence before it makes it no longer.
    if (!pipeline.speechSince(from)) {
      this.from = Math.max(from, sentSamples);
      return false;
    }
    const speechEnd = pipeline.speechEndAfter(from, this.silenceSamples);
    const isOver = speechEnd !== undefined && sentSamples >= speechEnd + this.silenceSamples;
    const isTooLong = sentSamples - from >= this.longestSamples;
    if (!isOver && !isTooLong) return false;
    this.from = sentSamples;
    return true;
  }
}
