// Options of providers. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

/** Options of vLLM. */
export interface VllmParams {
  /** Text in the style, or with the words, that are expected. */
  prompt?: string;
  /** Words to expect, in one text. */
  hotwords?: string;
  /** Of sampling; 0 when absent. */
  temperature?: number;
  /** Of sampling: the same seed gives the same text. */
  seed?: number;
  /** What makes repetitions less likely where it is above 1. */
  repetition_penalty?: number;
  /** The longest answer, in tokens. */
  max_completion_tokens?: number;
}

/** Options of xAI. */
export interface XaiParams {
  /** Words and phrases to expect. */
  keyterm?: string[];
  /** Keeps "uh" and "um". */
  filler_words?: boolean;
  /** How surely audio has to be speech to be transcribed; 0.08 live and 0.5 for files when absent. */
  vad_threshold?: number;
  /** Milliseconds of silence that end a turn; 400 when absent. */
  endpointing?: number;
  /** Ends a turn at silence once the model is so sure of it, and tells how sure; by silence alone when absent. */
  smart_turn?: number;
  /** With `smart_turn`: milliseconds of silence that end a turn in any case; 3000 when absent. */
  smart_turn_timeout?: number;
}

/** Options of Vosk. */
export interface VoskParams {
  /** Nothing but these phrases is heard; `[unk]` among them stands for everything else. */
  phrase_list?: string[];
}
