// Options of a provider. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

/** Options of ElevenLabs. */
export interface ElevenlabsParams {
  /** Words and phrases to expect, of 20 characters each. Costs extra. */
  keyterms?: string[];
  /** Leaves filler words and false starts out. */
  no_verbatim?: boolean;
  /** False keeps nothing at the provider, for accounts that may ask for that. */
  enable_logging?: boolean;
  /** Codes of languages that may be spoken beside `language`. */
  secondary_languages?: string[];
  /** Names the language of each turn. */
  include_language_detection?: boolean;
  /** Leaves speech in the background out. Words then have no times. */
  filter_background_audio?: boolean;
  /** The most speakers that talk. */
  num_speakers?: number;
  /** How different voices have to be; not with `num_speakers`. */
  diarization_threshold?: number;
  /** Times that are asked for; `word` when absent. */
  timestamps_granularity?: 'none' | 'word' | 'character';
  /** Writes "(laughter)" and the like into the text; false when absent. */
  tag_audio_events?: boolean;
  /** What is blacked out: pii, phi, pci, or names of entities. Costs extra. */
  entity_redaction?: string[];
  /** What stands in place of what is blacked out. */
  entity_redaction_mode?: 'redacted' | 'entity_type' | 'enumerated_entity_type';
  /** Known to the provider; the gateway has no place for entities and does not ask for them. */
  entity_detection?: string[];
  /** Of sampling. */
  temperature?: number;
  /** Of sampling. */
  seed?: number;
  /** Files: each channel by itself, and billed by itself; five at most. */
  use_multi_channel?: boolean;
}

/** Options of ElevenLabs for elevenlabs/scribe_v2 and its like. */
export interface ElevenlabsScribeV2Params {
  /** Words and phrases to expect; live 50, of 20 characters each. Costs extra. */
  keyterms?: string[];
  /** Leaves filler words and false starts out. */
  no_verbatim?: boolean;
  /** False keeps nothing at the provider, for accounts that may ask for that. */
  enable_logging?: boolean;
  /** Codes of languages that may be spoken beside `language`. */
  secondary_languages?: string[];
  /** Names the language of each turn. */
  include_language_detection?: boolean;
  /** Leaves speech in the background out. Words then have no times. */
  filter_background_audio?: boolean;
  /** The most speakers that talk. */
  num_speakers?: number;
  /** How different voices have to be; not with `num_speakers`. */
  diarization_threshold?: number;
  /** Times that are asked for; `word` when absent. */
  timestamps_granularity?: 'none' | 'word' | 'character';
  /** Writes "(laughter)" and the like into the text; false when absent. */
  tag_audio_events?: boolean;
  /** What is blacked out: pii, phi, pci, or names of entities. Costs extra. */
  entity_redaction?: string[];
  /** What stands in place of what is blacked out. */
  entity_redaction_mode?: 'redacted' | 'entity_type' | 'enumerated_entity_type';
  /** Known to the provider; the gateway has no place for entities and does not ask for them. */
  entity_detection?: string[];
  /** Of sampling. */
  temperature?: number;
  /** Of sampling. */
  seed?: number;
  /** Files: each channel by itself, and billed by itself; five at most. */
  use_multi_channel?: boolean;
}
