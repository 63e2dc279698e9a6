// Options of a provider. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

/** Options of Cartesia. */
export interface CartesiaParams {
  /** Words and phrases to expect; 1,200 characters in all. */
  keyterm?: string[];
}
