// The speech gate of a leg: text for audio without speech is marked, or dropped. It gives the leg's audio to a voice detector
// and holds back the end of a turn until the audio up to that end was checked. What it holds keeps its order.
import type { Clock } from '../../../machines/clock.ts';
import type { Heard, Utterance } from '../../../machines/events.ts';
import { PcmConverter } from '../../audio/resampler.ts';
import { SAMPLE_RATE, type StreamMessage } from '../../recogniser/protocol.ts';
import { openVoices, VOICE_SECONDS_MIN } from '../../recogniser/voice/open-voices.ts';
import type { Engine, EngineConnection } from '../../vendors/kit/provider.ts';
import { boundsOf, NEAR_SECONDS, type Range, soundAt, VoiceRanges } from './voice-ranges.ts';

/** So long after a voice began, the detector may not know of it. */
const LAG_SECONDS = 0.2;
/** The resampler, and a frame of the detector, hold back some samples. */
const ROUNDING_SECONDS = 0.05;
/** A turn at the very end of the audio is judged if this share of it was checked. */
const CHECKED_SHARE_MIN = 0.75;
/** A report is held back no longer. */
const WAIT_MS = 500;
/** Reports held back, and ranges remembered. */
const HELD_MAX = 512;
const RANGES_MAX = 512;
/** Audio is sent to the detector in pieces of 100 ms. */
const PIECE_BYTES = (2 * SAMPLE_RATE) / 10;

/** How a decision ended: also why text passed without one. */
export type GateOutcome = 'spoken' | 'marked' | 'dropped' | 'late' | 'overflow' | 'no_detector';

export interface SpeechGateOptions {
  mode: 'mark' | 'drop';
  /** Of the leg's audio. */
  sampleRate: number;
  /** The engine that has streams of voices; absent: there is none. */
  engine: Engine | undefined;
  organisationId: string;
  clock: Clock;
  /** What was heard, in its order. */
  pass: (heard: Heard, readMs: number) => void;
  /** Of each turn with text. */
  onOutcome: (outcome: GateOutcome) => void;
}

type TurnHeard = Extract<Heard, { turnId: string }>;
type TurnEnd = Extract<Heard, { type: 'turn.ended' | 'turn.formatted' }>;
interface Held {
  deadlineMs: number;
  /** Absent where it has text that is to be judged by the range. */
  run: (() => void) | undefined;
  judged: { heard: TurnHeard; readMs: number; range: Range } | undefined;
}

export class SpeechGate {
  readonly #options: SpeechGateOptions;
  readonly #voices: VoiceEar;
  #held: Held[] = [];
  #timer: unknown;
  #isClosed = false;
  #isAllSent = false;
  /** The range of the current turn, as far as its text is known. */
  #turn: ({ id: string } & Range) | undefined;
  /** Where the last turn ended. */
  #lastEnd = 0;
  /** The last turn that was judged: its formatted version is treated the same. */
  #verdict: { turnId: string; isSpoken: boolean } | undefined;

