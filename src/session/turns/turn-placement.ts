// Where in the session lies what a leg has heard: on the session's own timeline, rising, finite, and within the audio received.
import type { Utterance, Word } from '../../../machines/events.ts';
import { readable } from '../../api/text.ts';
import { LegTimeline } from '../../audio/leg-timeline.ts';
import type { AudioPipeline } from '../../audio/pipeline.ts';
import { utteranceOf, wordOf } from '../../providers/kit/words.ts';
import { secondsOf } from '../timeline.ts';

/** One for each session. Times of a leg are seconds of its own clock. */
export class TurnPlacement {
  readonly #pipeline: Pick<AudioPipeline, 'receivedSamples'>;
  readonly #sampleRate: number;
  #timeline = new LegTimeline();
  /** End of the last final: nothing later may start before it. */
  lastEndSample = 0;

  constructor(pipeline: Pick<AudioPipeline, 'receivedSamples'>, sampleRate: number) {
    this.#pipeline = pipeline;
    this.#sampleRate = sampleRate;
  }

  /** What a new leg hears lies there. */
  beginLeg(timeline: LegTimeline): void {
    this.#timeline = timeline;
  }

  secondsOf(sample: number): number {
    return secondsOf(sample, this.#sampleRate);
  }

  samplesOf(seconds: number): number {
    return Math.round(seconds * this.#sampleRate);
  }

  /** Where what begins at this time of the leg begins in the session. */
  startSampleOf(seconds: number): number {
    return this.#clamp(this.#timeline.startOf(this.samplesOf(seconds)));
  }

  /** Where what ends at this time of the leg ends in the session. */
  endSampleOf(seconds: number): number {
    return this.#clamp(this.#timeline.endOf(this.samplesOf(seconds)));
  }

  /** The utterance with its times on the session's timeline. */
  placed(utterance: Utterance): Utterance {
    const { words } = utterance;
    const [first, last] = [words?.[0], words?.at(-1)];
    // A word lies on one side of what the leg was not given; an utterance that begins or ends with it does so as well.
    const start =
      first?.start === utterance.start ? this.#clamp(this.#wordAt(first).start) : this.startSampleOf(utterance.start);
    const until = last?.end === utterance.end ? this.#clamp(this.#wordAt(last).end) : this.endSampleOf(utterance.end);
    const end = Math.max(start, until);
    const { confidence, speaker, language } = utterance;
    return utteranceOf(readable(utterance.text), this.secondsOf(start), this.secondsOf(end), {
      confidence,
      speaker,
      language,
      words: words?.map((word) => this.#placedWord(word, start, end)),
    });
  }

  #placedWord(word: Word, start: number, end: number): Word {
    const place = this.#wordAt(word);
    const from = within(start, place.start, end);
    const to = within(from, place.end, end);
    const { confidence, speaker } = word;
    return wordOf(readable(word.word), this.secondsOf(from), this.secondsOf(to), confidence, speaker);
  }

  #wordAt(word: Word): { start: number; end: number } {
    return this.#timeline.wordOf(this.samplesOf(word.start), this.samplesOf(word.end));
  }

  #clamp(sample: number): number {
    return within(this.lastEndSample, sample, this.#pipeline.receivedSamples);
  }
}

/** The sample kept between two others; one that is no number is the first of them. */
const within = (low: number, sample: number, high: number): number =>
  Number.isFinite(sample) ? Math.min(high, Math.max(low, sample)) : low;
