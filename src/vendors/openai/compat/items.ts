// The items of a session as clients of OpenAI know them: what was committed, by turn detection or by the client, and its words.
import type { TranscriptEvent } from '../../../api/listen-events.ts';
import type { Polled } from '../../compat/live.ts';
import {
  committedItem,
  completed,
  delta,
  failed,
  joined,
  speechStarted,
  speechStopped,
  TRANSCRIPTION,
} from '../messages.ts';
import { firstPatience, isSentFast, type Patience, patienceAfter, QUIET_SECONDS } from './patience.ts';

type Heard = Pick<TranscriptEvent, 'text' | 'start' | 'end' | 'language'>;

interface Item {
  id: string;
  /** Settled words, and up to where. */
  text: string;
  end: number;
  language: string | undefined;
  /** What deltas have told, and the words that were shown last. */
  told: string;
  shown: string;
  isSpeechTold: boolean;
}

/** An item that the client has committed, and that waits for its words. */
interface Committed extends Item {
  until: number;
  /** Seconds of audio that no words had come for when it was committed. */
  unanswered: number;
  /** The client sends faster than it speaks: much of that may be speech. */
  isFast: boolean;
  /** How late words came before it. */
  lag: number;
  /** Polls so far. */
  age: number;
  patience: Patience;
}

/** A commit of less is refused, as by OpenAI. */
const COMMIT_SECONDS_MIN = 0.1;
const COMMITTED_MAX = 64;
/** Words that no commit has taken: what is longer is committed without one. */
const TEXT_MAX = 65_536;
const SAME_SECONDS = 0.05;

/** Writes an event: its type and members. */
type Say = (type: string, members: object) => string;

export interface ItemsOptions {
  say: Say;
  newId(): string;
  /** Seconds of audio so far, and of the last piece of it. */
  received(): number;
  piece(): number;
}

/** One for each conversation. Seconds count from the first audio. */
export class Items implements Polled {
  /** Whether turns are committed where they end; else where the client says so. */
  detects = true;
  /** How items are told of. */
  isBeta = false;
  readonly #options: ItemsOptions;
  #open: Item | undefined;
  readonly #committed: Committed[] = [];
  #lastId: string | null = null;
  #areWordsOpen = false;
  /** Ends of the last final, of the last words, of the last commit, of what was cleared and of what was counted. */
  #settled = 0;
  #heard = 0;
  /** How long after they were sent the last words came, as far as more audio was sent by then. */
  #lag: number | undefined;
  /** Where speech began last. */
  #speechAt = 0;
  #committedUntil = 0;
  #clearedUntil = 0;
  #countedUntil = 0;

  constructor(options: ItemsOptions) {
    this.#options = options;
  }

  /** Whether a commit waits for its words. */
  get waits(): boolean {
    return this.#committed.length > 0;
  }

