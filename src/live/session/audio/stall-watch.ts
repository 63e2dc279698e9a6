// Notices a leg that has gone quiet: speech went in and nothing came out for the provider's limit, or for much longer than legs
// of this session have ever taken. What follows is the session's. Loudness finds the speech; a voice detector confirms it shortly
// before the limit, because music, a keyboard or breath are as loud, and a leg that stays silent then is healthy.
import type { Clock } from '../../../../machines/clock.ts';
import type { AudioPipeline } from '../../../audio/pipeline.ts';
import {
  type OpenVoiceScan,
  SCAN_LEAD_MS,
  type VoiceCheckOutcome,
  type VoiceScan,
} from '../../../recogniser/voice/scan.ts';
import { IdleTimer } from '../../../runtime/timeouts.ts';
import type { LiveTiming } from '../../../vendors/kit/provider.ts';

/** How often a leg is checked within its limit. */
const LOOKS = 4;
/** The shortest time between two checks while too little speech is unanswered to judge. */
const LOOK_MS_MIN = 100;
/**
 * A leg that has answered promptly is taken for dead before its provider's limit where another model could take over: when an
 * answer is late by so many times the longest that was waited for, and not before `leastMs`. A sound that is no speech has no
 * answer either: mostly it is shorter than `speechMs`, and one that was longer counts as waited for.
 */
const PROMPT = { answersMin: 5, timesLongest: 3, leastMs: 4_000, speechMs: 2_000 } as const;
/** More answers are better evidence: the bound of a leg whose answers have all been quick is shorter. */
const SURE = { answersMin: 20, timesLongest: 4, leastMs: 3_000 } as const;

/**
 * So long before the limit, or half the limit, the detector is asked: its process may have to start (0.8 s, more on a busy machine).
 * Where it has not answered by then, the limit is extended by `waitMs`, once.
 */
const CHECK = { leadMs: 4_000, waitMs: 1_000 } as const;
/** A voice that begins so shortly after the sound belongs to it: the limit counts from the sound. */
const SAME_SOUND_MS = 1_000;

type Audio = Pick<AudioPipeline, 'sentSamples' | 'meter' | 'legTimeline'>;
type Timing = Pick<LiveTiming, 'stallMs' | 'answers' | 'turnPauseMs'>;

/** The longest that legs of a session took to answer. */
export interface LongestAnswer {
  ms: number;
}

export interface StallWatchCalls {
  stalled(): void;
  /** Whether another model could take over. */
  hasOther(): boolean;
  /** Begins a search for voices in what the leg was sent. */
  scan: OpenVoiceScan;
  /** A leg was suspected, and that is what the detector said. */
  checked(outcome: VoiceCheckOutcome): void;
}

export class StallWatch {
  readonly #clock: Clock;
  readonly #audio: Audio;
  readonly #sampleRate: number;
  #timing: Timing;
  readonly #longest: LongestAnswer;
  readonly #calls: StallWatchCalls;
  readonly #lookMs: number;
  #look: IdleTimer | undefined;
  #answers = 0;
  #heardAtMs: number;
  #sentWhenHeard: number;
  /** Since when there is speech without an answer, and since when one is due. */
  #unansweredSinceMs: number | undefined;
  #dueSinceMs: number | undefined;
  /** The search for a voice in the speech without an answer, how far it goes, and what came of it. */
  #scan: VoiceScan | undefined;
  #scanEnd = 0;
  #verdict: 'voice' | 'no_detector' | undefined;
  /** The limit has passed, and only the detector is waited for. */
  #isWaiting = false;

  /** A `stallMs` of Infinity is for legs that may be silent. */
  constructor(
    clock: Clock,
    audio: Audio,
    sampleRate: number,
    timing: Timing,
    longest: LongestAnswer,
    calls: StallWatchCalls,
  ) {
    this.#clock = clock;
    this.#audio = audio;
    this.#sampleRate = sampleRate;
    this.#timing = timing;
    this.#longest = longest;
    this.#calls = calls;
    this.#lookMs = (timing.answers === 'late' ? timing.stallMs : Math.min(timing.stallMs, PROMPT.leastMs)) / LOOKS;
    this.#heardAtMs = clock.now();
    this.#sentWhenHeard = audio.sentSamples;
    if (timing.stallMs !== Number.POSITIVE_INFINITY) this.#lookAfter(this.#lookMs);
  }

  /** The leg gave a sign of life. */
  heard(): void {
    const now = this.#clock.now();
    if (this.#timing.answers !== 'late' && this.#isUnanswered) {
      this.#answers++;
      this.#noteDue();
      this.#longest.ms = Math.max(this.#longest.ms, now - (this.#dueSinceMs ?? now));
    }
    this.#heardAtMs = now;
    this.#waitFrom(this.#audio.sentSamples);
    this.#look?.touch();
  }

  /** A pause of another length ends a turn from now on. */
  turnPause(turnPauseMs: number): void {
    this.#timing = { ...this.#timing, turnPauseMs };
  }

  stop(): void {
    this.#look?.stop();
    this.#endScan();
  }

