// The text of the turns of one leg: joins settled pieces, drops what comes twice, and says what became of each message.
// Plain data, no chart: this runs for every partial. When a final is due is decided elsewhere.
import type { Heard, LegFailure, Utterance } from '../../../machines/events.ts';
import { ToldWords } from './turns/told-words.ts';

/** Ended turns are remembered, so that a final said twice and a formatted final that comes late are known for what they are. */
const ENDED_REMEMBERED_MAX = 32;

/** What a message came to. */
export type TurnStep =
  /** Unsettled words of the current turn; `begins` when they are its first. */
  | { type: 'interim'; utterance: Utterance; begins: boolean }
  /**
   * The turn is over with these words; `begins` when nothing of it was heard before, `resumes` when it was said to be over without
   * words. `isLate`: words of it were received after the end of the last turn.
   */
  | {
      type: 'ended';
      utterance: Utterance;
      formattedFollows: boolean;
      begins: boolean;
      resumes: boolean;
      isLate: boolean;
    }
  /** The turn is over and came to nothing. `until` is the end position, where the provider gave one. */
  | { type: 'empty'; until: number | undefined; heard: boolean }
  /** The formatted version of the turn that has just ended. */
  | { type: 'formatted'; utterance: Utterance }
  /** Said again, or too late. */
  | { type: 'dropped'; why: 'duplicate_final' | 'late_formatted' | 'late_partial' };

export type TurnMessage = Extract<Heard, { turnId: string }>;

/** A leg that finished while a turn was open: its words were heard, and never made final. */
export const finalMissing: LegFailure = {
  kind: 'retry',
  reason: 'upstream_closed',
  code: 'final_missing',
  message: 'The provider ended without the final of the last turn.',
};

/** The reducer. One for each leg: turn ids and times belong to the leg. */
export class TurnText {
  #turnId: string | undefined;
  #pieces: Utterance[] = [];
  /** The latest unsettled words, and how many of them the provider will not change any more. */
  #partial: { utterance: Utterance; settledWords: number } | undefined;
  /** Settled pieces of a turn that continued under another name: they are words of the session, and stand first. */
  #carried: Utterance[] = [];
  #heardAny = false;
  readonly #endedIds: string[] = [];
  /** Turns that ended without words: a provider may mean another end of the same turn. */
  readonly #emptiedIds: string[] = [];
  readonly #told = new ToldWords();
  /** The ended turn whose formatted version is still to come. */
  #awaitedTurnId: string | undefined;

