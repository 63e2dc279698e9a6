// The pronouncing dictionaries of the recogniser's languages: which words exist and how they are spoken. Decoders are given
// only the words of their grammar, which saves 15 MB and 200 ms each against loading the whole dictionary into each.
import { readFile } from 'node:fs/promises';
import { LANGUAGES } from '../languages.ts';
import type { Language } from '../protocol.ts';

/** A word, or a numbered variant of it (`read(2)`), and its phones. */
export type Pronunciation = [word: string, phones: string];

/** One language's dictionary, held as the text of its file: 3 MB, where a map would take 20. */
export class Dictionary {
  readonly #text: string;
  readonly #supplement: ReadonlyMap<string, string>;
  readonly #elisions: ReadonlyMap<string, string>;

  /**
   * @param text lines of `word PHONE PHONE …`; variants are numbered, `read(2)`
   * @param supplement words the text lacks
   * @param elisions what may stand before an apostrophe, and its phones
   */
  constructor(text: string, supplement: ReadonlyMap<string, string>, elisions: ReadonlyMap<string, string>) {
    this.#text = text;
    this.#supplement = supplement;
    this.#elisions = elisions;
  }

  /** Finds the pronunciations of lower-case words, in one pass over the text (about 10 ms, however many words). */
  find(words: ReadonlySet<string>): { pronunciations: Pronunciation[]; unknown: string[] } {
    const wanted = new Set(words);
    for (const word of words) {
      const elided = this.#elided(word);
      if (elided !== undefined) wanted.add(elided.rest);
    }
    const phones = this.#scan(wanted);
    const pronunciations: Pronunciation[] = [];
    const unknown: string[] = [];
    for (const word of words) {
      const spoken = phones.get(word) ?? this.#elidedPhones(word, phones);
      if (spoken === undefined) unknown.push(word);
      else
        pronunciations.push(...spoken.map((one, at): Pronunciation => [at === 0 ? word : `${word}(${at + 1})`, one]));
    }
    return { pronunciations, unknown };
  }

  #elided(word: string): { sound: string; rest: string } | undefined {
    const apostrophe = word.indexOf("'");
    const sound = this.#elisions.get(word.slice(0, Math.max(0, apostrophe)));
    return sound === undefined ? undefined : { sound, rest: word.slice(apostrophe + 1) };
  }

  #elidedPhones(word: string, phones: ReadonlyMap<string, string[]>): string[] | undefined {
    const elided = this.#elided(word);
    if (elided === undefined) return undefined;
    return phones.get(elided.rest)?.map((rest) => `${elided.sound} ${rest}`);
  }

  #scan(wanted: ReadonlySet<string>): Map<string, string[]> {
    const found = new Map<string, string[]>();
    for (const word of wanted) {
      const phones = this.#supplement.get(word);
      if (phones !== undefined) found.set(word, [phones]);
    }
    const text = this.#text;
    for (let at = 0; at < text.length; ) {
      const newline = text.indexOf('\n', at);
      const end = newline === -1 ? text.length : newline;
      const space = text.indexOf(' ', at);
      if (space > at && space < end) {
        const entry = text.slice(at, space);
        const variant = entry.indexOf('(', 1);
        const word = variant === -1 ? entry : entry.slice(0, variant);
        if (wanted.has(word)) {
          const list = found.get(word);
          const phones = text.slice(space + 1, end);
          if (list === undefined) found.set(word, [phones]);
          else list.push(phones);
        }
      }
      at = end + 1;
    }
    return found;
  }
}

/** Reads a language's dictionary from the directory of its model. */
export async function readDictionary(language: Language): Promise<Dictionary> {
  const { directory, supplement, elisions } = LANGUAGES[language];
  return new Dictionary(await readFile(`${directory}/dict.txt`, 'utf8'), supplement, elisions);
}
