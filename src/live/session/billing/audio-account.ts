// How far a session's audio is dealt with: whether some of it is owed its final, and up to where it is billed when it ends now.
import type { SessionEndReason } from '../../../../machines/events.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { cutChargeOf } from './end-charges.ts';
import type { Usage } from './usage.ts';

/** Less audio than this holds no word: providers tell the end of a turn in milliseconds. */
const OWED_MS_MIN = 2;
export class AudioAccount {
  readonly #pipeline: AudioPipeline;
  readonly #usage: Usage;
  readonly #sampleRate: number;
  /** Everything has its final, whatever the positions of the finals leave over. */
  finishedInOrder = false;
  /** The leg that audio was sent to last works, or was released while it did. */
  isLegGood = false;

  constructor(pipeline: AudioPipeline, usage: Usage, sampleRate: number) {
    this.#pipeline = pipeline;
    this.#usage = usage;
    this.#sampleRate = sampleRate;
  }

  /** A final of the model covers everything up to the sample. Its provider may place the end of a turn behind what it was sent. */
  covered(sample: number, model: string): void {
    this.#usage.covered(Math.min(sample, this.#pipeline.sentSamples), model);
    this.#pipeline.trim(sample);
  }

  /** The leg that hears has said what it makes of the audio up to the sample. Words, too, may be placed behind what it was sent. */
  answered(sample: number): void {
    this.#usage.answered(Math.min(sample, this.#pipeline.sentSamples));
  }

  /** Whether there is audio that no final covers: more than a rounding of a provider's times. */
  get isOwed(): boolean {
    const { coveredSamples, receivedSamples, cutSamples } = this.#pipeline;
    return (receivedSamples - cutSamples - coveredSamples) * 1000 > OWED_MS_MIN * this.#sampleRate;
  }

  /** Whether there is no sound, or no speech, in what another leg would hear again. */
  lacks(what: 'sound' | 'speech'): boolean {
    const { replaySample } = this.#pipeline;
    return what === 'sound' ? !this.#pipeline.soundSince(replaySample) : !this.#pipeline.speechSince(replaySample);
  }

  /** Up to where some leg has answered for the audio. */
  get answeredSamples(): number {
    return this.#usage.answeredSamples;
  }

  /** The leg has said all there was to say: the silence behind the last final was heard as well. */
  heardWhatWasSent(): void {
    const { sentSamples } = this.#pipeline;
    this.#usage.passedOver(sentSamples);
    this.#pipeline.trim(sentSamples);
  }

  /** When the session ends so: up to where it has finals, and up to where it is billed. */
  endOf(reason: SessionEndReason, code: string | null): { isOwed: boolean; finalsTo: number; billedTo: number } {
    const { coveredSamples, receivedSamples, cutSamples, sentSamples } = this.#pipeline;
    if (this.finishedInOrder || !this.isOwed) {
      const heardTo = receivedSamples - cutSamples;
      return { isOwed: false, finalsTo: heardTo, billedTo: heardTo };
    }
    const { answeredSamples } = this.#usage;
    const charge = cutChargeOf(reason, code);
    const billedTo = {
      sent: this.isLegGood ? Math.max(answeredSamples, sentSamples) : answeredSamples,
      answered: answeredSamples,
      finals: coveredSamples,
    }[charge];
    return { isOwed: true, finalsTo: coveredSamples, billedTo };
  }
}
