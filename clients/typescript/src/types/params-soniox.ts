// Options of a provider. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

/** Options of Soniox. */
export interface SonioxParams {
  /** Codes of the languages to expect; in place of `language`. */
  language_hints?: string[];
  /** Hears no other languages than those of the hints, as far as it can. */
  language_hints_strict?: boolean;
  /** Names the language of each part; `language=auto` asks for it as well. */
  enable_language_identification?: boolean;
  /** What is spoken about: 10,000 characters in all. */
  context?: {
    /** Facts such as domain, topic and names. */
    general?: {
      key: string;
      value: string;
    }[];
    /** What was said or written before. */
    text?: string;
    /** Words and names to expect. */
    terms?: string[];
  };
  /** Label of the request in the usage reports of Soniox. */
  client_reference_id?: string;
  /** Milliseconds of silence that end a turn in any case; 2000 when absent. */
  max_endpoint_delay_ms?: number;
  /** How readily a turn is taken for complete; 0 when absent. */
  endpoint_sensitivity?: number;
  /** How much sooner turns are ended; 0 when absent. */
  endpoint_latency_adjustment_level?: number;
  /** Known to the provider; the gateway has no place for translations and does not ask for them. */
  translation?: {
    type: string;
  };
}
