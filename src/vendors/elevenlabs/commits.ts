// The turns of one leg, each by one commit: what was said of it comes twice, once without and once with the times of words, in
// either order, and is given once. https://elevenlabs.io/docs/cookbooks/speech-to-text/streaming
import type { Heard, Word } from '../../../machines/events.ts';
import { ended, partial } from '../kit/heard.ts';
import type { LegClock } from '../kit/leg-clock.ts';
import type { Step } from '../kit/provider.ts';
import { meanConfidence, utteranceOf } from '../kit/words.ts';

/** Commits without an answer; what is committed beyond that goes with the next one. */
const UNANSWERED_MAX = 32;
/** Texts that were given without their times, whose other version may still come. */
const ALONE_MAX = 8;

/** Texts that were given, so that one said again is known. */
const GIVEN_REMEMBERED_MAX = 32;

/** Words come at once behind the text, or not at all. */
const WORDS_MS = 300;

/** A part of the audio, by the provider's clock. */
interface Place {
  turn: number;
  from: number;
  until: number;
  /** The end is that of a commit, and not only as far as audio was sent. */
  isCommitted: boolean;
}

/** What was said between two commits. */
export interface Said {
  text: string;
  words?: Word[] | undefined;
  language?: string | undefined;
}

export class Commits {
  readonly #clock: LegClock;
  /** Whether each answer comes a second time, with words. */
  readonly #timed: boolean;
  /** Ends of commits that are not answered. */
  readonly #unanswered: number[] = [];
  /** Answers whose words are waited for. */
  #waiting: (Place & { text: string })[] = [];
  #alone: string[] = [];
  #givenTexts: string[] = [];
  /** The text of an answer whose words came first. */
  #early: string | undefined;
  /** The last answer of each kind, while nothing else was heard. */
  #last: { plain?: string; timed?: string } = {};
  #turn = 0;
  #answeredSeconds = 0;
  #committedSeconds = 0;

  constructor(clock: LegClock, timed: boolean) {
    this.#clock = clock;
    this.#timed = timed;
  }

  /** Seconds of audio behind the last commit. */
  get uncommitted(): number {
    return this.#clock.sentSeconds - this.#committedSeconds;
  }

  /** Every commit was answered, and every answer given. */
  get settled(): boolean {
    return this.#unanswered.length === 0 && this.#waiting.length === 0;
  }

  /** All audio up to here is committed; false where too many commits are not answered. */
  commit(): boolean {
    if (this.#unanswered.length === UNANSWERED_MAX) return false;
    this.#committedSeconds = this.#clock.sentSeconds;
    this.#unanswered.push(this.#committedSeconds);
    return true;
  }

  /** A commit was refused: its audio stays with what follows. */
  refused(): void {
    this.#unanswered.shift();
    this.#committedSeconds = this.#unanswered.at(-1) ?? this.#answeredSeconds;
  }

  partial(text: string): Heard[] {
    this.#last = {};
    // Of the turn behind one that waits for its words.
    if (this.#waiting.length > 0) return [];
    const { sentSeconds } = this.#clock;
    return [
      partial(
        this.#turn,
        this.#utterance({ text }, { from: this.#answeredSeconds, until: sentSeconds, isCommitted: false }),
      ),
    ];
  }

  /** The answer without times. Where nothing is given yet, its words are waited for. */
  plain(text: string): Step[] {
    if (this.#isAgain('plain', text)) return [];
    const early = this.#early;
    this.#early = undefined;
    if (early === text) return [];
    const place = this.#next();
    if (!this.#timed) return [this.#given({ text }, place)];
    this.#waiting.push({ ...place, text });
    return [{ type: 'wake', afterMs: WORDS_MS }];
  }

  /** The answer with times. */
  timed(said: Said): Heard[] {
    const isAgain = this.#isAgain('timed', said.text);
    if (isAgain && this.#waiting.length === 0) return [];
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return [this.#given(said, waiting)];
    const alone = this.#alone.indexOf(said.text);
    if (alone >= 0) {
      this.#alone.splice(alone, 1);
      return [];
    }
    this.#early = said.text;
    return [this.#given(said, this.#next())];
  }

  /** Words were waited for long enough. */
  giveWaiting(): Heard[] {
    const given = this.#waiting.map((each) => this.#given(each, each));
    this.#alone = [...this.#alone, ...this.#waiting.map(({ text }) => text)].slice(-ALONE_MAX);
    this.#waiting = [];
    return given;
  }

  /** What was given once more, while it answers no commit; or the same before it is given. */
  #isAgain(kind: 'plain' | 'timed', text: string): boolean {
    const isKnown = this.#last[kind] === text || (kind === 'plain' && this.#givenTexts.includes(text));
    const isAgain = isKnown && text !== this.#early && this.#unanswered.length === 0;
    this.#last[kind] = text;
    return isAgain;
  }

  /** The place of the oldest commit; of one that the provider made on its own, up to what was sent. */
  #next(): Place {
    const from = this.#answeredSeconds;
    const commit = this.#unanswered.shift();
    const until = Math.max(from, commit ?? this.#clock.sentSeconds);
    this.#answeredSeconds = until;
    this.#committedSeconds = Math.max(until, this.#committedSeconds);
    return { turn: this.#turn++, from, until, isCommitted: commit !== undefined };
  }

  #given(said: Said, place: Place): Heard {
    this.#givenTexts = [...this.#givenTexts, said.text].slice(-GIVEN_REMEMBERED_MAX);
    return ended(place.turn, this.#utterance(said, place));
  }

  #utterance({ text, words, language }: Said, { from, until, isCommitted }: Omit<Place, 'turn'>) {
    const place = (seconds: number) => this.#clock.legSeconds(seconds);
    const [first, last] = [words?.[0], words?.at(-1)];
    const start = first?.start ?? place(from);
    const confidence = words && meanConfidence(words);
    const end = isCommitted ? Math.max(place(until), last?.end ?? 0) : (last?.end ?? place(until));
    return utteranceOf(text.trim(), start, Math.max(start, end), { confidence, language, words });
  }
}
