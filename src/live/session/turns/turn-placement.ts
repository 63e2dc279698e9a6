// Where in the session lies what a leg has heard: on the session's own timeline, rising, finite, and within the audio received.
import type { Utterance, Word } from '../../../../machines/events.ts';
import { readable } from '../../../api/text.ts';
import { LegTimeline } from '../../../audio/leg-timeline.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import { utteranceOf, wordOf } from '../../../vendors/kit/words.ts';
import { secondsOf } from '../event-writer.ts';

/** Times on the wire are rounded. */
const ROUNDING_SECONDS = 0.02;
/** Jitter and overlapping words let a final begin at most this long before the end of the last one. */
const REACH_SECONDS = 0.3;
/** Overlapping words of one turn: a word begins at most this long before the previous one. */
const TEAR_SECONDS = 0.5;
/** At least this share of the time of words is sound. */
const AUDIBLE_SHARE_MIN = 0.5;
const JITTER_SECONDS = 0.1;
/** Less speech is not a word, so a final is not taken for it. */
const SPEECH_SECONDS_MIN = 0.1;
/** A corrected turn ends at a pause of this length, where one is near. */
const PAUSE_SECONDS = 0.2;
const NEAR_SECONDS = 0.5;

type Audio = Pick<AudioPipeline, 'receivedSamples' | 'sentSamples' | 'speechStartAfter' | 'meter'>;

/** One for each session. Times of a leg are seconds of its own clock. */
export class TurnPlacement {
  readonly #pipeline: Audio;
  readonly #sampleRate: number;
  #timeline = new LegTimeline();
  /** How much earlier than the audio the leg's times are, in samples: 0 unless its clock was found to be wrong. */
  #earlySamples = 0;
  /** End of the last final: nothing later may start before it. */
  lastEndSample = 0;

  constructor(pipeline: Audio, sampleRate: number) {
    this.#pipeline = pipeline;
    this.#sampleRate = sampleRate;
  }

  /** What a new leg hears lies there. */
  beginLeg(timeline: LegTimeline): void {
    this.#timeline = timeline;
    this.#earlySamples = 0;
  }

  /**
   * Compares the times of a final with the audio that was sent, and corrects the leg's clock where they cannot be right. A final that
   * covers the wrong audio makes the next leg transcribe words twice, or never: its words are taken for the next speech without a final.
   *
   * @param isLate whether words of it were received after the last final
   * @param hasGoneBack whether the clock went back before
   */
  judge(utterance: Utterance, isLate: boolean, hasGoneBack: boolean): void {
    const isPlausible = this.#isPlausible(utterance, isLate, hasGoneBack);
    if (this.#earlySamples === 0 && isPlausible) return;
    if (this.#isRightAgain(utterance, isLate, hasGoneBack)) {
      this.#earlySamples = 0;
      return;
    }
    const last = boundsOf(utterance)[1];
    if (!Number.isFinite(last)) return;
    const near = isPlausible ? this.#pauseNear(this.#placeOf(last)) : undefined;
    this.#setClock(last, near ?? this.#nextSpeechEnd(this.samplesOf(lengthOf(utterance))));
  }

  /** Whether the place of settled words can be relied on. Words at the very end of the audio sent may continue in audio not sent yet. */
  isKnown(utterance: Utterance, hasGoneBack: boolean): boolean {
    const ended = this.#placeOf(boundsOf(utterance)[1]);
    return (
      this.#isPlausible(utterance, true, hasGoneBack) &&
      ended < this.#pipeline.sentSamples - this.samplesOf(ROUNDING_SECONDS)
    );
  }

  /**
   * Whether the times are sound within the audio sent and after the last final. A final whose words were all received before the last
   * final may lie before it: it is only late.
   */
  #isPlausible(
    utterance: Utterance,
    isLate: boolean,
    hasGoneBack: boolean,
    earlySamples = this.#earlySamples,
  ): boolean {
    const [began, ended] = boundsOf(utterance).map((seconds) => this.#placeOf(seconds, earlySamples)) as [
      number,
      number,
    ];
    const rounding = this.samplesOf(ROUNDING_SECONDS);
    const reachesBack = began < this.lastEndSample - this.samplesOf(REACH_SECONDS);
    // Adapters keep the end of a turn from going back to before its beginning.
    const isPoint = ended <= began && utterance.words?.length !== 1;
    const isBefore = isLate && reachesBack && ended <= this.lastEndSample + rounding;
    const { sentSamples } = this.#pipeline;
    const isAhead = began >= sentSamples - rounding && ended > sentSamples + rounding;
    if (isTorn(utterance) || isPoint || isBefore || isAhead || (reachesBack && hasGoneBack)) return false;
    return this.#isAudible(began, ended, utterance.words === undefined ? 0 : AUDIBLE_SHARE_MIN);
  }

