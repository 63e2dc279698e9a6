// One stream of dictation: audio in, messages out. A turn begins and ends where voices do; what was said in it is decoded apart, while
// the next audio is taken.
import { type HeardWord, SAMPLE_RATE, type StreamMessage } from '../protocol.ts';
import type { DecodeOwner, DecodeQueue, Urgency } from './decode-queue.ts';
import { FrameCutter, samplesOf, secondsOf } from './frames.ts';
import { Outbox } from './outbox.ts';
import { TurnAudio } from './turn-audio.ts';
import { FRAME_SAMPLES, LAG_SAMPLES } from './voice-detector.ts';

export const DICTATION_TIMING = {
  /** Kept before the first voice. */
  leadMs: 400,
  /** Kept behind the last voice. */
  tailMs: 500,
  /** Silence after which the turn is decoded in case that was its end. */
  guessMs: 380,
  /** From one interim to the next while somebody speaks, and to the first from where a voice begins: of less, models invent text. */
  interimMs: 600,
  /** Kept before the first voice for interims. */
  interimLeadMs: 200,
  /** Of what is decoded again and again for interims, the older part keeps its text when it becomes longer than this. */
  unsettledMsMax: 2_400,
  /** So much of it may still change. */
  unsettledMsMin: 800,
  /** A turn is ended after so long, at the quietest place of its last `searchMs`. */
  turnMaxMs: 20_000,
  searchMs: 6_000,
  /** Audio that waits to be decoded: with more, no more is taken, until half of it is left. */
  waitingMsMax: 60_000,
  /** Audio that comes so many times as fast as it is spoken is of a recording: looked at once in `paceMs`. */
  paceMax: 1.5,
  paceMs: 1_000,
} as const;

export const LEAD_FRAMES = Math.ceil((samplesOf(DICTATION_TIMING.leadMs) + LAG_SAMPLES.start) / FRAME_SAMPLES);

/** What was said in a piece of audio. Times are seconds from the first sample of the stream. */
export interface Transcript {
  text: string;
  words: HeardWord[];
  /** Whether the times of the words are estimated. */
  estimated: boolean;
}

/** Audio to be decoded. Seconds are of the stream. */
export interface UtteranceAudio {
  /** At 16 kHz. */
  samples: Float32Array;
  startSeconds: number;
  /** Between these a voice is heard. */
  voicedStartSeconds: number;
  voicedEndSeconds: number;
}

export interface DictationDecoder {
  decode(utterance: UtteranceAudio): Promise<Transcript>;
}

export interface Detector {
  hear(frame: Float32Array): boolean;
}

export interface DictationStreamOptions {
  decoder: DictationDecoder;
  detector: Detector;
  queue: DecodeQueue;
  organisation: string | undefined;
  /** Of the audio; the recogniser's own when absent. */
  sampleRate?: number | undefined;
  endpointingMs: number;
  interims: boolean;
  say: (message: StreamMessage) => void;
  /** Too much waits to be decoded, or no longer. */
  onHeld: (isHeld: boolean) => void;
  /** An utterance could not be decoded, also not again: the stream is to be closed, so that its audio is decoded elsewhere. */
  onFailed: (error: unknown) => void;
  nowMs: () => number;
}

interface Turn {
  id: number;
  audio: TurnAudio;
  /** Positions in the stream: where a voice was first and last heard. */
  voicedStart: number;
  voicedEnd: number;
  isSpeaking: boolean;
  /** Power of its loudest frame, and how many of the last frames were quiet beside it. */
  loudest: number;
  quietFrames: number;
  /** The turn's length at the last interim. */
  shownSamples: number;
  /** What came before keeps its text in interims. */
  settled: { samples: number; text: string };
  isShowing: boolean;
  /** The turn decoded up to its last voice, in case it ends there. */
  guess: { voicedEnd: number; transcript: Promise<Transcript> } | undefined;
}

