// Turns of a provider that settles its text piece by piece, and does not name them: each is the pieces up to an end, whoever
// says where that is. Words that are not settled are never made a final here.
import type { Heard, Utterance } from '../../../machines/events.ts';
import { joinUtterances } from '../turn-text.ts';
import { ended, partial } from './heard.ts';

const REMEMBERED_MAX = 32;

/** One for each leg. */
export class TurnsFromPieces {
  readonly #separator: '' | ' ';
  #turn = 0;
  #held = false;
  #unsettled = false;
  /** Pieces of the turn, where they are joined here. */
  #pieces: Utterance[] = [];
  readonly #known: string[] = [];

  /** @param separator what stands between pieces; '' for those that bring their own spaces, and may be parts of words */
  constructor(separator: '' | ' ' = ' ') {
    this.#separator = separator;
  }

  /** The name of the turn that is open, or is to come. */
  get turnId(): string {
    return String(this.#turn);
  }

  /** Settled words of the turn were heard. */
  get held(): boolean {
    return this.#held;
  }

  /** All words of the turn are settled, and there are some. */
  get settled(): boolean {
    return this.#held && !this.#unsettled;
  }

  /** Words were heard that are no final yet. */
  get open(): boolean {
    return this.#held || this.#unsettled;
  }

  /** Unsettled words behind the pieces. */
  partial(utterance: Utterance): Heard {
    this.#unsettled = utterance.text !== '';
    return partial(this.#turn, this.#separator === ' ' ? utterance : trimmed(this.#whole(utterance)));
  }

  /** Settled words. Silence with none before it is a turn of its own, so that it need not be kept; else it belongs to theirs. */
  piece(utterance: Utterance): Heard {
    this.#unsettled = false;
    if (utterance.text === '' && !this.#held) return this.#ended(utterance);
    this.#held = true;
    if (this.#separator === ' ') return { type: 'piece', turnId: this.turnId, utterance };
    const whole = this.#whole(utterance);
    this.#pieces = [whole];
    return partial(this.#turn, trimmed(whole));
  }

  /** Ends the turn, where there is one with settled words. */
  end(): Heard[] {
    const [whole] = this.#pieces;
    return this.#held ? [this.#ended(whole === undefined ? undefined : trimmed(whole))] : [];
  }

  /** Whether a piece was heard before: it has no name but where it was and what it says. */
  isRepeated(name: string): boolean {
    if (this.#known.includes(name)) return true;
    this.#known.push(name);
    if (this.#known.length > REMEMBERED_MAX) this.#known.shift();
    return false;
  }

  #whole(utterance: Utterance): Utterance {
    return this.#pieces.length === 0 ? utterance : joinUtterances([...this.#pieces, utterance], this.#separator);
  }

  #ended(utterance: Utterance | undefined): Heard {
    this.#held = false;
    this.#pieces = [];
    return ended(this.#turn++, utterance);
  }
}

const trimmed = (utterance: Utterance): Utterance => ({ ...utterance, text: utterance.text.trim() });
