// One timeline over all of the gateway's sessions: positions count from the first sample that was ever sent, turns from the first
// turn, speakers from the first one, whatever each session counts. Pure; decides as well what was already told and is
// not told again.
import type { ServerEvent } from '../../events.ts';
import type { Word } from '../../types/answers.ts';
import type {
  SpeakersRestarted,
  Transcript,
  TurnEagerEnd,
  TurnEnded,
  TurnResumed,
  Warning,
} from '../../types/events.ts';
import { SpeakerNumbers } from './speaker-numbers.ts';
import { TurnBounds } from './turn-bounds.ts';

/** Speech that begins so close to where it was said to begin is the same speech. */
const SAME_SPEECH_SECONDS = 0.2;
/** Warnings that are remembered, so that a new session does not repeat them. */
const WARNINGS_MAX = 100;

export class Timeline {
  readonly #sampleRate: number;
  /** Sample at which the current session began. */
  #origin = 0;
  #sessions = 0;
  /** Turns that had their final before the current session. */
  #turnsBefore = 0;
  #turns = 0;
  #coveredSample = 0;
  /** The turn whose interim was shown and whose final is due. */
  #shown: Transcript | undefined;
  /** Up to where it was shown before the current session. */
  #shownBefore = 0;
  #speechStart: number | undefined;
  readonly #warnings = new Set<string>();
  readonly #speakers = new SpeakerNumbers();
  readonly #bounds = new TurnBounds();

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** Everything before this sample has its final. */
  get coveredSample(): number {
    return this.#coveredSample;
  }

  /** Up to where the current session's own time has finals. */
  get heardSeconds(): number {
    return this.secondsOf(Math.max(0, this.#coveredSample - this.#origin));
  }

  /** A session begins that hears from this sample on. */
  begin(originSample: number): void {
    this.#origin = originSample;
    this.#turnsBefore = this.#turns;
    this.#shownBefore = this.#shown?.end ?? 0;
    this.#sessions++;
    this.#speakers.begin();
  }

  secondsOf(sample: number): number {
    return Math.round((sample / this.#sampleRate) * 1e6) / 1e6;
  }

  /** The event on this timeline; undefined where it only repeats what was told. */
  place<Event extends ServerEvent>(event: Event): Event | undefined {
    switch (event.type) {
      case 'transcript':
        return this.#transcript(event) as Event | undefined;
      case 'speech_started': {
        const start = this.#shift(event.start);
        const isSame = this.#speechStart !== undefined && start <= this.#speechStart + SAME_SPEECH_SECONDS;
        if (isSame && this.#sessions > 1) return undefined;
        this.#speechStart = start;
        if (event.turn === undefined) return { ...event, start };
        this.#bounds.isTold = true;
        return { ...event, start, turn: this.#turnsBefore + event.turn };
      }
      case 'turn_eager_end': {
        const placed = this.#placed<TurnEagerEnd>(event);
        // Not of less than was shown: what is heard again says so once more.
        return placed.end < this.#shownBefore ? undefined : (this.#bounds.eagerEnd(placed) as Event);
      }
      case 'turn_resumed':
        return this.#bounds.resumed({ ...event, turn: this.#turnsBefore + event.turn }) as Event | undefined;
      case 'turn_ended':
        return this.#bounds.ended(this.#placed<TurnEnded>(event)) as Event;
      case 'speakers_restarted':
        return { ...this.#speakers.restarted(event), start: this.#shift(event.start) } as Event;
      case 'configured':
        return { ...event, from: this.#shift(event.from) };
      case 'discontinuity':
        return { ...event, from: this.#shift(event.from), to: this.#shift(event.to) };
      case 'warning':
        return this.#isNew(event) ? event : undefined;
      default:
        return event;
    }
  }

  /** What is to be told before a transcript of this timeline: that its speakers have numbers of another connection. */
  restartWith(transcript: Transcript): SpeakersRestarted | undefined {
    return this.#speakers.told(transcript);
  }

  /** The session is over: no bound of a turn stays open. */
  close(): (TurnResumed | TurnEnded)[] {
    return this.#bounds.close();
  }

  /** A turn that was shown and not heard again by the session that followed has its final all the same, without words. */
  rest(): (Transcript | TurnResumed | TurnEnded)[] {
    if (this.#shown === undefined) return [];
    const { words: _words, confidence: _confidence, ...shown } = this.#shown;
    const start = Math.max(shown.start, this.secondsOf(this.#coveredSample));
    this.#shown = undefined;
    this.#turns++;
    const final: Transcript = { ...shown, text: '', is_final: true, start, end: start };
    this.#bounds.final(final);
    return [final, ...this.close()];
  }

  /** Something of a turn, with its place on this timeline. */
  #placed<Event extends { turn: number; start: number; end: number }>(event: Event): Event {
    const turn = this.#turnsBefore + event.turn;
    return { ...event, turn, start: this.#shift(event.start), end: this.#shift(event.end) };
  }

  #transcript(event: Transcript): Transcript | undefined {
    const { words } = event;
    const placed: Transcript = {
      ...this.#speakers.numbered(this.#placed(event)),
      ...(words === undefined ? {} : { words: words.map((word) => this.#word(word)) }),
    };
    if (!event.is_final) {
      // The consumer does not see a turn shrink: what is heard again is shown once it says more.
      if (placed.end < this.#shownBefore) return undefined;
      this.#shown = placed;
      return placed;
    }
    this.#turns = placed.turn + 1;
    this.#coveredSample = Math.max(this.#coveredSample, Math.round(placed.end * this.#sampleRate));
    this.#shown = undefined;
    this.#shownBefore = 0;
    this.#speechStart = undefined;
    this.#bounds.final(placed);
    return placed;
  }

  #word(word: Word): Word {
    return { ...this.#speakers.numbered(word), start: this.#shift(word.start), end: this.#shift(word.end) };
  }

  /** Seconds of the current session as seconds of this timeline; exact by samples. */
  #shift(seconds: number): number {
    return this.#origin === 0 ? seconds : this.secondsOf(this.#origin + Math.round(seconds * this.#sampleRate));
  }

  /** A node that drains says so each time; the rest is said once. */
  #isNew({ code, param, message }: Warning): boolean {
    if (code === 'node_draining') return true;
    const key = JSON.stringify([code, param, message]);
    if (this.#sessions > 1 && this.#warnings.has(key)) return false;
    if (this.#warnings.size < WARNINGS_MAX) this.#warnings.add(key);
    return true;
  }
}