  /** Nothing before the sample wants an answer any more. */
  #waitFrom(sample: number): void {
    this.#sentWhenHeard = sample;
    this.#unansweredSinceMs = undefined;
    this.#dueSinceMs = undefined;
    this.#verdict = undefined;
    this.#isWaiting = false;
    this.#endScan();
  }

  #lookAfter(afterMs: number): void {
    this.#look = new IdleTimer(this.#clock, afterMs, () => {
      const leftMs = Math.min(this.#leftMs(), this.#promptLeftMs());
      if (leftMs <= 0 && this.#scan !== undefined && !this.#isWaiting) {
        this.#isWaiting = true;
        this.#lookAfter(CHECK.waitMs);
        return;
      }
      if (leftMs <= 0) {
        this.#stalled();
        return;
      }
      this.#isWaiting = false;
      const untilCheckMs = leftMs - Math.min(CHECK.leadMs, this.#timing.stallMs / 2);
      if (untilCheckMs <= 0) this.#check();
      this.#lookAfter(Math.min(untilCheckMs > 0 ? Math.ceil(untilCheckMs) : leftMs, this.#lookMs));
    });
  }

  #stalled(): void {
    this.#calls.checked(this.#verdict ?? 'late');
    this.stop();
    this.#calls.stalled();
  }

  /** Asks whether what is without an answer is a voice. */
  #check(): void {
    if (this.#scan !== undefined || this.#verdict !== undefined) return;
    const lead = this.#samplesOf(SCAN_LEAD_MS);
    const from = Math.max(this.#sentWhenHeard, this.#speechStart - lead);
    this.#scanEnd = this.#audio.sentSamples;
    this.#scan = this.#calls.scan(from, () => this.#scanned());
    this.#scan.advance();
    if (this.#scan.isOver) this.#settle('no_detector');
  }

  #scanned(): void {
    const scan = this.#scan as VoiceScan;
    const { firstVoice, knownTo } = scan;
    if (firstVoice !== undefined) {
      // The noise before it had no answer to wait for.
      if (firstVoice - this.#speechStart > this.#samplesOf(SAME_SOUND_MS)) this.#clear(firstVoice);
      else this.#settle('voice');
    } else if (scan.isOver) this.#settle('no_detector');
    else if (this.#scanEnd - knownTo < this.#samplesOf(SAME_SOUND_MS)) this.#clear(knownTo);
    else scan.advance();
  }

  /** There is no voice before the sample: the leg had nothing to say to that. */
  #clear(sample: number): void {
    this.#calls.checked('no_voice');
    this.#waitFrom(sample);
  }

  #settle(verdict: 'voice' | 'no_detector'): void {
    this.#verdict = verdict;
    this.#endScan();
    if (this.#isWaiting) this.#stalled();
  }

  #endScan(): void {
    this.#scan?.stop();
    this.#scan = undefined;
  }

  /** Where the speech without an answer begins. */
  get #speechStart(): number {
    return this.#audio.meter.speech.startAfter(this.#sentWhenHeard);
  }

  #samplesOf(ms: number): number {
    return Math.round((ms * this.#sampleRate) / 1000);
  }

  get #isUnanswered(): boolean {
    return this.#audio.meter.speech.between(this.#sentWhenHeard, this.#audio.sentSamples);
  }

  /** The limit counts from the speech on: before it the leg had nothing to say, for however long. */
  #leftMs(): number {
    if (!this.#isUnanswered) return Number.POSITIVE_INFINITY;
    this.#noteDue();
    return (this.#unansweredSinceMs as number) + this.#timing.stallMs - this.#clock.now();
  }

  #noteDue(): void {
    const { answers, turnPauseMs } = this.#timing;
    const { audible } = this.#audio.meter;
    const start = this.#speechStart;
    this.#unansweredSinceMs ??= this.#sentAtMs(start);
    if (answers === 'words') this.#dueSinceMs = this.#unansweredSinceMs;
    if (answers !== 'pauses' || turnPauseMs === Number.POSITIVE_INFINITY) return;
    const pause = this.#samplesOf(turnPauseMs);
    const end = audible.endAfter(start, pause);
    if (end !== undefined && end + pause <= this.#audio.sentSamples) this.#dueSinceMs ??= this.#sentAtMs(end + pause);
  }

  /** Until a leg that has answered promptly is taken for dead, where another model could take over. */
  #promptLeftMs(): number {
    if (this.#dueSinceMs === undefined || this.#answers < PROMPT.answersMin) return Number.POSITIVE_INFINITY;
    if (!this.#calls.hasOther()) return Number.POSITIVE_INFINITY;
    const leftMs = this.#dueSinceMs + this.#boundMs - this.#clock.now();
    const speechSamples = this.#audio.meter.speech.within(this.#sentWhenHeard, this.#audio.sentSamples);
    const speechLeftMs = PROMPT.speechMs - (speechSamples * 1000) / this.#sampleRate;
    return Math.max(leftMs, speechLeftMs > 0 ? Math.max(speechLeftMs, LOOK_MS_MIN) : 0);
  }

  get #boundMs(): number {
    const promptMs = Math.max(PROMPT.leastMs, PROMPT.timesLongest * this.#longest.ms);
    if (this.#answers < SURE.answersMin) return promptMs;
    return Math.min(promptMs, Math.max(SURE.leastMs, SURE.timesLongest * this.#longest.ms));
  }

  /**
   * When a sample was sent is told by its place in the audio; what was sent faster than it was spoken counts from the last
   * sign of life. Noted when it is seen first: what is held back from the leg later makes it no younger.
   */
  #sentAtMs(sample: number): number {
    const { sentSamples, legTimeline } = this.#audio;
    const sent = legTimeline.legOf(sentSamples);
    const agoMs = ((sent - legTimeline.legOf(Math.min(sample, sentSamples))) * 1000) / this.#sampleRate;
    return Math.max(this.#heardAtMs, this.#clock.now() - agoMs);
  }
}
