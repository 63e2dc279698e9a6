// Speaker numbers belong to a leg: another one does not know who spoke before, and begins at 0. So that one number is never two
// people, a leg's numbers go behind all that were given before.
import type { Utterance, Word } from '../../../machines/events.ts';

export class SpeakerNumbers {
  /** The first number of the current leg. */
  first = 0;
  /** Behind the highest number so far. */
  #next = 0;
  #isToldOf = true;

  /** Another leg hears. */
  beginLeg(): void {
    this.first = this.#next;
    this.#isToldOf = this.first === 0;
  }

  /** Gives the numbers of a leg those of the session, in place. */
  renumber(utterance: Utterance): void {
    this.#give(utterance);
    for (const word of utterance.words ?? []) this.#give(word);
  }

  /** Whether the utterance is the first with numbers that nobody had before, of a leg behind which others were given. */
  restartWith({ speaker, words }: Pick<Utterance, 'speaker' | 'words'>): boolean {
    if (this.#isToldOf || (speaker === undefined && !words?.some((word) => word.speaker !== undefined))) return false;
    this.#isToldOf = true;
    return true;
  }

  #give(of: Pick<Word, 'speaker'>): void {
    if (of.speaker === undefined) return;
    of.speaker += this.first;
    this.#next = Math.max(this.#next, of.speaker + 1);
  }
}