  constructor(options: SpeechGateOptions) {
    this.#options = options;
    this.#voices = new VoiceEar(options, {
      changed: () => this.#settle(),
      failed: () => this.#deafen(),
    });
  }

  /** A frame that the leg was sent. Valid during the call. */
  audio(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    this.#voices.audio(bytes);
    if (this.#held.length === 0) return;
    this.#voices.hurry();
    this.#settle();
  }

  /** No more audio follows. */
  finish(): void {
    this.#isAllSent = true;
    this.#voices.hurry();
    this.#settle();
  }

  heard(heard: Heard, readMs: number): void {
    if (this.#isClosed) return;
    const range = this.#rangeOf(heard);
    if (range !== undefined) this.#hold({ run: undefined, judged: { heard: heard as TurnHeard, readMs, range } });
    else this.after(() => this.#options.pass(heard, readMs));
  }

  /** Runs after everything that was heard before. */
  after(run: () => void): void {
    if (this.#held.length === 0) run();
    else this.#hold({ run, judged: undefined });
  }

  close(): void {
    this.#isClosed = true;
    this.#held = [];
    this.#options.clock.clearTimeout(this.#timer);
    this.#voices.close();
  }

  /** Where the text lies that is to be judged; undefined where there is none. */
  #rangeOf(heard: Heard): Range | undefined {
    if (!('turnId' in heard)) return undefined;
    const { type, turnId, utterance } = heard;
    const isFormatted = type === 'turn.formatted';
    if (!isFormatted && utterance !== undefined && utterance.text !== '') this.#extend(turnId, utterance);
    const turn = this.#turn?.id === turnId ? this.#turn : undefined;
    if (type === 'turn.ended') this.#turn = undefined;
    const hasText = isFormatted || (utterance === undefined ? turn !== undefined : utterance.text !== '');
    if (!hasText) return undefined;
    const isJudged = isFormatted || type === 'turn.ended' || this.#options.mode === 'drop';
    if (!isJudged) return undefined;
    const range = this.#plausible(turn ?? boundsOf(utterance as Utterance));
    if (type === 'turn.ended') this.#lastEnd = range.to;
    return range;
  }

  #extend(id: string, utterance: Utterance): void {
    const { from, to } = boundsOf(utterance);
    const before = this.#turn?.id === id ? this.#turn : undefined;
    this.#turn = { id, from: Math.min(before?.from ?? from, from), to: Math.max(before?.to ?? to, to) };
  }

  /** A range without length, or of audio that was not sent, says nothing: the text may be of anything since the last turn. */
  #plausible({ from, to }: Range): Range {
    const { sentSeconds } = this.#voices;
    if (from < to && from < sentSeconds) return { from, to: Math.min(to, sentSeconds) };
    return { from: Math.min(this.#lastEnd, sentSeconds), to: sentSeconds };
  }

  #hold(held: Omit<Held, 'deadlineMs'>): void {
    if (this.#held.length >= HELD_MAX) this.#release('overflow');
    this.#held.push({ ...held, deadlineMs: this.#options.clock.now() + WAIT_MS });
    if (held.judged !== undefined) this.#voices.hurry();
    this.#settle();
  }

  /** Passes on what can be decided, in its order. */
  #settle(): void {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      const outcome = first.judged === undefined ? 'spoken' : this.#judge(first.judged.range, first.deadlineMs);
      if (outcome === undefined) break;
      this.#release(outcome);
    }
    this.#watch();
  }

  #release(outcome: GateOutcome): void {
    const first = this.#held.shift();
    if (first === undefined) return;
    if (first.judged === undefined) first.run?.();
    else this.#give(first.judged, outcome);
  }

  /** The head's time is up then. */
  #watch(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    const [first] = this.#held;
    if (first === undefined || this.#isClosed) return;
    this.#timer = clock.setTimeout(() => this.#settle(), Math.max(0, first.deadlineMs - clock.now()));
  }

  #judge({ from, to }: Range, deadlineMs: number): GateOutcome | undefined {
    const voices = this.#voices;
    if (voices.secondsWithin(from - NEAR_SECONDS, to + NEAR_SECONDS) >= VOICE_SECONDS_MIN) return 'spoken';
    if (voices.isDeaf) return 'no_detector';
    const nobody = this.#options.mode === 'mark' ? 'marked' : 'dropped';
    const checked = voices.checkedSeconds + ROUNDING_SECONDS;
    if (checked >= to + NEAR_SECONDS) return nobody;
    const isOver = this.#options.clock.now() >= deadlineMs;
    if (checked < voices.sentSeconds) return isOver ? 'late' : undefined;
    // The audio ends with the turn: of its last part it is not known.
    if (!this.#isAllSent && !isOver) return undefined;
    const known = checked - LAG_SECONDS;
    return known - from >= CHECKED_SHARE_MIN * (to - from) ? nobody : 'late';
  }

  #give({ heard, readMs, range }: NonNullable<Held['judged']>, outcome: GateOutcome): void {
    const { pass } = this.#options;
    if (heard.type === 'partial' || heard.type === 'piece') {
      // Its provider is alive, which the session is to know.
      pass(outcome === 'dropped' ? withoutText(heard, range) : heard, readMs);
      return;
    }
    this.#giveEnd(heard, readMs, range, outcome);
  }

  #giveEnd(heard: TurnEnd, readMs: number, range: Range, outcome: GateOutcome): void {
    const { pass, mode, onOutcome } = this.#options;
    const { turnId } = heard;
    if (heard.type === 'turn.formatted') {
      // One turn, one verdict.
      const isSpoken = this.#verdict?.turnId !== turnId || this.#verdict.isSpoken;
      if (isSpoken) pass(heard, readMs);
      else if (mode === 'mark') pass({ ...heard, utterance: { ...heard.utterance, noSpeech: true } }, readMs);
      return;
    }
    onOutcome(outcome);
    const isSpoken = outcome !== 'marked' && outcome !== 'dropped';
    this.#verdict = { turnId, isSpoken };
    if (isSpoken) pass(heard, readMs);
    else if (outcome === 'marked') pass({ ...heard, noSpeech: true }, readMs);
    else {
      const utterance: Utterance = { text: '', start: range.from, end: range.to };
      pass({ type: 'turn.ended', turnId, utterance, formattedFollows: false, noSpeech: true }, readMs);
    }
  }

  /** There is no detector for the rest of the leg. */
  #deafen(): void {
    if (this.#isClosed) return;
    const message =
      'The voice detector is not available, so text for audio without speech is not recognised. Everything passes unmarked.';
    this.after(() =>
      this.#options.pass(
        { type: 'warned', code: 'speech_gate_unavailable', message, once: true },
        this.#options.clock.now(),
      ),
    );
    this.#settle();
  }
}

