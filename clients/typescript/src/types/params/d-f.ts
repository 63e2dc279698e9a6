// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of Deepgram. */
export interface DeepgramParams {
  /** Formats dates, numbers, addresses and the like. The gateway asks for it unless this is false. */
  smart_format?: boolean;
  /** Punctuation and capitals; part of `smart_format`. */
  punctuate?: boolean;
  /** Numbers as digits. */
  numerals?: boolean;
  /** Masks or removes profanity. */
  profanity_filter?: boolean;
  /** Spoken commands such as "comma" become punctuation. */
  dictation?: boolean;
  /** Keeps "uh" and "um". */
  filler_words?: boolean;
  /** Known to the provider; the gateway has no place for entities and does not ask for them. */
  detect_entities?: boolean;
  /** Keeps the audio out of the provider’s model improvement; changes its price. */
  mip_opt_out?: boolean;
  /** Milliseconds of silence that end a turn, or false; 300 when absent. */
  endpointing?: number | false;
  /** Milliseconds between words that end a turn where noise hides the silence; 1000 when absent. */
  utterance_end_ms?: number;
  /** Whether the beginning of speech is told; true when absent. */
  vad_events?: boolean;
  /** With `smart_format`: does not wait for the rest of a number or date. */
  no_delay?: boolean;
  /** Tells speakers apart by this model; v2 for files only. `diarization=true` asks for the latest. */
  diarize_model?: 'latest' | 'v1' | 'v2';
  /** Words and phrases to expect, without weights; 500 tokens in all. */
  keyterm?: string[];
  /** `word:boost` of Nova-2; others take `keyterm`. */
  keywords?: string[];
  /** Files: each channel by itself, and billed by itself. Speakers are then numbered by channel. */
  multichannel?: boolean;
  /** Confidence that ends a turn; 0.7 when absent. */
  eot_threshold?: number;
  /** Confidence for early ends of turns: `turn_eager_end` with `turn_events=true`, interims without. 0.5 when absent and asked for `turn_events`. */
  eager_eot_threshold?: number;
  /** Milliseconds of silence that end a turn in any case; 5000 when absent. */
  eot_timeout_ms?: number;
  /** Languages to expect: en, es, fr, de, hi, ru, pt, ja, it, nl. */
  language_hint?: string[];
  /** Labels of the request in the provider’s usage reports. */
  tag?: string[];
  /** Files: segments at pauses; true when absent. False gives one segment. */
  utterances?: boolean;
  /** Files: seconds of pause between segments; 0.8 when absent. */
  utt_split?: number;
  /** Known to the provider; the gateway has no place for paragraphs and does not ask for them. */
  paragraphs?: boolean;
  /** Known to the provider; the gateway has no place for a summary and does not ask for one. */
  summarize?: 'v2';
  /** Files: finds the language, of all or of those named. */
  detect_language?: boolean | string[];
  /** What is blacked out: pci, ssn, numbers, aggressive_numbers, or names of entities. */
  redact?: string[];
}

/** Options of Deepgram for deepgram/flux-general-en and its like. */
export interface DeepgramFluxGeneralEnParams {
  /** Formats dates, numbers, addresses and the like. The gateway asks for it unless this is false. */
  smart_format?: boolean;
  /** Punctuation and capitals; part of `smart_format`. */
  punctuate?: boolean;
  /** Numbers as digits. */
  numerals?: boolean;
  /** Masks or removes profanity. */
  profanity_filter?: boolean;
  /** Spoken commands such as "comma" become punctuation. */
  dictation?: boolean;
  /** Keeps "uh" and "um". */
  filler_words?: boolean;
  /** Known to the provider; the gateway has no place for entities and does not ask for them. */
  detect_entities?: boolean;
  /** Keeps the audio out of the provider’s model improvement; changes its price. */
  mip_opt_out?: boolean;
  /** Milliseconds of silence that end a turn, or false; 300 when absent. */
  endpointing?: number | false;
  /** Milliseconds between words that end a turn where noise hides the silence; 1000 when absent. */
  utterance_end_ms?: number;
  /** Whether the beginning of speech is told; true when absent. */
  vad_events?: boolean;
  /** With `smart_format`: does not wait for the rest of a number or date. */
  no_delay?: boolean;
  /** Tells speakers apart by this model; v2 for files only. `diarization=true` asks for the latest. */
  diarize_model?: 'latest' | 'v1' | 'v2';
  /** Words and phrases to expect, without weights; 500 tokens in all. */
  keyterm?: string[];
  /** `word:boost` of Nova-2; others take `keyterm`. */
  keywords?: string[];
  /** Files: each channel by itself, and billed by itself. Speakers are then numbered by channel. */
  multichannel?: boolean;
  /** Confidence that ends a turn; 0.7 when absent. */
  eot_threshold?: number;
  /** Confidence for early ends of turns: `turn_eager_end` with `turn_events=true`, interims without. 0.5 when absent and asked for `turn_events`. */
  eager_eot_threshold?: number;
  /** Milliseconds of silence that end a turn in any case; 5000 when absent. */
  eot_timeout_ms?: number;
  /** Languages to expect: en, es, fr, de, hi, ru, pt, ja, it, nl. */
  language_hint?: string[];
  /** Labels of the request in the provider’s usage reports. */
  tag?: string[];
  /** Files: segments at pauses; true when absent. False gives one segment. */
  utterances?: boolean;
  /** Files: seconds of pause between segments; 0.8 when absent. */
  utt_split?: number;
  /** Known to the provider; the gateway has no place for paragraphs and does not ask for them. */
  paragraphs?: boolean;
  /** Known to the provider; the gateway has no place for a summary and does not ask for one. */
  summarize?: 'v2';
  /** Files: finds the language, of all or of those named. */
  detect_language?: boolean | string[];
  /** What is blacked out: numbers or aggressive_numbers. */
  redact?: ('numbers' | 'aggressive_numbers')[];
}

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

/** Options of Fireworks. */
export interface FireworksParams {
  /** Text in the expected style or with the expected words. */
  prompt?: string;
  /** Of sampling; 0 when absent. */
  temperature?: number;
  /** Times that are asked for; those of segments always are. */
  timestamp_granularities?: ('word' | 'segment')[];
  /** What finds speech; silero when absent. */
  vad_model?: 'silero' | 'whisperx-pyannet';
  /** What places words: mms_fa for many languages, tdnn_ffn for English; mms_fa when absent. */
  alignment_model?: 'mms_fa' | 'tdnn_ffn';
  /** What is done about loudness before; none when absent. */
  preprocessing?: 'none' | 'dynamic' | 'soft_dynamic' | 'bass_dynamic';
}