  speechStarted(start: number): string[] {
    this.#speechAt = start;
    if (!this.detects || this.#waitingAt(start) !== undefined) return [];
    const item = this.#opened();
    if (item.isSpeechTold) return [];
    item.isSpeechTold = true;
    const speech = speechStarted(item.id, Math.round(start * 1000));
    return [this.#options.say('input_audio_buffer.speech_started', speech)];
  }

  /** Words that may still change: told are those that two in a row agree on. */
  interim(heard: Heard): string[] {
    const past = this.#past(heard.start);
    this.#hear(heard.end);
    this.#areWordsOpen = true;
    const item = this.#itemOf(heard);
    if (item === undefined) return past;
    const shown = joined(item.text, heard.text);
    const agreed = agreedWords(item.shown, shown);
    item.shown = shown;
    return [...past, ...this.#delta(item, agreed)];
  }

  final(heard: Heard): string[] {
    const past = this.#past(heard.start);
    this.#areWordsOpen = false;
    this.#hear(heard.end);
    this.#settled = heard.end;
    const item = this.#itemOf(heard);
    if (item === undefined) return past;
    item.text = joined(item.text, heard.text);
    item.end = heard.end;
    item.language = heard.language ?? item.language;
    if (item !== this.#open) return [...past, ...this.#delta(item, item.text), ...this.#reached(heard.end)];
    if (this.detects || item.text.length > TEXT_MAX) return [...past, ...this.#commitOpen(item)];
    return [...past, ...this.#delta(item, item.text)];
  }

  /** Audio that will have no words. */
  failed(end: number, error: object): string[] {
    const item = this.#opened();
    item.end = end;
    this.#open = undefined;
    return [...this.#tellCommitted(item), this.#options.say(`${TRANSCRIPTION}.failed`, failed(item.id, error))];
  }

  /**
   * The client commits what it has sent; `empty` and `many` are refused.
   *
   * @param ahead seconds of it that are ahead of the pace of speech; undefined where no clock tells
   */
  commit(ahead: number | undefined): string[] | 'empty' | 'many' {
    const received = this.#options.received();
    const hasFinals = (this.#open?.text ?? '') !== '';
    const hasWords = this.#areWordsOpen || hasFinals;
    const since = hasWords ? this.#committedUntil : Math.max(this.#committedUntil, this.#settled, this.#clearedUntil);
    if (received - since < COMMIT_SECONDS_MIN && !hasFinals) return 'empty';
    if (this.#committed.length >= COMMITTED_MAX) return 'many';
    const unanswered = received - this.#heard;
    const lag = this.#lag ?? 0;
    const isFast = isSentFast(Math.min(unanswered, ahead ?? this.#lag ?? unanswered));
    const item: Committed = {
      ...this.#opened(),
      until: received,
      ...{ unanswered, isFast, lag, age: 0 },
      patience: firstPatience(unanswered, isFast, lag),
    };
    this.#open = undefined;
    this.#committedUntil = received;
    this.#committed.push(item);
    const isWhole = item.text !== '' && !this.#areWordsOpen && item.end >= received - COMMIT_SECONDS_MIN;
    return [...this.#tellCommitted(item), ...(isWhole && item === this.#committed[0] ? this.#complete() : [])];
  }

  /** The client wants no words of what is not committed. */
  clear(): void {
    this.#open = undefined;
    this.#clearedUntil = this.#options.received();
  }

  /** What waited long enough is given as it is. */
  poll(): string[] {
    for (const item of this.#committed) item.age++;
    const told: string[] = [];
    for (let first = this.#committed[0]; first !== undefined; first = this.#committed[0]) {
      const { withWords, without } = first.patience;
      if (this.#areWordsOpen || first.age < (first.text === '' ? without : withWords)) break;
      told.push(...this.#complete());
    }
    return told;
  }

  /** Nothing more is heard. */
  end(): string[] {
    const told: string[] = [];
    while (this.waits) told.push(...this.#complete());
    const item = this.#open;
    return item === undefined || (item.text === '' && item.told === '') ? told : [...told, ...this.#commitOpen(item)];
  }

  /** Words up to there. */
  #hear(end: number): void {
    if (end <= this.#heard) return;
    this.#heard = end;
    this.#lag = Math.max(0, this.#options.received() - this.#options.piece() - end);
  }

  #opened(): Item {
    const { newId } = this.#options;
    const fresh = { text: '', end: 0, language: undefined, told: '', shown: '', isSpeechTold: false };
    this.#open ??= { id: newId(), ...fresh };
    return this.#open;
  }

  #waitingAt(start: number): Committed | undefined {
    return this.#committed.find(({ until }) => start < until);
  }

  /** The item of these words; undefined of words that the client has cleared. */
  #itemOf({ text, start, end }: Heard): Item | undefined {
    const waiting = this.#waitingAt(start);
    if (waiting !== undefined) return waiting;
    if (start < this.#clearedUntil && end <= this.#clearedUntil + QUIET_SECONDS) return undefined;
    return text === '' ? this.#open : this.#opened();
  }

  /** Words come in the order of the audio: what was committed before these has all of its own. */
  #past(start: number): string[] {
    const told: string[] = [];
    while (this.#committed[0] !== undefined && this.#committed[0].until <= start) told.push(...this.#complete());
    return told;
  }

  /** A final of the first item that waits ends there. */
  #reached(end: number): string[] {
    const first = this.#committed[0];
    if (first === undefined) return [];
    if (end < first.until - COMMIT_SECONDS_MIN) {
      const words = { end, lag: this.#lag ?? 0, isSpeechAfter: this.#speechAt > end };
      first.patience.withWords = first.age + patienceAfter(first, words);
      return [];
    }
    const told = this.#complete();
    while (this.#committed[0] !== undefined && end >= this.#committed[0].until - SAME_SECONDS)
      told.push(...this.#complete());
    return told;
  }

  #commitOpen(item: Item): string[] {
    this.#open = undefined;
    const stopped = speechStopped(item.id, Math.round(item.end * 1000));
    return [
      ...(item.isSpeechTold ? [this.#options.say('input_audio_buffer.speech_stopped', stopped)] : []),
      ...this.#tellCommitted(item),
      ...this.#tellCompleted(item, item.end),
    ];
  }

  #tellCommitted({ id }: Item): string[] {
    const { say } = this.#options;
    const { committed, created } = committedItem(id, this.#lastId);
    this.#lastId = id;
    const types = this.isBeta ? ['created'] : ['added', 'done'];
    return [
      say('input_audio_buffer.committed', committed),
      ...types.map((type) => say(`conversation.item.${type}`, created)),
    ];
  }

  #complete(): string[] {
    const item = this.#committed.shift();
    return item === undefined ? [] : this.#tellCompleted(item, item.until);
  }

  #tellCompleted(item: Item, end: number): string[] {
    const seconds = Math.max(0, Math.round((end - this.#countedUntil) * 1000) / 1000);
    this.#countedUntil = Math.max(this.#countedUntil, end);
    const members = completed(item.id, item.text, { type: 'duration', seconds }, item.language);
    return [...this.#delta(item, item.text), this.#options.say(`${TRANSCRIPTION}.completed`, members)];
  }

  /** Deltas only append: what contradicts those before it is not told before the end. */
  #delta(item: Item, text: string): string[] {
    if (text.length <= item.told.length || !text.startsWith(item.told)) return [];
    const members = delta(item.id, text.slice(item.told.length));
    item.told = text;
    return [this.#options.say(`${TRANSCRIPTION}.delta`, members)];
  }
}

/** What both begin with, up to the end of a word. */
function agreedWords(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const isEnd = (text: string) => at === text.length || /\s/.test(text[at] as string);
  const agreed = other.slice(0, at);
  return isEnd(one) && isEnd(other) ? agreed.trimEnd() : agreed.replace(/\s*\S*$/, '');
}