function withoutText({ turnId }: TurnHeard, { from, to }: Range): Heard {
  return { type: 'partial', turnId, utterance: { text: '', start: from, end: to } };
}

interface EarCalls {
  /** More is known of the audio. */
  changed(): void;
  /** Called once. */
  failed(): void;
}

/** A stream of voices in the leg's clock. It is opened at the first sound. */
class VoiceEar {
  readonly #options: SpeechGateOptions;
  readonly #calls: EarCalls;
  readonly #converter: PcmConverter;
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #pieceBytes = 0;
  #connection: EngineConnection | undefined;
  /** Where its stream begins in the leg. */
  #origin = 0;
  #sentSamples = 0;
  #checked = 0;
  readonly #ranges = new VoiceRanges(RANGES_MAX);
  isDeaf = false;
  #isClosed = false;

  constructor(options: SpeechGateOptions, calls: EarCalls) {
    this.#options = options;
    this.#calls = calls;
    this.#converter = new PcmConverter(options.sampleRate, SAMPLE_RATE);
  }

  /** Seconds that the leg was sent. */
  get sentSeconds(): number {
    return this.#sentSamples / this.#options.sampleRate;
  }

  /** Seconds that were checked. */
  get checkedSeconds(): number {
    return this.#connection === undefined ? this.sentSeconds : this.#checked;
  }

  audio(bytes: Uint8Array): void {
    // A view needs an even offset.
    const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
    const samples = new Int16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength >> 1);
    if (this.#connection === undefined && !this.isDeaf && soundAt(samples) >= 0) this.#open();
    this.#sentSamples += samples.length;
    if (this.#connection === undefined) return;
    const converted = this.#converter.push(samples);
    this.#send(new Uint8Array(converted.buffer, converted.byteOffset, converted.byteLength));
  }

  /** Requests what can be known by now. */
  hurry(): void {
    if (this.#connection === undefined) return;
    this.#flush();
    this.#connection?.send({ type: 'finalize' });
  }

  secondsWithin(from: number, to: number): number {
    return this.#ranges.secondsWithin(from, to);
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.terminate();
    this.#connection = undefined;
  }

  #open(): void {
    const { engine, organisationId } = this.#options;
    this.#origin = this.sentSeconds;
    this.#checked = this.#origin;
    this.#connection = openVoices(engine, organisationId, {
      message: (message) => this.#hear(message),
      closed: () => this.#fail(),
    });
    if (this.#connection === undefined) this.#fail();
  }

  #send(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.byteLength; ) {
      const count = Math.min(PIECE_BYTES - this.#pieceBytes, bytes.byteLength - at);
      this.#piece.set(bytes.subarray(at, at + count), this.#pieceBytes);
      this.#pieceBytes += count;
      at += count;
      if (this.#pieceBytes === PIECE_BYTES) this.#flush();
    }
  }

  #flush(): void {
    if (this.#pieceBytes === 0) return;
    const piece = this.#piece.subarray(0, this.#pieceBytes);
    this.#pieceBytes = 0;
    this.#connection?.send(piece);
  }

  #hear(message: StreamMessage): void {
    if (this.#isClosed || message.type !== 'voice') return;
    for (const [start, end] of message.ranges) this.#ranges.add(this.#origin + start, this.#origin + end);
    this.#checked = this.#origin + message.until;
    this.#calls.changed();
  }

  #fail(): void {
    if (this.isDeaf || this.#isClosed) return;
    this.isDeaf = true;
    this.#connection = undefined;
    this.#calls.failed();
  }
}
