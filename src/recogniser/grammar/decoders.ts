// The decoders of one thread: made when needed, lent to one stream at a time, taken back and lent again.
// What is fed to them and what is made of their words is decided in stream.ts.

import { type Language, SAMPLE_RATE } from '../protocol.ts';
import { type Beams, LANGUAGES } from './languages.ts';
import { type Decoder, type SoundSwallowerModule, setAutomaton } from './soundswallower.ts';
import type { CompiledTask } from './task-compiler.ts';

/** A known text has few paths, and none may be lost: at the narrow beams of grammars its last word was. */
const ALIGN_BEAMS: Beams = { beam: 1e-120, pbeam: 1e-120, wbeam: 1e-120 };

/** One piece of a decoded turn. Seconds from the first sample fed since `start`. */
export interface DecodedWord {
  word: string;
  start: number;
  end: number;
  /** The decoder's own figure, 0 to 1. */
  probability: number;
}

/** A decoder with its task set. Between `start` and `stop` it is fed samples from −1 to 1. */
export class TurnDecoder {
  readonly #module: SoundSwallowerModule;
  readonly #decoder: Decoder;
  readonly language: Language;
  readonly #known = new Set<string>();
  #task: CompiledTask | undefined;

  constructor(module: SoundSwallowerModule, decoder: Decoder, language: Language) {
    this.#module = module;
    this.#decoder = decoder;
    this.language = language;
  }

  has(task: CompiledTask): boolean {
    return this.#task === task;
  }

  /** Sets what may be said and forgets the speaker before. Throws when the C code refuses the task. */
  async prepare(task: CompiledTask): Promise<void> {
    await this.#decoder.reinitialize_audio();
    if (this.#task === task) return;
    const added = task.pronunciations.filter(([word]) => !this.#known.has(word));
    if (added.length > 0) this.#decoder.add_words(...added);
    for (const [word] of added) this.#known.add(word);
    this.#task = undefined;
    const { search, model } = task;
    const beams = search.kind === 'align' ? ALIGN_BEAMS : model.beams;
    for (const [name, value] of Object.entries(beams)) this.#decoder.set_config(name, value);
    this.#decoder.set_config('wip', model.wordInsertion);
    if (search.kind === 'align') this.#decoder.set_align_text(search.text);
    else setAutomaton(this.#module, this.#decoder, search.automaton);
    this.#task = task;
  }

  start(): void {
    this.#decoder.start();
  }

  feed(samples: Float32Array): void {
    this.#decoder.process_audio(samples, false, false);
  }

  stop(): void {
    this.#decoder.stop();
  }

  /** The words so far; after `stop`, the words if the whole of them fits the task, else nothing. */
  text(): string {
    return this.#decoder.get_text();
  }

  words(): DecodedWord[] {
    const { w } = this.#decoder.get_alignment();
    return (w ?? [])
      .filter(({ t }) => !isFiller(t))
      .map(({ t, b, d, p }) => ({
        word: t.replace(/\(\d+\)$/, ''),
        start: b,
        end: b + d,
        probability: p,
      }));
  }
}

/** Silence, noise and empty transitions: `<sil>`, `[NOISE]`, `(NULL)`. */
function isFiller(word: string): boolean {
  return /^[<[(]/.test(word);
}

/** Lends decoders. They are never deleted: the package leaks half of a deleted one, so they live as long as the thread. */
export class Decoders {
  readonly #module: SoundSwallowerModule;
  readonly #free: TurnDecoder[] = [];

  constructor(module: SoundSwallowerModule) {
    this.#module = module;
  }

  /** A decoder ready for the task: 1 ms for one that had it, 50 ms for a new one. */
  async take(task: CompiledTask): Promise<TurnDecoder> {
    const decoder = this.#reuse(task) ?? (await this.#make(task.language));
    try {
      await decoder.prepare(task);
    } catch (error) {
      this.giveBack(decoder);
      throw error;
    }
    return decoder;
  }

  giveBack(decoder: TurnDecoder): void {
    this.#free.push(decoder);
  }

  #reuse(task: CompiledTask): TurnDecoder | undefined {
    const same = this.#free.findIndex((decoder) => decoder.has(task));
    const at = same === -1 ? this.#free.findIndex(({ language }) => language === task.language) : same;
    return at === -1 ? undefined : this.#free.splice(at, 1)[0];
  }

  async #make(language: Language): Promise<TurnDecoder> {
    const { directory, meanFeatures } = LANGUAGES[language];
    const decoder = new this.#module.Decoder({
      loglevel: 'FATAL',
      samprate: SAMPLE_RATE,
      hmm: directory,
      // No such file: words are added with the task.
      dict: '-',
      cmninit: meanFeatures,
    });
    await decoder.initialize();
    return new TurnDecoder(this.#module, decoder, language);
  }
}