export class DictationStream {
  readonly #options: DictationStreamOptions;
  readonly #outbox: Outbox;
  readonly #owner: DecodeOwner;
  /** Since when the pace is measured, and from which position. */
  #paceFrom: { ms: number; position: number };
  readonly #frames: FrameCutter;
  /** Samples taken in whole frames. */
  #position = 0;
  /** Frames before a turn, the newest last. */
  #lead: Float32Array[] = [];
  #turn: Turn | undefined;
  #turns = 0;
  #waitingSamples = 0;
  #isHeld = false;
  #isLive = false;
  #isOver = false;
  #whenReported: (() => void) | undefined;

  constructor(options: DictationStreamOptions) {
    this.#options = options;
    this.#outbox = new Outbox((message) => {
      if (!this.#isOver) options.say(message);
    });
    this.#frames = new FrameCutter((frame) => this.#take(frame), options.sampleRate);
    this.#owner = { organisation: options.organisation, turn: 0 };
    this.#paceFrom = { ms: options.nowMs(), position: 0 };
    this.#setLive(true);
  }

  /** Takes linear16 bytes, cut anywhere. */
  audio(bytes: Uint8Array): void {
    this.#frames.push(bytes);
    this.#watchPace();
  }

  /** Ends the turn that is being spoken. */
  finalize(): void {
    if (this.#turn !== undefined) this.#endTurn(this.#turn);
  }

  /** Decodes what is left. Calls back once all of it was reported and nothing follows. */
  finish(onFinished: () => void): void {
    this.#frames.end();
    this.finalize();
    const finished = () => {
      this.#outbox.push({ type: 'finished' });
      onFinished();
    };
    if (this.#outbox.isWaiting) this.#whenReported = finished;
    else finished();
  }

  /** Reports nothing more. */
  abandon(): void {
    this.#isOver = true;
    this.#turn = undefined;
    this.#setLive(false);
  }

  #take(frame: Float32Array): void {
    this.#position += FRAME_SAMPLES;
    const isSpeaking = this.#options.detector.hear(frame);
    if (this.#turn !== undefined) this.#continueTurn(this.#turn, frame, isSpeaking);
    else {
      this.#lead.push(frame);
      if (this.#lead.length > LEAD_FRAMES) this.#lead.shift();
      if (isSpeaking) this.#beginTurn();
    }
  }

  #beginTurn(): void {
    const audio = new TurnAudio(this.#position - this.#lead.length * FRAME_SAMPLES);
    for (const frame of this.#lead) audio.add(frame);
    this.#lead = [];
    const voicedStart = Math.max(audio.start, this.#position - LAG_SAMPLES.start);
    this.#turn = {
      id: this.#turns,
      audio,
      voicedStart,
      voicedEnd: this.#position,
      isSpeaking: true,
      loudest: 0,
      quietFrames: 0,
      shownSamples: voicedStart - audio.start,
      settled: {
        samples: Math.max(0, voicedStart - audio.start - samplesOf(DICTATION_TIMING.interimLeadMs)),
        text: '',
      },
      isShowing: false,
      guess: undefined,
    };
    this.#turns++;
    this.#outbox.push({ type: 'speech_started', start: secondsOf(voicedStart) });
  }

  #continueTurn(turn: Turn, frame: Float32Array, isSpeaking: boolean): void {
    turn.audio.add(frame);
    followLoudness(turn, frame);
    if (turn.isSpeaking && !isSpeaking) turn.voicedEnd = Math.max(turn.voicedStart, this.#position - LAG_SAMPLES.end);
    if (isSpeaking) {
      turn.voicedEnd = this.#position;
      turn.guess = undefined;
    }
    turn.isSpeaking = isSpeaking;
    const quietSamples = this.#position - turn.voicedEnd;
    // Somebody may have gone on by then without being noticed yet.
    if (quietSamples >= samplesOf(this.#options.endpointingMs) + LAG_SAMPLES.start) this.#endTurn(turn);
    else if (turn.audio.length >= samplesOf(DICTATION_TIMING.turnMaxMs)) this.#cut(turn);
    else if (!isSpeaking && turn.guess === undefined && quietSamples >= samplesOf(DICTATION_TIMING.guessMs)) {
      if (this.#isLive) this.#guess(turn);
    } else if (isSpeaking) this.#showInterim(turn);
  }

  #guess(turn: Turn): void {
    const transcript = this.#transcribe(turn, 'final');
    turn.guess = { voicedEnd: turn.voicedEnd, transcript };
    void transcript.then(
      ({ text }) => this.#interim(turn, text),
      // The end of the turn decodes it again.
      () => {},
    );
  }

  /**
   * Decodes what the turn has so far, the settled part of it excepted, and shows it. A pause is noticed by the detector later than it is
   * heard: what was said before it is shown when speech continues, or with the guess.
   */
  #showInterim(turn: Turn): void {
    const isDue = turn.audio.length - turn.shownSamples >= samplesOf(DICTATION_TIMING.interimMs);
    if (!this.#options.interims || !isDue || turn.isShowing || !this.#isLive) return;
    if (turn.quietFrames >= QUIET_FRAMES) return;
    turn.shownSamples = turn.audio.length;
    turn.isShowing = true;
    void this.#decodeInterim(turn)
      // The final decides: an interim that cannot be decoded is left out.
      .catch(() => {})
      .finally(() => {
        turn.isShowing = false;
      });
  }

  async #decodeInterim(turn: Turn): Promise<void> {
    const { audio, settled } = turn;
    const samples = audio.copy(settled.samples);
    const seconds = samples.length / SAMPLE_RATE;
    const utterance = { samples, startSeconds: 0, voicedStartSeconds: 0, voicedEndSeconds: seconds };
    const { text, words } = await this.#options.queue.do(this.#owner, 'interim', () => this.#decode(utterance));
    this.#interim(turn, joined(settled.text, text));
    if (samples.length > samplesOf(DICTATION_TIMING.unsettledMsMax)) this.#settle(turn, samples.length, words);
  }

  /** What was said before the quietest place keeps its text, and is not decoded again for interims. */
  #settle(turn: Turn, samples: number, words: readonly HeardWord[]): void {
    const { audio, settled } = turn;
    const least = samplesOf(DICTATION_TIMING.unsettledMsMin);
    const cut = audio.quietest(settled.samples + least, settled.samples + samples - least);
    const seconds = (cut - settled.samples) / SAMPLE_RATE;
    const before = words.filter(({ start, end }) => (start + end) / 2 < seconds).map(({ word }) => word);
    turn.settled = { samples: cut, text: joined(settled.text, before.join(' ')) };
  }

  #interim(turn: Turn, text: string): void {
    if (!this.#options.interims || this.#turn !== turn || text === '') return;
    const [start, end] = [secondsOf(turn.voicedStart), secondsOf(turn.voicedEnd)];
    this.#outbox.push({ type: 'interim', turn: turn.id, text, start, end });
  }

  #endTurn(turn: Turn): void {
    this.#turn = undefined;
    const guess = turn.guess?.voicedEnd === turn.voicedEnd ? turn.guess.transcript : undefined;
    this.#report(turn, guess ?? this.#transcribeEnded(turn));
  }

  /** The turn has become too long: it ends, and the next begins, where it is quietest. */
  #cut(turn: Turn): void {
    const { audio } = turn;
    const cut = audio.quietest(audio.length - samplesOf(DICTATION_TIMING.searchMs), audio.length - FRAME_SAMPLES);
    const rest = audio.copy(cut);
    const first = {
      ...turn,
      audio: new TurnAudio(audio.start),
      voicedEnd: Math.min(turn.voicedEnd, audio.start + cut),
    };
    first.audio.add(audio.copy(0, cut));
    this.#turn = undefined;
    this.#report(first, this.#transcribeEnded(first));
    const next = new TurnAudio(audio.start + cut);
    next.add(rest);
    this.#turn = {
      ...turn,
      id: this.#turns,
      audio: next,
      voicedStart: next.start,
      voicedEnd: Math.max(turn.voicedEnd, next.start),
      shownSamples: 0,
      settled: { samples: 0, text: '' },
      isShowing: false,
      guess: undefined,
    };
    this.#turns++;
    this.#outbox.push({ type: 'speech_started', start: secondsOf(next.start) });
  }

  #transcribe({ audio, voicedStart, voicedEnd }: Turn, urgency: Urgency): Promise<Transcript> {
    const samples = audio.copy(0, voicedEnd - audio.start + samplesOf(DICTATION_TIMING.tailMs));
    const utterance = {
      samples,
      startSeconds: audio.start / SAMPLE_RATE,
      voicedStartSeconds: voicedStart / SAMPLE_RATE,
      voicedEndSeconds: voicedEnd / SAMPLE_RATE,
    };
    this.#wait(samples.length);
    const decoded = this.#options.queue.do(this.#owner, urgency, () => this.#decode(utterance));
    return decoded.finally(() => this.#wait(-samples.length));
  }

  #transcribeEnded(turn: Turn): Promise<Transcript> {
    return this.#transcribe(turn, this.#isLive ? 'final' : 'recording');
  }

  #decode(utterance: UtteranceAudio): Promise<Transcript> {
    return this.#isOver ? NOTHING : this.#options.decoder.decode(utterance);
  }

  /** An utterance that cannot be decoded is tried once more. Without its words, the stream must not continue. */
  #report(turn: Turn, transcript: Promise<Transcript>): void {
    const report = this.#outbox.reserve();
    const [start, end] = [secondsOf(turn.voicedStart), secondsOf(turn.voicedEnd)];
    const decoded = transcript.catch(() => this.#transcribeEnded(turn));
    const reported = decoded.then(({ text, words, estimated }) => {
      if (text === '') report({ type: 'no_match', turn: turn.id, start, end });
      else {
        const times = words.length === 0 ? { start, end } : { start: words[0]!.start, end: words.at(-1)!.end };
        report({ type: 'final', turn: turn.id, text, ...times, words, ...(estimated ? { estimated } : {}) });
      }
      if (!this.#outbox.isWaiting) this.#whenReported?.();
    });
    reported.catch((error: unknown) => {
      if (!this.#isOver) this.#options.onFailed(error);
    });
  }

  #wait(samples: number): void {
    this.#waitingSamples += samples;
    const most = samplesOf(DICTATION_TIMING.waitingMsMax);
    const isHeld = this.#waitingSamples > (this.#isHeld ? most / 2 : most);
    if (isHeld === this.#isHeld) return;
    this.#isHeld = isHeld;
    if (!this.#isOver) this.#options.onHeld(isHeld);
  }

  #watchPace(): void {
    const nowMs = this.#options.nowMs();
    const elapsedMs = nowMs - this.#paceFrom.ms;
    if (elapsedMs < DICTATION_TIMING.paceMs) return;
    const audioMs = ((this.#position - this.#paceFrom.position) * 1000) / SAMPLE_RATE;
    this.#paceFrom = { ms: nowMs, position: this.#position };
    this.#setLive(audioMs <= elapsedMs * DICTATION_TIMING.paceMax);
  }

  #setLive(isLive: boolean): void {
    if (isLive === this.#isLive) return;
    this.#isLive = isLive;
    this.#options.queue.addLive(isLive ? 1 : -1);
  }
}

/** A frame with so little of the power of the loudest one is no voice; so many of them in a row, a tenth of a second, are a pause. */
const QUIET_SHARE = 0.06 ** 2;
const QUIET_FRAMES = 3;

function followLoudness(turn: Turn, frame: Float32Array): void {
  let power = 0;
  for (const sample of frame) power += sample * sample;
  turn.loudest = Math.max(turn.loudest, power);
  turn.quietFrames = power < turn.loudest * QUIET_SHARE ? turn.quietFrames + 1 : 0;
}

const NOTHING: Promise<Transcript> = Promise.resolve({ text: '', words: [], estimated: false });

/** Two parts of a sentence. A model begins each with a capital and ends it with a full stop. */
function joined(before: string, after: string): string {
  if (before === '' || after === '') return before + after;
  const [first = '', ...rest] = after.split(' ');
  const isName = /^I\b/.test(first) || /[A-Z].*[A-Z]/.test(first);
  return [before.replace(/[.,]$/, ''), isName ? first : first.toLowerCase(), ...rest].join(' ');
}
