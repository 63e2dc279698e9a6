// Ends turns for models that make none, or that let them grow without end: where speech has been followed by enough silence,
// or a turn with speech has become too long.
// Positions in, a decision out; what is said to the model, and when the audio leaves, is the leg's.
import type { AudioPipeline } from '../audio/pipeline.ts';
import type { Endpointing } from '../providers/provider.ts';

export class Endpointer {
  private readonly silenceSamples: number;
  private readonly longestSamples: number;
  /** Where the current turn began: its origin on the leg, or where the one before was ended. */
  private from: number;

  constructor({ silenceMs, longestMs }: Endpointing, sampleRate: number, originSample: number) {
    this.silenceSamples = Math.round((silenceMs * sampleRate) / 1000);
    this.longestSamples = Math.round((longestMs * sampleRate) / 1000);
    this.from = originSample;
  }

  /** Whether the turn is to end behind what the leg has been given. Then the next turn begins there. Never in silence alone. */
  due(pipeline: Pick<AudioPipeline, 'sentSamples' | 'coveredSamples' | 'speechEndAfter' | 'speechSince'>): boolean {
    const { sentSamples } = pipeline;
    // Turns that the model has ended by itself count as well.
    const from = Math.max(this.from, pipeline.coveredSamples);
    const speechEnd = pipeline.speechEndAfter(from, this.silenceSamples);
    const isOver = speechEnd !== undefined && sentSamples >= speechEnd + this.silenceSamples;
    const isTooLong = sentSamples - from >= this.longestSamples && pipeline.speechSince(from);
    if (!isOver && !isTooLong) return false;
    this.from = sentSamples;
    return true;
  }
}
