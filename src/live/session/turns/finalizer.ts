// When a leg is told to end a turn: where the client asked for it, behind the turn's audio; and where the gateway hears an end,
// for a model that makes no turns itself. The audio itself is the leg's.
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import {
  type OpenVoiceScan,
  SCAN_LEAD_MS,
  type VoiceCheckOutcome,
  type VoiceScan,
} from '../../../recogniser/voice/scan.ts';
import type { Endpointing } from '../../../vendors/kit/provider.ts';

/** The second opinion on where a voice ends. */
export interface EndpointerVoices {
  scan: OpenVoiceScan;
  checked(outcome: VoiceCheckOutcome): void;
}

export class Finalizer {
  readonly #pipeline: AudioPipeline;
  readonly #sampleRate: number;
  readonly #ends = new TurnEnds();
  readonly #voices: EndpointerVoices;
  #endpointer: Endpointer | undefined;

  constructor(pipeline: AudioPipeline, sampleRate: number, voices: EndpointerVoices) {
    this.#pipeline = pipeline;
    this.#voices = voices;
    this.#sampleRate = sampleRate;
  }

  /** A new leg. Turns that were to end did not: the leg before failed, and this one hears them again. */
  begin(endpointing: Endpointing | undefined, originSample: number): void {
    this.stop();
    this.#endpointer =
      endpointing === undefined ? undefined : new Endpointer(endpointing, this.#sampleRate, originSample, this.#voices);
    this.#ends.covered(this.#pipeline.coveredSamples);
    this.#ends.rewind();
  }

  /** The leg is over. */
  stop(): void {
    this.#endpointer?.stop();
    this.#endpointer = undefined;
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
      // An end within what is held back, with nothing more to leave on its own, does not wait for it. What waits for money will leave.
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

/** Ends of turns that may be requested before their finals. */
const ENDS_MAX = 256;

/**
 * Speech that is louder than the energy meter's bound for so long, without a pause that ends the turn: it may be noise that goes on
 * after the words, so the voice detector listens as well.
 */
const NOISY_MS = 3_000;
/** The end of a voice counts where the detector is no further behind than this: somebody may have begun to speak again. */
const NOISY_LATE_MS = 600;
/**
 * A pause between voices is this much longer than one in quiet: where the next voice begins is known a little later, and a turn is not
 * to end within its first word.
 */
const NOISY_PAUSE_MS = 500;

/** What is known of the audio. */
type EndpointerAudio = Pick<
  AudioPipeline,
  'sentSamples' | 'coveredSamples' | 'meter' | 'speechStartAfter' | 'speechSince' | 'soundSince'
>;

/**
 * Ends turns for models that make none, or that let them grow without end: after enough silence, or when a turn with speech has
 * become too long.
 */
export class Endpointer {
  readonly #silenceSamples: number;
  readonly #longestSamples: number;
  /** Where the current turn began: not before the end of the last one, and not in the silence behind that. */
  #from: number;
  readonly #voices: EndpointerVoices;
  readonly #noisySamples: number;
  readonly #noisyPauseSamples: number;
  readonly #noisyLateSamples: number;
  readonly #leadSamples: number;
  #scan: VoiceScan | undefined;

  constructor(
    { silenceMs, longestMs }: Endpointing,
    sampleRate: number,
    originSample: number,
    voices: EndpointerVoices,
  ) {
    const samplesOf = (ms: number) => Math.round((ms * sampleRate) / 1000);
    this.#silenceSamples = samplesOf(silenceMs);
    this.#longestSamples = samplesOf(longestMs);
    this.#noisySamples = samplesOf(NOISY_MS);
    this.#noisyPauseSamples = samplesOf(silenceMs + NOISY_PAUSE_MS);
    this.#noisyLateSamples = samplesOf(NOISY_LATE_MS);
    this.#leadSamples = samplesOf(SCAN_LEAD_MS);
    this.#from = originSample;
    this.#voices = voices;
  }

  stop(): void {
    this.#scan?.stop();
    this.#scan = undefined;
  }

  /** The turn was ended there for another reason. */
  ended(sample: number): void {
    this.#from = sample;
    this.stop();
  }

  /** Whether the turn is to end behind what the leg has been given. Then the next turn begins there. Never in silence alone. */
  due(pipeline: EndpointerAudio): boolean {
    const { sentSamples } = pipeline;
    // Turns that the model has ended on its own count as well.
    if (pipeline.coveredSamples > this.#from) this.ended(pipeline.coveredSamples);
    if (!pipeline.speechSince(this.#from)) return this.#quietlyDue(pipeline);
    const speechEnd = pipeline.meter.speech.endAfter(this.#from, this.#silenceSamples);
    const isOver = speechEnd !== undefined && sentSamples >= speechEnd + this.#silenceSamples;
    // A turn begins with its first word: what was before makes it no longer.
    const speechSamples = sentSamples - pipeline.speechStartAfter(this.#from);
    const isTooLong = speechSamples >= this.#longestSamples;
    if (!isOver && !isTooLong && !(speechSamples >= this.#noisySamples && this.#isOnlyNoise(pipeline))) return false;
    this.ended(sentSamples);
    return true;
  }

  /** Whether the voice of a turn has ended and what is as loud as speech goes on. Of a turn without a voice there is no such end. */
  #isOnlyNoise(pipeline: EndpointerAudio): boolean {
    if (this.#noisyPauseSamples === Number.POSITIVE_INFINITY) return false;
    this.#scan ??= this.#openScan(Math.max(this.#from, pipeline.speechStartAfter(this.#from) - this.#leadSamples));
    this.#scan.advance();
    const { lastVoiceEnd, knownTo } = this.#scan;
    const isPause = lastVoiceEnd !== undefined && knownTo - lastVoiceEnd >= this.#noisyPauseSamples;
    if (!isPause || pipeline.sentSamples - knownTo > this.#noisyLateSamples) return false;
    this.#voices.checked('no_voice');
    return true;
  }

  #openScan(from: number): VoiceScan {
    const isDeaf = () => scan.isOver && this.#voices.checked('no_detector');
    const scan: VoiceScan = this.#voices.scan(from, isDeaf);
    isDeaf();
    return scan;
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

/**
 * Where a client asked for the end of a turn: each leg is told once its audio up to there has left, and the next leg again as long as
 * no final covers it.
 */
class TurnEnds {
  /** Positions in the session, rising. */
  #ends: number[] = [];
  /** How many of these the leg was told of. */
  #told = 0;

  /** A turn is to end at this sample. False when too many are asked for already: then it is left out. */
  ask(sample: number): boolean {
    if (this.#ends.length >= ENDS_MAX) return false;
    if (this.#ends.at(-1) !== sample || this.#told === this.#ends.length) this.#ends.push(sample);
    return true;
  }

  /** Everything before the sample is covered by a final. */
  covered(sample: number): void {
    const open = this.#ends.filter((end) => end > sample);
    this.#told = Math.max(0, this.#told - (this.#ends.length - open.length));
    this.#ends = open;
  }

  /** A new leg hears from the end of the last final on. */
  rewind(): void {
    this.#told = 0;
  }

  /** The next end that the leg was not told of. */
  get next(): number | undefined {
    return this.#ends[this.#told];
  }

  /** The leg is told of it: each end once. */
  tellNext(): void {
    this.#told++;
  }
}
