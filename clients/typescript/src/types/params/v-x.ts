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

/** Options of Vosk. */
export interface VoskParams {
  /** Nothing but these phrases is heard; `[unk]` among them stands for everything else. */
  phrase_list?: string[];
}
