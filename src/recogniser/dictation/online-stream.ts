// One stream of a model that hears audio as it comes: its text grows while somebody speaks. Turns begin and end where voices do, as in
// stream.ts. The library decodes such a model in the call itself, so nothing waits here: the pool sends the next piece when this one is done.
import { type HeardWord, SAMPLE_RATE, type StreamMessage } from '../protocol.ts';
import { FrameCutter, samplesOf, secondsOf } from './frames.ts';
import type { OnlineRecognizer, OnlineStream, SherpaResult } from './sherpa.ts';
import { type Detector, DICTATION_TIMING, LEAD_FRAMES } from './stream.ts';
import { TurnAudio } from './turn-audio.ts';
import { LAG_SAMPLES } from './voice-detector.ts';
import { estimatedWords } from './word-times.ts';
import { wordsOf } from './words.ts';

export const ONLINE_TIMING = {
  /** Silence that a turn is ended with: models say the last word when they have heard what follows. */
  tailMs: 700,
  /** A turn that lasts `DICTATION_TIMING.turnMaxMs` is cut at the next pause of so long between words, */
  pauseMs: 240,
  /** or after so long at the latest. */
  turnMaxMs: 25_000,
} as const;

export interface OnlineDictationStreamOptions {
  recognizer: OnlineRecognizer;
  detector: Detector;
  /** Of the audio; the recogniser's own when absent. */
  sampleRate?: number | undefined;
  endpointingMs: number;
  interims: boolean;
  say: (message: StreamMessage) => void;
}

interface Turn {
  id: number;
  /** What was heard of it, with the lead. */
  audio: TurnAudio;
  /** The library's stream, and the position that its times count from. A cut turn leaves it to the next one. */
  stream: OnlineStream;
  origin: number;
  voicedStart: number;
  voicedEnd: number;
  isSpeaking: boolean;
  /** Of the last interim. */
  text: string;
}

export class OnlineDictationStream {
  readonly #options: OnlineDictationStreamOptions;
  readonly #frames: FrameCutter;
  readonly #lead: Float32Array[] = [];
  /** Samples taken in whole frames. */
  #position = 0;
  #turn: Turn | undefined;
  #turns = 0;
  /** Seconds: where the words end that were reported. */
  #wordsEnd = 0;
  #isOver = false;

  constructor(options: OnlineDictationStreamOptions) {
    this.#options = options;
    this.#frames = new FrameCutter((frame) => this.#take(frame), options.sampleRate);
  }

  /** Takes linear16 bytes, cut anywhere. */
  audio(bytes: Uint8Array): void {
    this.#frames.push(bytes);
  }

