// Turns without words in which somebody spoke: where that is asked for, the next model hears them as well. No audio is heard again
// twice for that.
import type { LegFailure } from '../../../machines/events.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import type { Degradation } from '../../failover/chain.ts';
import { noWords } from '../../failover/no-words.ts';

export interface EmptyTurnsParts {
  isAskedFor: boolean;
  pipeline: Pick<AudioPipeline, 'coveredSamples' | 'sentSamples' | 'speechStartAfter'>;
  /** Whether another model could take over. */
  hasNext(): boolean;
  /** The leg is taken for failed. */
  fail(failure: LegFailure): void;
  /** Tells the client, once in the session. */
  warnOnce(warning: Degradation): void;
}

export class EmptyTurns {
  readonly #parts: EmptyTurnsParts;
  /** Up to where audio is heard for the second time. */
  #againToSample = 0;

  constructor(parts: EmptyTurnsParts) {
    this.#parts = parts;
  }

  /** A turn without words ends at this sample. Gives whether its audio is heard again: then it is no turn. */
  isHeardAgain(endSample: number): boolean {
    const { isAskedFor, pipeline, hasNext, fail, warnOnce } = this.#parts;
    const { coveredSamples, sentSamples } = pipeline;
    if (!isAskedFor || endSample <= this.#againToSample) return false;
    if (pipeline.speechStartAfter(coveredSamples) >= endSample) return false;
    if (hasNext()) {
      this.#againToSample = sentSamples;
      fail(noWords);
      return true;
    }
    warnOnce({
      code: 'empty_result',
      message:
        'The model found no words in a turn with sound in it as loud as speech, and no other is left to hear it.',
    });
    return false;
  }
}
