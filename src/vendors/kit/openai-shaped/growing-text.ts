// Turns of a provider whose text only grows, and has no times: each delta stands behind the last, with its own spaces, and a
// turn is what came until an end. Times are the leg's.
import type { Heard, TurnBoundary } from '../../../../machines/events.ts';
import { ended, failed, partial } from '../heard.ts';
import { utteranceOf } from '../words.ts';

/** A turn of more is none: a minute of the fastest speech has a fiftieth of it. */
const CHARACTERS_MAX = 65_536;

/** One for each leg. */
export class GrowingText {
  readonly #title: string;
  #turn = 0;
  #text = '';
  #from = 0;

  /** @param title the provider, as messages call it */
  constructor(title: string) {
    this.#title = title;
  }

  /** The text of the turn, as it came. */
  get text(): string {
    return this.#text;
  }

  /** There are words that are no final yet. */
  get open(): boolean {
    return this.#text.trim() !== '';
  }

  /** Speech of a turn without words begins here. */
  began(seconds: number): void {
    if (!this.open) this.#from = Math.max(this.#from, seconds);
  }

  /** @param until where the audio ends that it may be about */
  delta(text: string, until: number): Heard[] {
    this.#text += text;
    if (this.#text.length > CHARACTERS_MAX) return [failed(this.#withoutEnd())];
    return this.#shown(until);
  }

  /** With the words so far the turn may be over, or is known not to be. */
  bounded(boundary: TurnBoundary, until: number): Heard[] {
    return this.#shown(until, boundary);
  }

  /** The turn is over; one without words is silence up to there. */
  end(until: number, text = this.#text): Heard {
    const utterance = this.#utterance(text, until);
    this.#text = '';
    this.#from = utterance.end;
    return ended(this.#turn++, utterance);
  }

  #shown(until: number, boundary?: TurnBoundary): Heard[] {
    return this.open ? [partial(this.#turn, this.#utterance(this.#text, until), { boundary })] : [];
  }

  #utterance(text: string, until: number) {
    return utteranceOf(text.trim(), this.#from, Math.max(this.#from, until));
  }

  #withoutEnd() {
    const message = `${this.#title} sent a turn without end.`;
    return { kind: 'retry', reason: 'upstream_error', code: 'turn_without_end', message } as const;
  }
}