  /** Ends the turn that is being spoken. */
  finalize(): void {
    if (this.#turn !== undefined) this.#endTurn(this.#turn);
  }

  /** Decodes what is left. Calls back once all of it was reported. */
  finish(onFinished: () => void): void {
    this.#frames.end();
    this.finalize();
    this.#say({ type: 'finished' });
    onFinished();
  }

  /** Reports nothing more. */
  abandon(): void {
    this.#isOver = true;
    this.#turn = undefined;
  }

  #take(frame: Float32Array): void {
    if (this.#isOver) return;
    this.#position += frame.length;
    const isSpeaking = this.#options.detector.hear(frame);
    if (this.#turn !== undefined) {
      this.#continueTurn(this.#turn, frame, isSpeaking);
      return;
    }
    this.#lead.push(frame);
    if (this.#lead.length > LEAD_FRAMES) this.#lead.shift();
    if (isSpeaking) this.#beginTurn(frame.length);
  }

  #beginTurn(frameSamples: number): void {
    const origin = this.#position - this.#lead.length * frameSamples;
    const stream = this.#options.recognizer.createStream();
    const audio = new TurnAudio(origin);
    const voicedStart = Math.max(origin, this.#position - LAG_SAMPLES.start);
    const turn = { audio, stream, origin, voicedStart, voicedEnd: this.#position, isSpeaking: true, text: '' };
    this.#openTurn(turn);
    for (const samples of this.#lead.splice(0)) this.#hear(this.#turn!, samples);
  }

  #openTurn(turn: Omit<Turn, 'id'>): void {
    this.#turn = { id: this.#turns, ...turn };
    this.#turns++;
    this.#say({ type: 'speech_started', start: secondsOf(turn.voicedStart) });
  }

  #continueTurn(turn: Turn, frame: Float32Array, isSpeaking: boolean): void {
    this.#hear(turn, frame);
    if (turn.isSpeaking && !isSpeaking) turn.voicedEnd = Math.max(turn.voicedStart, this.#position - LAG_SAMPLES.end);
    if (isSpeaking) turn.voicedEnd = this.#position;
    turn.isSpeaking = isSpeaking;
    // Somebody may have gone on by then without being noticed yet.
    const quietSamples = this.#position - turn.voicedEnd;
    if (quietSamples >= samplesOf(this.#options.endpointingMs) + LAG_SAMPLES.start) this.#endTurn(turn);
    else if (this.#isTooLong(turn)) this.#cut(turn);
  }

  #hear(turn: Turn, samples: Float32Array): void {
    turn.audio.add(samples);
    turn.stream.acceptWaveform({ sampleRate: SAMPLE_RATE, samples });
    if (!this.#decode(turn.stream) || !this.#options.interims) return;
    const text = this.#options.recognizer.getResult(turn.stream).text.trim();
    if (text === turn.text || text === '') return;
    turn.text = text;
    const [start, end] = [secondsOf(turn.voicedStart), secondsOf(turn.voicedEnd)];
    this.#say({ type: 'interim', turn: turn.id, text, start, end });
  }

  /** Whether there was something to decode. */
  #decode(stream: OnlineStream): boolean {
    const { recognizer } = this.#options;
    let count = 0;
    for (; recognizer.isReady(stream); count++) recognizer.decode(stream);
    return count > 0;
  }

  #endTurn(turn: Turn): void {
    this.#turn = undefined;
    const { stream } = turn;
    stream.acceptWaveform({ sampleRate: SAMPLE_RATE, samples: new Float32Array(samplesOf(ONLINE_TIMING.tailMs)) });
    stream.inputFinished();
    this.#decode(stream);
    this.#report(turn, this.#options.recognizer.getResult(stream), turn.voicedEnd);
  }

  #isTooLong({ audio, stream, origin }: Turn): boolean {
    if (audio.length < samplesOf(DICTATION_TIMING.turnMaxMs)) return false;
    if (audio.length >= samplesOf(ONLINE_TIMING.turnMaxMs)) return true;
    const { timestamps, start_time: start = 0 } = this.#options.recognizer.getResult(stream);
    const last = timestamps.at(-1);
    if (last === undefined) return true;
    return this.#position - (origin + (start + last) * SAMPLE_RATE) >= samplesOf(ONLINE_TIMING.pauseMs);
  }

  /** The turn has become too long: it ends, and the next continues on the same stream of the library, which keeps what it has heard. */
  #cut(turn: Turn): void {
    const { recognizer } = this.#options;
    const { stream, origin, isSpeaking, voicedEnd } = turn;
    this.#turn = undefined;
    this.#report(turn, recognizer.getResult(stream), voicedEnd);
    recognizer.reset(stream);
    const audio = new TurnAudio(this.#position);
    this.#openTurn({
      audio,
      stream,
      origin,
      voicedStart: this.#position,
      voicedEnd: this.#position,
      isSpeaking,
      text: '',
    });
  }

  #report(turn: Turn, result: SherpaResult, voicedEnd: number): void {
    const text = result.text.trim();
    const [start, end] = [secondsOf(turn.voicedStart), secondsOf(Math.max(turn.voicedStart, voicedEnd))];
    if (text === '') {
      this.#say({ type: 'no_match', turn: turn.id, start, end });
      return;
    }
    const timed = wordsOf(result, turn.origin / SAMPLE_RATE + (result.start_time ?? 0));
    const words = within(timed ?? this.#estimated(turn, text, end), this.#wordsEnd, secondsOf(this.#position));
    this.#wordsEnd = words.at(-1)?.end ?? this.#wordsEnd;
    const times = words.length === 0 ? { start, end } : { start: words[0]!.start, end: words.at(-1)!.end };
    const estimated = timed === undefined ? ({ estimated: true } as const) : {};
    this.#say({ type: 'final', turn: turn.id, text, ...times, words, ...estimated });
  }

  #estimated({ audio, voicedStart }: Turn, text: string, endSeconds: number): HeardWord[] {
    return estimatedWords(text, {
      samples: audio.copy(),
      startSeconds: audio.start / SAMPLE_RATE,
      voicedStartSeconds: voicedStart / SAMPLE_RATE,
      voicedEndSeconds: endSeconds,
    });
  }

  #say(message: StreamMessage): void {
    if (!this.#isOver) this.#options.say(message);
  }
}

/** A model may place a word a little outside of what was heard of its turn. */
function within(words: readonly HeardWord[], from: number, to: number): HeardWord[] {
  const clamp = (seconds: number) => Math.min(to, Math.max(from, seconds));
  return words.map((word) => ({ ...word, start: clamp(word.start), end: clamp(word.end) }));
}
