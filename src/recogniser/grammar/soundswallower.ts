// Loads the recogniser's WASM module and narrows its types to what is used. Decides nothing about speech.
import createModule, { type Decoder, type Endpointer, type SoundSwallowerModule } from 'soundswallower';
import type { Automaton } from './automaton.ts';
import { modelDirectory } from './languages.ts';

export type { Decoder, Endpointer, SoundSwallowerModule };

/** Instantiates the module. Its own log lines are dropped: they would carry what was said. */
export function loadModule(): Promise<SoundSwallowerModule> {
  const settings = {
    modelBase: modelDirectory(),
    print: () => undefined,
    printErr: () => undefined,
    quit: (_status: number, reason: Error) => {
      throw reason;
    },
  };
  return createModule(settings as Partial<SoundSwallowerModule>);
}

/** Functions of the C library that the module exports without a declaration. Pointers are numbers. */
interface Library {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  _decoder_logmath(decoder: number): number;
  _decoder_set_fsg(decoder: number, fsg: number): number;
  _fsg_model_init(name: number, logmath: number, languageWeight: number, states: number): number;
  _fsg_set_states(fsg: number, start: number, final: number): void;
  _fsg_model_word_add(fsg: number, word: number): number;
  _fsg_model_trans_add(fsg: number, from: number, to: number, logarithm: number, word: number): void;
  _fsg_model_null_trans_add(fsg: number, from: number, to: number, logarithm: number): number;
}

/**
 * Gives a decoder an automaton to search. The package's own way, from the text of a grammar, makes states for every group
 * and the decoder's work grows with them: commands took 5 % of real time, and take 2 %.
 *
 * @throws Error when a word is not in the decoder's dictionary
 */
export function setAutomaton(module: SoundSwallowerModule, decoder: Decoder, automaton: Automaton): void {
  const library = module as unknown as Library;
  const { cdecoder } = decoder as unknown as { cdecoder: number };
  const withText = <Result>(text: string, use: (pointer: number) => Result): Result => {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const pointer = library._malloc(bytes.length);
    library.HEAPU8.set(bytes, pointer);
    const result = use(pointer);
    library._free(pointer);
    return result;
  };
  // The library knows one last state: one more, that every accepting state leads to.
  const last = automaton.states;
  const weight = Number(decoder.get_config('lw'));
  const fsg = withText('grammar', (name) =>
    library._fsg_model_init(name, library._decoder_logmath(cdecoder), weight, automaton.states + 1),
  );
  library._fsg_set_states(fsg, 0, last);
  for (const { from, word, to } of automaton.arcs) {
    const id = withText(word, (pointer) => library._fsg_model_word_add(fsg, pointer));
    library._fsg_model_trans_add(fsg, from, to, 0, id);
  }
  for (const state of automaton.accepting) library._fsg_model_null_trans_add(fsg, state, last, 0);
  if (library._decoder_set_fsg(cdecoder, fsg) < 0) throw new Error('The decoder refused the grammar.');
}
