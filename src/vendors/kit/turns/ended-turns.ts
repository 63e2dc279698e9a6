// Turns of a leg that have ended, for a provider that numbers its turns. A number should only rise; a final whose number has
// fallen is that of a turn said again, or a turn of its own whose text must not be lost for a number.
import type { Utterance } from '../../../../machines/events.ts';

const REMEMBERED_MAX = 32;
/** Times on the wire are rounded. */
const ROUNDING_SECONDS = 0.01;

interface EndedTurn extends Pick<Utterance, 'start' | 'end'> {
  number: number;
}

export class EndedTurns {
  readonly #ended: EndedTurn[] = [];
  #strays = 0;

  /** One without words may have another end. */
  note(number: number, { text, start, end }: Utterance): void {
    if (text === '') return;
    this.#ended.push({ number, start, end });
    if (this.#ended.length > REMEMBERED_MAX) this.#ended.shift();
  }

  /** The name of the turn of such a final, where nothing was heard before of the number or of the audio; else undefined. */
  strayOf(number: number, utterance: Utterance): string | undefined {
    const { text, start, end, words = [] } = utterance;
    const isAgain = (ended: EndedTurn) =>
      words.length === 0
        ? ended.number === number
        : start < ended.end - ROUNDING_SECONDS && end > ended.start + ROUNDING_SECONDS;
    if (text === '' || this.#ended.some(isAgain)) return undefined;
    this.note(number, utterance);
    this.#strays++;
    return `${number}-${this.#strays}`;
  }
}
