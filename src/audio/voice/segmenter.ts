// Cuts a stream of audio into what was said and the silence between, by loudness alone. Pure and synchronous: samples in,
// utterances out, by position.
import { BYTES_PER_SAMPLE } from '../../api/audio-formats.ts';
import type { SampleMemory } from '../pcm.ts';
import { VoiceActivity, WINDOW_MS, WindowPower } from './voice-activity.ts';

/** When an utterance begins and ends, in milliseconds. */
export interface SegmenterRules {
  /** Silence that ends an utterance. */
  silenceMs: number;
  /** Kept before the first loud window, and behind the last (at most `silenceMs`): words begin and end quietly. */
  beforeMs: number;
  afterMs: number;
  /** Less that is loud, between pauses, is a knock and no speech. */
  shortestMs: number;
  /** A longer utterance is cut, at the quietest place of its last `searchMs` (less than `longestMs`). */
  longestMs: number;
  searchMs: number;
}

/** What was said between two silences, or up to a cut. Positions are samples of the stream. */
export interface Segment {
  start: number;
  end: number;
  /** From the first to the last window in it that is loud enough for speech. */
  voicedStart: number;
  voicedEnd: number;
  /** Samples [start, end), in memory of its own. */
  samples: Int16Array;
}

/** Called from within the segmenter's methods, in the order of the positions. */
export interface SegmenterListener {
  /** Speech began there: an utterance follows. */
  started(sample: number): void;
  /** An utterance is over. It begins at or behind the end of the one before; between the two is silence. */
  ended(segment: Segment): void;
}

/** Behind a longer pause, what was heard and is too short for speech was a knock. */
const KNOCK_PAUSE_MS = 300;
/** Memory has room for so much at first; it grows with the utterance. */
const ROOM_MS = 1_000;

/** What is given out does not depend on how the stream is cut into frames. Memory holds the utterance in progress. */
export class Segmenter {
  readonly #listener: SegmenterListener;
  readonly #power: WindowPower;
  readonly #activity = new VoiceActivity();
  readonly #log: WindowLog;
  readonly #samples: { silence: number; before: number; after: number; longest: number; knock: number; room: number };
  readonly #shortestWindows: number;
  #memory: SampleMemory;
  /** Position of the first sample in memory. */
  #base = 0;
  #length = 0;
  /** End of the last utterance: the next begins here, or later. */
  #from = 0;
  /** Windows that were loud since the last silence. */
  #voiced = 0;
  #voicedStart = 0;
  #voicedEnd = 0;
  /** The listener was told that speech began. */
  #told = false;

