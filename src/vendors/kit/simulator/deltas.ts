// What a service tells of a text that only grows, token by token: nothing that was told is taken back.

export class Deltas {
  /** Words of the interim before. */
  #before: readonly string[] = [];
  #told = 0;

  /** The words that two interims agree on, but the last of them: the service is not sure of that yet. */
  interim(text: string): string[] {
    const words = wordsIn(text);
    let agreed = 0;
    while (agreed < words.length - 1 && words[agreed] === this.#before[agreed]) agreed++;
    this.#before = words;
    return this.#tell(words, agreed);
  }

  /** The rest of a turn. */
  final(text: string): string[] {
    const words = wordsIn(text);
    const rest = this.#tell(words, words.length);
    this.#before = [];
    this.#told = 0;
    return rest;
  }

  #tell(words: readonly string[], until: number): string[] {
    const delta = words.slice(this.#told, until).map((word) => ` ${word}`);
    this.#told = Math.max(this.#told, until);
    return delta.join('').match(/\s?\S{1,4}/g) ?? [];
  }
}

const wordsIn = (text: string): string[] => text.split(' ').filter((word) => word !== '');
