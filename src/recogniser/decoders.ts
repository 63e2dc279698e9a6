// The decoders of one thread: made when needed, lent to one stream at a time, taken back and lent again.
// What is fed to them and what is made of their words is decided in stream.ts.
import type { Pronunciation } from './dictionary.ts';
import type { Language } from './protocol.ts';
import type { Decoder, SoundSwallowerModule } from './soundswallower.ts';

/**
 * Per language: the directory of its model, and the mean of its features over much speech, where a decoder starts. The
 * package's own mean is so far off that a first short utterance comes out empty. These are PocketSphinx's published values
 * with the first, the loudness, set for speech levelled as stream.ts levels it.
 */
const MODELS: Record<Language, { directory: string; meanFeatures: string }> = {
  en: {
    directory: 'en-us',
    meanFeatures: '48.00,-5.29,-0.12,5.09,2.48,-4.07,-1.37,-1.78,-5.08,-2.05,-6.45,-1.42,1.17',
  },
  fr: {
    directory: 'fr-fr',
    meanFeatures: '48.00,-5.29,-0.12,5.09,2.48,-4.07,-1.37,-1.78,-5.08,-2.05,-6.45,-1.42,1.17',
  },
};

/** The directory of a language's model, below the directory of all models. */
export function modelName(language: Language): string {
  return MODELS[language].directory;
}

/** A task checked and made ready for a decoder. */
export interface CompiledTask {
  language: Language;
  kind: 'grammar' | 'align';
  /** A canonical grammar, or words divided by spaces. */
  text: string;
  pronunciations: Pronunciation[];
}

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
  readonly #decoder: Decoder;
  readonly language: Language;
  readonly #known = new Set<string>();
  #task: CompiledTask | undefined;

  constructor(decoder: Decoder, language: Language) {
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
    if (task.kind === 'align') this.#decoder.set_align_text(task.text);
    else this.#decoder.set_grammar(task.text);
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
    await decoder.prepare(task);
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
    const { directory, meanFeatures } = MODELS[language];
    const decoder = new this.#module.Decoder({
      loglevel: 'FATAL',
      samprate: 16_000,
      hmm: this.#module.get_model_path(directory),
      // No such file: words are added with the task.
      dict: '-',
      cmninit: meanFeatures,
    });
    await decoder.initialize();
    return new TurnDecoder(decoder, language);
  }
}
