// Makes a query's task ready for a decoder, or says what is wrong with it. Remembers the last few.

import { readFile } from 'node:fs/promises';
import { type GrammarQuery, type Language, paramOf, type QueryFault } from '../protocol.ts';
import { type Automaton, automatonOf } from './automaton.ts';
import { GrammarError, isEndless, readGrammar, wordsOf } from './grammar.ts';
import { LANGUAGES, type LanguageModel } from './languages.ts';

/** A task checked and made ready for a decoder. */
export interface CompiledTask {
  language: Language;
  /** The language's figures for this task. */
  model: LanguageModel;
  /** A grammar's automaton, or the words of a text divided by spaces. */
  search: { kind: 'grammar'; automaton: Automaton } | { kind: 'align'; text: string };
  pronunciations: Pronunciation[];
}

/** Tasks remembered: a task that is used again skips the dictionary and finds its decoder. */
const REMEMBERED_MAX = 32;
/** Unknown words named in a message. */
const UNKNOWN_NAMED_MAX = 10;

export const ALIGN_BOUNDS = { lengthMax: 8_192, wordsMax: 500 } as const;

export class TaskCompiler {
  readonly #dictionaries = new Map<Language, Promise<Dictionary>>();
  readonly #remembered = new Map<string, CompiledTask>();

  /** Rejects only when the dictionary cannot be read. */
  async compile(query: GrammarQuery): Promise<CompiledTask | QueryFault> {
    const key = `${query.language} ${query.task.kind} ${query.task.text}`;
    const known = this.#remembered.get(key);
    if (known !== undefined) {
      this.#remember(key, known);
      return known;
    }
    const read = query.task.kind === 'grammar' ? readGrammarTask(query.task.text) : readAlignTask(query.task.text);
    if ('param' in read) return read;
    const dictionary = await this.#dictionary(query.language);
    const { pronunciations, unknown } = dictionary.find(read.words);
    if (unknown.length > 0) return unknownWords(query, unknown);
    const figures = LANGUAGES[query.language];
    const model = read.bounded ? { ...figures, ...figures.bounded } : figures;
    const task: CompiledTask = { language: query.language, model, search: read.search, pronunciations };
    this.#remember(key, task);
    return task;
  }

  #remember(key: string, task: CompiledTask): void {
    this.#remembered.delete(key);
    this.#remembered.set(key, task);
    if (this.#remembered.size > REMEMBERED_MAX) {
      for (const oldest of this.#remembered.keys()) {
        this.#remembered.delete(oldest);
        break;
      }
    }
  }

  #dictionary(language: Language): Promise<Dictionary> {
    const known = this.#dictionaries.get(language);
    if (known !== undefined) return known;
    const read = readDictionary(language);
    this.#dictionaries.set(language, read);
    return read;
  }
}

interface ReadTask {
  search: CompiledTask['search'];
  words: Set<string>;
  /** Whether the grammar's phrases have an end. */
  bounded: boolean;
}

function readGrammarTask(text: string): ReadTask | QueryFault {
  try {
    const grammar = readGrammar(text.normalize('NFC'));
    const search = { kind: 'grammar', automaton: automatonOf(grammar) } as const;
    return { search, words: wordsOf(grammar), bounded: !isEndless(grammar) };
  } catch (error) {
    if (error instanceof GrammarError) return { param: 'grammar', message: error.message };
    throw error;
  }
}

/** Lower-case words without punctuation; apostrophes and hyphens inside a word stay. */
function readAlignTask(text: string): ReadTask | QueryFault {
  const { lengthMax, wordsMax } = ALIGN_BOUNDS;
  const fault = (message: string): QueryFault => ({ param: 'align_text', message });
  if (text.length > lengthMax) return fault(`It has ${text.length} characters; at most ${lengthMax} are accepted.`);
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('’', "'")
    .split(/[^\p{L}\p{N}'-]+/u)
    .map((word) => word.replace(/^[-]+|[-]+$/g, ''))
    .filter((word) => word !== '');
  if (words.length === 0) return fault('It has no words; give the words that are spoken in the audio.');
  if (words.length > wordsMax) return fault(`It has ${words.length} words; at most ${wordsMax} are accepted.`);
  return { search: { kind: 'align', text: words.join(' ') }, words: new Set(words), bounded: false };
}

function unknownWords(query: GrammarQuery, unknown: string[]): QueryFault {
  const named = unknown.slice(0, UNKNOWN_NAMED_MAX).map((word) => JSON.stringify(word.slice(0, 40)));
  const more = unknown.length > named.length ? ` and ${unknown.length - named.length} more` : '';
  return {
    param: paramOf(query.task),
    message: `It has words that are not in the ${query.language === 'en' ? 'English' : 'French'} dictionary: ${named.join(', ')}${more}. Write numbers and abbreviations as words.`,
  };
}

/** A word, or a numbered variant of it (`read(2)`), and its phones. */
type Pronunciation = [word: string, phones: string];

/**
 * One language's pronouncing dictionary: which words exist and how they are spoken. Held as the text of its file: 3 MB, where a
 * map would take 20. Decoders get only the words of their grammar, which saves 15 MB and 200 ms each.
 */
class Dictionary {
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
async function readDictionary(language: Language): Promise<Dictionary> {
  const { directory, supplement, elisions } = LANGUAGES[language];
  return new Dictionary(await readFile(`${directory}/dict.txt`, 'utf8'), supplement, elisions);
}