  constructor(sampleRate: number, rules: SegmenterRules, listener: SegmenterListener) {
    const samplesOf = (ms: number) => Math.round((sampleRate * ms) / 1000);
    this.#listener = listener;
    this.#power = new WindowPower(sampleRate, (power) => this.#window(power));
    this.#log = new WindowLog(Math.ceil(rules.searchMs / WINDOW_MS), this.#power.windowSamples);
    this.#samples = {
      silence: samplesOf(rules.silenceMs),
      before: samplesOf(rules.beforeMs),
      after: samplesOf(rules.afterMs),
      longest: samplesOf(rules.longestMs),
      knock: samplesOf(KNOCK_PAUSE_MS),
      room: samplesOf(ROOM_MS + rules.beforeMs),
    };
    this.#shortestWindows = Math.ceil(rules.shortestMs / WINDOW_MS);
    this.#memory = memoryOf(this.#samples.room);
  }

  /** Samples taken so far. */
  get position(): number {
    return this.#base + this.#length;
  }

  /** Everything before was given out, or is silence that no utterance will hold. Never goes back. */
  get settled(): number {
    if (this.#voiced > 0) return this.#start;
    const { windowEnd, windowSamples } = this.#power;
    return Math.max(this.#from, windowEnd - windowSamples - this.#samples.before);
  }

  /** Where the utterance in progress begins; undefined before the listener was told of it. */
  get utteranceStart(): number | undefined {
    return this.#told ? this.#start : undefined;
  }

  /** A copy of the audio held from the position on, up to `samplesMax` samples; empty once that audio is gone. */
  copyFrom(position: number, samplesMax: number): Int16Array {
    if (position < this.#base) return new Int16Array(0);
    return this.#memory.samples.slice(
      position - this.#base,
      Math.min(position - this.#base + samplesMax, this.#length),
    );
  }

  /** Bytes of memory held. */
  get heldBytes(): number {
    return this.#memory.bytes.byteLength;
  }

  /** Takes linear16 of any length, in whole samples. The bytes are copied. */
  take(bytes: Uint8Array): void {
    for (let at = 0; at + 1 < bytes.length; ) {
      const left = Math.floor((bytes.length - at) / BYTES_PER_SAMPLE);
      const count = Math.min(left, this.#power.windowEnd - this.#power.position);
      const until = at + count * BYTES_PER_SAMPLE;
      this.#reserve(count);
      this.#memory.bytes.set(bytes.subarray(at, until), this.#length * BYTES_PER_SAMPLE);
      const from = this.#length;
      this.#length += count;
      at = until;
      this.#power.take(this.#memory.samples, from, from + count);
    }
  }

  /** Ends the utterance now, where there is one, however short. */
  flush(): void {
    if (this.#voiced > 0) this.#end();
  }

  /**
   * Ends the utterance in progress where it is quietest between the two, though it is loud after that: that is the next.
   * Nothing where they are too long ago, or no part of it.
   */
  endWithin(from: number, to: number): void {
    const isInside = this.#told && from >= Math.max(this.#start, this.#log.start) && to <= this.position;
    const place = isInside ? this.#log.quietestPlace(from, to) : undefined;
    if (place !== undefined) this.#cut(place);
  }

  /** Where the utterance in progress begins. */
  get #start(): number {
    return Math.max(this.#from, this.#voicedStart - this.#samples.before);
  }

  /** A window has ended, at the position. */
  #window(power: number): void {
    const { position } = this;
    const isLoud = this.#activity.hears(power);
    this.#log.add(power, isLoud);
    if (isLoud) {
      if (this.#voiced === 0) this.#voicedStart = position - this.#power.windowSamples;
      this.#voiced++;
      this.#voicedEnd = position;
      if (this.#voiced >= this.#shortestWindows) this.#tell();
    } else if (this.#voiced > 0) this.#pause(position - this.#voicedEnd);
    if (this.#told && position - this.#start >= this.#samples.longest) this.#cut(this.#log.quietestPlace() as number);
    if (this.#voiced === 0) this.#forget();
  }

  #pause(samples: number): void {
    if (!this.#told && samples >= this.#samples.knock) this.#voiced = 0;
    else if (this.#told && samples >= this.#samples.silence) this.#end();
  }

  #tell(): void {
    if (this.#told) return;
    this.#told = true;
    this.#listener.started(this.#voicedStart);
  }

  #end(): void {
    this.#tell();
    const end = Math.min(this.position, this.#voicedEnd + this.#samples.after);
    const segment = this.#segment(end, this.#voicedEnd);
    this.#voiced = 0;
    this.#give(segment);
  }

  /** The utterance ends, and the next begins, where it is loud. */
  #cut(cut: number): void {
    const segment = this.#segment(cut, Math.min(this.#voicedEnd, cut));
    const rest = this.#log.loudFrom(cut);
    this.#voiced = rest.count;
    this.#voicedStart = Math.max(cut, rest.start);
    this.#give(segment);
    // What was speech before the cut is speech behind it, however little is left.
    if (rest.count > 0) this.#tell();
  }

  #segment(end: number, voicedEnd: number): Segment {
    const start = this.#start;
    const samples = this.#memory.samples.slice(start - this.#base, end - this.#base);
    return { start, end, voicedStart: Math.min(this.#voicedStart, voicedEnd), voicedEnd, samples };
  }

  #give(segment: Segment): void {
    this.#from = segment.end;
    this.#told = false;
    this.#drop(segment.end);
    this.#listener.ended(segment);
  }

  /** In silence only what may belong to the next utterance is kept. */
  #forget(): void {
    const { before, room } = this.#samples;
    if (this.#length * 2 > before + room) this.#drop(Math.max(this.#from, this.position - before));
  }

  /** What is before the position is not needed any more. */
  #drop(position: number): void {
    const rest = this.#memory.samples.subarray(position - this.#base, this.#length);
    const wanted = rest.length + this.#samples.room;
    if (this.#memory.samples.length > 2 * wanted) this.#memory = memoryOf(wanted);
    this.#memory.samples.set(rest);
    this.#base = position;
    this.#length = rest.length;
  }

  #reserve(count: number): void {
    const wanted = this.#length + count;
    if (wanted <= this.#memory.samples.length) return;
    const larger = memoryOf(Math.max(wanted, 2 * this.#memory.samples.length));
    larger.samples.set(this.#memory.samples.subarray(0, this.#length));
    this.#memory = larger;
  }
}

function memoryOf(samples: number): SampleMemory {
  const memory = new Int16Array(samples);
  return { samples: memory, bytes: new Uint8Array(memory.buffer) };
}

/** The last windows of the stream: where it was loud, and where it was quiet. */
class WindowLog {
  readonly #windowSamples: number;
  readonly #powers: Float64Array;
  readonly #loud: Uint8Array;
  /** Windows of the whole stream. */
  #count = 0;

  constructor(windows: number, windowSamples: number) {
    this.#windowSamples = windowSamples;
    this.#powers = new Float64Array(windows);
    this.#loud = new Uint8Array(windows);
  }

  add(power: number, isLoud: boolean): void {
    const place = this.#count % this.#powers.length;
    this.#powers[place] = power;
    this.#loud[place] = isLoud ? 1 : 0;
    this.#count++;
  }

  /** The middle of the quietest three windows in a row, the later where several are. Undefined where there are not three. */
  quietestPlace(from = 0, to = Number.POSITIVE_INFINITY): number | undefined {
    let least = Number.POSITIVE_INFINITY;
    let middle: number | undefined;
    const first = Math.max(this.#oldest, Math.ceil(from / this.#windowSamples));
    const end = Math.min(this.#count, Math.floor(to / this.#windowSamples));
    for (let window = first + 1; window < end - 1; window++) {
      const power = this.#powerOf(window - 1) + this.#powerOf(window) + this.#powerOf(window + 1);
      if (power > least) continue;
      least = power;
      middle = window;
    }
    return middle === undefined ? undefined : middle * this.#windowSamples + Math.floor(this.#windowSamples / 2);
  }

  /** The loud windows that end behind the position: how many, and where the first begins. */
  loudFrom(position: number): { count: number; start: number } {
    const first = Math.max(this.#oldest, Math.floor(position / this.#windowSamples));
    let count = 0;
    let start = position;
    for (let window = this.#count - 1; window >= first; window--) {
      if (this.#loud[window % this.#loud.length] === 0) continue;
      count++;
      start = window * this.#windowSamples;
    }
    return { count, start };
  }

  /** Where the oldest window begins. */
  get start(): number {
    return this.#oldest * this.#windowSamples;
  }

  get #oldest(): number {
    return Math.max(0, this.#count - this.#powers.length);
  }

  #powerOf(window: number): number {
    return this.#powers[window % this.#powers.length] as number;
  }
}