  /** Whether enough of the range is sound, or no speech follows that the words could be instead. */
  #isAudible(began: number, ended: number, shareMin: number): boolean {
    const { meter, sentSamples } = this.#pipeline;
    const [from, to] = [Math.max(began, this.lastEndSample), ended + this.samplesOf(JITTER_SECONDS)];
    const audible = meter.audible.within(from - this.samplesOf(JITTER_SECONDS), to);
    return audible > shareMin * (ended - from) || this.#nextSpeechStart >= sentSamples;
  }

  /** Whether the provider's own times fit the next speech, so that the correction can end. */
  #isRightAgain(utterance: Utterance, isLate: boolean, hasGoneBack: boolean): boolean {
    const began = this.#placeOf(boundsOf(utterance)[0], 0);
    const next = this.#nextSpeechStart;
    return this.#isPlausible(utterance, isLate, hasGoneBack, 0) && began >= next - this.samplesOf(NEAR_SECONDS);
  }

  #placeOf(seconds: number, earlySamples = this.#earlySamples): number {
    return this.#timeline.endOf(this.samplesOf(seconds) + earlySamples);
  }

  /** From now on this time of the leg is that sample of the session. */
  #setClock(seconds: number, sample: number | undefined): void {
    if (sample !== undefined) this.#earlySamples = this.#timeline.legOf(sample) - this.samplesOf(seconds);
  }

  /** Where the speech after the last final begins, without the rest of its last word. */
  get #nextSpeechStart(): number {
    return this.#pipeline.speechStartAfter(this.lastEndSample + this.samplesOf(JITTER_SECONDS));
  }

  /** Where the speech after the last final ends: at the last pause if its length is unknown. */
  #nextSpeechEnd(length: number): number | undefined {
    const { sentSamples, meter } = this.#pipeline;
    const from = Math.max(this.lastEndSample, this.#nextSpeechStart);
    if (sentSamples - from < this.samplesOf(SPEECH_SECONDS_MIN)) return undefined;
    if (length > 0) {
      const end = Math.min(sentSamples, from + length);
      return this.#pauseNear(end) ?? end;
    }
    let end: number | undefined;
    for (let next: number | undefined = from; next !== undefined && next <= sentSamples; ) {
      next = meter.speech.endAfter(next, this.samplesOf(PAUSE_SECONDS));
      if (next !== undefined) end = next;
    }
    return Math.min(sentSamples, end ?? sentSamples);
  }

  /** Where a pause begins near a sample. */
  #pauseNear(sample: number): number | undefined {
    const near = this.samplesOf(NEAR_SECONDS);
    const end = this.#pipeline.meter.speech.endAfter(sample - near, this.samplesOf(PAUSE_SECONDS));
    return end !== undefined && end <= sample + near ? Math.min(this.#pipeline.sentSamples, end) : undefined;
  }

  secondsOf(sample: number): number {
    return secondsOf(sample, this.#sampleRate);
  }

  samplesOf(seconds: number): number {
    return Math.round(seconds * this.#sampleRate);
  }

  /** Where what begins at this time of the leg begins in the session. */
  startSampleOf(seconds: number): number {
    return this.#clamp(this.#timeline.startOf(this.#legSampleOf(seconds)));
  }

  /** Where what ends at this time of the leg ends in the session. */
  endSampleOf(seconds: number): number {
    return this.#clamp(this.#timeline.endOf(this.#legSampleOf(seconds)));
  }

  /** Where a turn without words ends. With a wrong clock it must not cover the next speech, whose words may still arrive. */
  quietEndOf(seconds: number): number {
    const end = this.endSampleOf(seconds);
    const isAhead = this.#placeOf(seconds) > this.#pipeline.sentSamples + this.samplesOf(NEAR_SECONDS);
    if (this.#earlySamples === 0 && !isAhead) return end;
    return Math.min(end, this.#nextSpeechStart);
  }

  /** The utterance with its times on the session's timeline. */
  placed(utterance: Utterance): Utterance {
    const { words } = utterance;
    const [first, last] = [words?.[0], words?.at(-1)];
    // A word lies on one side of what the leg was not given; an utterance that begins or ends with it does so as well.
    const from =
      first?.start === utterance.start ? this.#clamp(this.#wordAt(first).start) : this.startSampleOf(utterance.start);
    // The clock was corrected at the last word, and the next leg receives what follows that word.
    const isBackwards = isTorn(utterance);
    const isWord = last !== undefined && (isBackwards || last.end === utterance.end);
    const until = isWord ? this.#clamp(this.#wordAt(last).end) : this.endSampleOf(utterance.end);
    const end = isBackwards ? until : Math.max(from, until);
    const start = Math.min(from, end);
    const { confidence, speaker, language, noSpeech } = utterance;
    return utteranceOf(readable(utterance.text), this.secondsOf(start), this.secondsOf(end), {
      confidence,
      speaker,
      language,
      noSpeech,
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
    return this.#timeline.wordOf(this.#legSampleOf(word.start), this.#legSampleOf(word.end));
  }

  #legSampleOf(seconds: number): number {
    return this.samplesOf(seconds) + this.#earlySamples;
  }

  #clamp(sample: number): number {
    return within(this.lastEndSample, sample, this.#pipeline.receivedSamples);
  }
}

const boundsOf = ({ start, end, words }: Utterance): [number, number] => [
  words?.[0]?.start ?? start,
  words?.at(-1)?.end ?? end,
];

/** Seconds that the words took. 0 where that is unknown. */
function lengthOf(utterance: Utterance): number {
  if (utterance.words === undefined || isTorn(utterance)) return 0;
  const [first, last] = boundsOf(utterance);
  return last - first;
}

/** Whether the clock went back within the words. */
const isTorn = ({ words = [] }: Utterance): boolean =>
  words.some(({ start }, index) => start < (words[index - 1]?.start ?? start) - TEAR_SECONDS);

/** The sample kept between two others; one that is not a number is the first of them. */
const within = (low: number, sample: number, high: number): number =>
  Number.isFinite(sample) ? Math.min(high, Math.max(low, sample)) : low;