  hear(message: TurnMessage): TurnStep {
    if (message.type === 'turn.formatted') return this.#formatted(message.turnId, message.utterance);
    const isEnd = message.type === 'turn.ended';
    const latest = this.#newOf(message);
    if (this.#isOver(message) || (message.utterance !== undefined && latest === undefined))
      return { type: 'dropped', why: isEnd ? 'duplicate_final' : 'late_partial' };
    const isOpen = this.#heardAny && this.#turnId === message.turnId;
    if (this.#turnId !== message.turnId) this.#begin(message.turnId);
    return isEnd ? this.#ended(latest, message, isOpen) : this.#heard(message, latest as Utterance);
  }

  /** What the turn's provider settles, or shows, is known by its name and its place. */
  #isOver({ type, turnId, utterance }: Exclude<TurnMessage, { type: 'turn.formatted' }>): boolean {
    const isEmptied = this.#emptiedIds.includes(turnId);
    return this.#endedIds.includes(turnId) || (isEmptied && (type === 'partial' || !utterance?.text));
  }

  /** The words of a message that were not settled before; undefined where none of them is new. */
  #newOf({ type, turnId, utterance }: Exclude<TurnMessage, { type: 'turn.formatted' }>): Utterance | undefined {
    if (utterance === undefined) return undefined;
    // The whole of a turn, of which pieces are known.
    if (type === 'turn.ended' && this.#turnId === turnId && this.#pieces.length > 0) return utterance;
    const isNew = this.#told.hasGoneBack && (type === 'partial' || (this.#heardAny && this.#turnId === turnId));
    return isNew ? utterance : this.#told.without(utterance);
  }

  #heard(message: Extract<TurnMessage, { type: 'partial' | 'piece' }>, latest: Utterance): TurnStep {
    const isSettled = message.type === 'piece';
    this.#partial = isSettled ? undefined : { utterance: latest, settledWords: message.settledWords ?? 0 };
    if (isSettled) {
      this.#pieces.push(latest);
      this.#told.note(latest);
    }
    const parts = [...this.#carried, ...this.#pieces, ...(isSettled ? [] : [latest])];
    const utterance = joinUtterances(parts);
    // Some providers say in so many words that they hear none.
    const begins = !this.#heardAny && utterance.text !== '';
    if (begins) {
      this.#heardAny = true;
      this.#awaitedTurnId = undefined;
    }
    return { type: 'interim', utterance, begins };
  }

  /** Whether the provider's clock has gone back, so that its times are unreliable. */
  get hasGoneBack(): boolean {
    return this.#told.hasGoneBack;
  }

  /** Whether words were heard of a turn that has not ended. */
  get open(): boolean {
    return this.#heardAny;
  }

  /** The words of the open turn that its provider will not change any more: up to the end of the last of them. */
  get settled(): Utterance | undefined {
    const { utterance, settledWords = 0 } = this.#partial ?? {};
    const first = utterance === undefined ? undefined : firstWordsOf(utterance, settledWords);
    const parts = [...this.#carried, ...this.#pieces, ...(first === undefined ? [] : [first])];
    const whole = joinUtterances(parts.filter(({ text }) => text !== ''));
    if (whole.text === '') return undefined;
    const last = whole.words?.at(-1);
    return last === undefined ? whole : { ...whole, end: last.end };
  }

  #begin(turnId: string): void {
    this.#turnId = turnId;
    this.#partial = undefined;
    this.#carried.push(...this.#pieces);
    this.#pieces = [];
  }

  #ended(
    utterance: Utterance | undefined,
    { formattedFollows, noSpeech }: Extract<TurnMessage, { type: 'turn.ended' }>,
    isLate: boolean,
  ): TurnStep {
    const parts = [...this.#carried, ...(utterance === undefined ? this.#pieces : [utterance])];
    const joined = parts.length > 0 ? joinUtterances(parts) : undefined;
    const whole: Utterance | undefined = noSpeech && joined !== undefined ? { ...joined, noSpeech } : joined;
    const heard = this.#heardAny;
    // A formatted version would know nothing of words that came under another name.
    const awaited = formattedFollows && this.#carried.length === 0;
    const turnId = this.#turnId as string;
    const resumes = this.#emptiedIds.includes(turnId);
    // A text that was dropped still had its turn.
    const isEmpty = whole === undefined || (whole.text === '' && !noSpeech);
    remember(isEmpty && !resumes ? this.#emptiedIds : this.#endedIds, turnId);
    if (utterance !== undefined) this.#told.note(utterance);
    this.#turnId = undefined;
    this.#partial = undefined;
    this.#pieces = [];
    this.#carried = [];
    this.#heardAny = false;
    if (isEmpty) return { type: 'empty', until: whole?.end, heard };
    this.#awaitedTurnId = awaited ? turnId : undefined;
    return { type: 'ended', utterance: whole, formattedFollows: awaited, begins: !heard, resumes, isLate };
  }

  #formatted(turnId: string, utterance: Utterance): TurnStep {
    if (this.#awaitedTurnId !== turnId) return { type: 'dropped', why: 'late_formatted' };
    this.#awaitedTurnId = undefined;
    this.#told.note(utterance);
    return { type: 'formatted', utterance };
  }
}

function remember(turnIds: string[], turnId: string): void {
  turnIds.push(turnId);
  if (turnIds.length > ENDED_REMEMBERED_MAX) turnIds.shift();
}

/** The utterance up to the end of one of its words; undefined where its words do not make up its text. */
function firstWordsOf(utterance: Utterance, count: number): Utterance | undefined {
  const { text, words = [] } = utterance;
  const texts = text.match(/\S+/g) ?? [];
  const kept = words.slice(0, count);
  const last = kept.at(-1);
  if (last === undefined || texts.length !== words.length) return undefined;
  return { ...utterance, text: texts.slice(0, count).join(' '), end: last.end, words: kept };
}

/** Joins parts of one turn in their order. The confidence is the mean weighted by length of text. */
export function joinUtterances(parts: readonly Utterance[], separator = ' '): Utterance {
  const first = parts[0];
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return { text: '', start: 0, end: 0 };
  if (parts.length === 1) return first;
  const joined: Utterance = {
    text: parts
      .map((part) => part.text)
      .filter((text) => text !== '')
      .join(separator),
    start: first.start,
    end: Math.max(...parts.map((part) => part.end)),
  };
  const weighed = parts.filter((part) => part.confidence !== undefined && part.text !== '');
  const weight = weighed.reduce((sum, part) => sum + part.text.length, 0);
  if (weight > 0) {
    joined.confidence = weighed.reduce((sum, part) => sum + (part.confidence as number) * part.text.length, 0) / weight;
  }
  if (first.speaker !== undefined && parts.every((part) => part.speaker === first.speaker))
    joined.speaker = first.speaker;
  if (first.language !== undefined) joined.language = first.language;
  if (parts.some((part) => part.words !== undefined)) joined.words = parts.flatMap((part) => part.words ?? []);
  return joined;
}
