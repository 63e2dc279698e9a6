// Makes a query's task ready for a decoder, or says what is wrong with it. Remembers the last few.

import type { CompiledTask } from '../decoders.ts';
import { LANGUAGES } from '../languages.ts';
import { type Language, paramOf, type QueryFault, type StreamQuery } from '../protocol.ts';
import { automatonOf } from './automaton.ts';
import { type Dictionary, readDictionary } from './dictionary.ts';
import { GrammarError, isEndless, wordsOf } from './expansion.ts';
import { readGrammar } from './grammar.ts';

/** Tasks remembered: a task that is used again skips the dictionary and finds its decoder. */
const REMEMBERED_MAX = 32;
/** Unknown words named in a message. */
const UNKNOWN_NAMED_MAX = 10;

export const ALIGN_BOUNDS = { lengthMax: 8_192, wordsMax: 500 } as const;

export class TaskCompiler {
  readonly #dictionaries = new Map<Language, Promise<Dictionary>>();
  readonly #remembered = new Map<string, CompiledTask>();

  /** Rejects only when the dictionary cannot be read. */
  async compile(query: StreamQuery): Promise<CompiledTask | QueryFault> {
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

function unknownWords(query: StreamQuery, unknown: string[]): QueryFault {
  const named = unknown.slice(0, UNKNOWN_NAMED_MAX).map((word) => JSON.stringify(word.slice(0, 40)));
  const more = unknown.length > named.length ? ` and ${unknown.length - named.length} more` : '';
  return {
    param: paramOf(query.task),
    message: `It has words that are not in the ${query.language === 'en' ? 'English' : 'French'} dictionary: ${named.join(', ')}${more}. Write numbers and abbreviations as words.`,
  };
}
