// When a leg is told to end a turn: where the client asked for it, behind the turn's audio; and where the gateway hears an end,
// for a model that makes no turns itself. The audio itself is the leg's.
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import type { Endpointing } from '../../../vendors/kit/provider.ts';

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
    // Turns that the model has ended on its own count as well.
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
