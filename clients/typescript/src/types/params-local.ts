// Options of a provider. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

/** Options of Embedded recogniser. */
export interface LocalParams {
  /** A JSGF grammar to listen for instead of the built-in one; its words must be in the dictionary. No imports, no rule that refers to itself. */
  grammar?: string;
}

/** Options of Embedded recogniser for local/align-en and its like. */
export interface LocalAlignEnParams {
  /** The words that are spoken; their times are returned. */
  align_text: string;
}
