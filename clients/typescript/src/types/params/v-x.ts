// Options of providers. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

/** Options of Vosk. */
export interface VoskParams {
  /** Nothing but these phrases is heard; `[unk]` among them stands for everything else. */
  phrase_list?: string[];
}
