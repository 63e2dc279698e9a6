// Options of a provider. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

/** Options of Groq. */
export interface GroqParams {
  /** Text in the style, or with the words, that are expected; 224 tokens. */
  prompt?: string;
  /** Of sampling; 0 when absent. */
  temperature?: number;
  /** Times that are asked for; those of segments always are. */
  timestamp_granularities?: ('word' | 'segment')[];
}
