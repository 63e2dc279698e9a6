// What a session with replacement rules says. Nothing waits: a phrase of which one final has the beginning and the next the end is not
// found, since a final that waited would be late for all others.
import type { OutgoingEvent, TranscriptEvent } from '../../../api/listen-events.ts';
import { Replacer, type ReplacerOptions } from '../../../replacements/replaced.ts';

export class ReplacedEvents {
  readonly #replacer: Replacer;
  /** Text of the interim that was sent last of the turn. */
  #shown: { turn: number; text: string } = { turn: -1, text: '' };
  /** Of the words that were heard last: what is said of an end of a turn names none. */
  #language: string | undefined;
  /** As it was sent. */
  #lastFinal = '';
  #hasChanged = false;

  constructor(options: ReplacerOptions) {
    this.#replacer = new Replacer(options);
  }

  /** The event with its rules applied; undefined for an interim that shows nothing new. */
  replaced(event: OutgoingEvent): OutgoingEvent | undefined {
    if (event.type === 'transcript') return this.#transcript(event);
    if (event.type === 'turn_eager_end')
      event.text = this.#replacer.replaced({ text: event.text, language: this.#language })?.text ?? event.text;
    return event;
  }

  /** Whether rules have changed the words that were heard last. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** The text of the turn that has just ended. */
  get lastFinal(): string {
    return this.#lastFinal;
  }

  #transcript(event: TranscriptEvent): TranscriptEvent | undefined {
    this.#language = event.language;
    const replaced = this.#replacer.replaced(event);
    this.#hasChanged = replaced !== undefined;
    if (replaced !== undefined) {
      event.text = replaced.text;
      if (replaced.words !== undefined) event.words = replaced.words;
    }
    const { turn, text } = event;
    if (event.is_final) {
      this.#lastFinal = text;
      return event;
    }
    const isShown = this.#shown.turn === turn ? this.#shown.text === text : text === '';
    if (replaced !== undefined && isShown) return undefined;
    if (this.#shown.turn === turn) this.#shown.text = text;
    else this.#shown = { turn, text };
    return event;
  }
}
