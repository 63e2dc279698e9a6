// Turns of a provider that settles its text piece by piece, and does not name them: each is the pieces up to an end, whoever
// says where that is. Words that are not settled are never made a final here.
import type { Heard, Utterance } from '../../../../machines/events.ts';
import { ended, partial } from '../heard.ts';
import { joinUtterances } from '../turn-text.ts';
import { spaced, wordCount } from '../words.ts';
import { ToldWords } from './told-words.ts';

const REMEMBERED_MAX = 32;

/**
 * One for each leg. Pieces are whole words, which the session joins; or `parts`, which bring their own spaces and may be parts
 * of words, as their `words` are: these are joined here.
 */
export class TurnsFromPieces {
  readonly #areParts: boolean;
  #turn = 0;
  #unsettled = false;
  /** Where the settled words of the turn begin, once there are some. */
  #from: number | undefined;
  /** The parts of the turn so far, joined. */
  #parts: Utterance | undefined;
  readonly #known: string[] = [];
  /** The parts of all turns: those of one are told as a whole, so nobody else can know them again. */
  readonly #told = new ToldWords();

  constructor(pieces: 'words' | 'parts' = 'words') {
    this.#areParts = pieces === 'parts';
  }

  /** The name of the turn that is open, or is to come. */
  get turnId(): string {
    return String(this.#turn);
  }

  /** Where the turn begins, on the leg's clock, once settled words of it were heard. */
  get from(): number | undefined {
    return this.#from;
  }

  /** All words of the turn are settled, and there are some. */
  get settled(): boolean {
    return this.#from !== undefined && !this.#unsettled;
  }

  /** Words were heard that are no final yet. */
  get open(): boolean {
    return this.#from !== undefined || this.#unsettled;
  }

  /** Unsettled words behind the pieces. */
  partial(utterance: Utterance): Heard {
    this.#unsettled = utterance.text !== '';
    return this.#areParts ? this.#joined(this.#with(utterance)) : partial(this.#turn, utterance);
  }

  /** Settled words. Silence with none before it is a turn of its own, so that it need not be kept; else it belongs to theirs. */
  piece(utterance: Utterance): Heard {
    this.#unsettled = false;
    if (utterance.text === '' && this.#from === undefined) return this.#ended(utterance);
    this.#from ??= utterance.start;
    if (!this.#areParts) return { type: 'piece', turnId: this.turnId, utterance };
    this.#parts = this.#with(utterance);
    this.#told.note(utterance);
    return this.#joined(this.#parts);
  }

  /**
   * Ends the turn, where there is one with settled words.
   *
   * @param until where it was ended, for parts: behind its last word
   */
  end(until = 0): Heard[] {
    if (this.#from === undefined) return [];
    const parts = this.#parts && spaced(this.#parts);
    return [this.#ended(parts && { ...parts, end: Math.max(parts.end, until) })];
  }

  /**
   * Whether a piece was heard before: it has no name but where it was and what it says.
   *
   * @param utterance of parts, which may come again with times that are a little different
   */
  isRepeated(name: string, utterance?: Utterance): boolean {
    if (this.#known.includes(name)) return true;
    if (utterance !== undefined && this.#told.without(utterance) === undefined) return true;
    this.#known.push(name);
    if (this.#known.length > REMEMBERED_MAX) this.#known.shift();
    return false;
  }

  /** The last word of the settled parts may continue in the next part. */
  #joined(utterance: Utterance): Heard {
    const settledWords = this.#parts === undefined ? 0 : Math.max(0, wordCount(this.#parts.text) - 1);
    return partial(this.#turn, spaced(utterance), settledWords > 0 ? { settledWords } : {});
  }

  #with(utterance: Utterance): Utterance {
    return this.#parts === undefined ? utterance : joinUtterances([this.#parts, utterance], '');
  }

  #ended(utterance: Utterance | undefined): Heard {
    this.#from = undefined;
    this.#parts = undefined;
    return ended(this.#turn++, utterance);
  }
}
