// The utterances of a file, redacted one behind the other: one that ends in what may continue in the next waits for it. What has left
// stays as it is, so that a streamed answer is the beginning of the whole one.
import type { Utterance } from '../../machines/events.ts';
import type { RedactionClass } from '../api/redaction.ts';
import { contextAfter, examine, type Known, type Redacted, UNREADABLE } from './pieces.ts';

/** Utterances that wait. Of more, the first leaves as it is known by then. */
export const WAITING_MAX = 8;

export interface UtteranceRedactorOptions {
  classes: ReadonlySet<RedactionClass>;
  /** Of each match. */
  onFound(kind: RedactionClass): void;
  /** A text could not be read, and left as `[REDACTED]`. */
  onUnreadable(error: unknown): void;
}

/** An utterance with what a service has found in it. */
export interface KnownUtterance {
  utterance: Utterance;
  known: Known;
}

export class UtteranceRedactor {
  readonly #options: UtteranceRedactorOptions;
  #waiting: KnownUtterance[] = [];
  #context = '';

  constructor(options: UtteranceRedactorOptions) {
    this.#options = options;
  }

  /** Gives those that leave. Several at a time are read as one text, which costs less and finds more. */
  add(...utterances: Utterance[]): Utterance[] {
    return this.addKnown(utterances.map((utterance) => ({ utterance, known: [] })));
  }

  addKnown(utterances: readonly KnownUtterance[]): Utterance[] {
    this.#waiting.push(...utterances);
    return this.#leaving((settled) => Math.max(settled, this.#waiting.length - WAITING_MAX));
  }

  /** Nothing follows: gives what waits. */
  end(): Utterance[] {
    return this.#waiting.length === 0 ? [] : this.#leaving(() => this.#waiting.length);
  }

  #leaving(countOf: (settled: number) => number): Utterance[] {
    const waiting = this.#waiting;
    let leaving: Utterance[];
    try {
      const pieces = waiting.map(({ utterance: { text, words }, known }) =>
        known === 'withheld' ? { text, words } : { text, words, known },
      );
      const examined = examine(this.#context, pieces, this.#options.classes, 'settled');
      const count = countOf(examined.settled);
      leaving = waiting.slice(0, count).map((each, index) => this.#with(each, examined.redacted(index)));
    } catch (error) {
      this.#options.onUnreadable(error);
      leaving = waiting.map(({ utterance }) => unreadable(utterance));
    }
    for (const { utterance } of waiting.slice(0, leaving.length))
      this.#context = contextAfter(this.#context, utterance.text);
    this.#waiting = waiting.slice(leaving.length);
    return leaving;
  }

  #with({ utterance, known }: KnownUtterance, { text, words, found }: Redacted): Utterance {
    if (known === 'withheld') {
      this.#options.onUnreadable(new Error('The redaction service did not analyse the text.'));
      return unreadable(utterance);
    }
    for (const kind of found) this.#options.onFound(kind);
    return withText(utterance, text, words);
  }
}

export const unreadable = (utterance: Utterance): Utterance => withText(utterance, UNREADABLE, undefined);

function withText(utterance: Utterance, text: string, words: Utterance['words']): Utterance {
  const { words: _, ...rest } = utterance;
  const redacted: Utterance = { ...rest, text };
  if (words !== undefined) redacted.words = words;
  return redacted;
}
