// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of AssemblyAI. */
export interface AssemblyaiParams {
  /** Confidence that ends a turn; 0.4 when absent. */
  end_of_turn_confidence_threshold?: number;
  /** Milliseconds of silence that end a turn the model is sure of; 400 when absent, 100 with Universal-3. */
  min_turn_silence?: number;
  /** Milliseconds of silence that end a turn in any case; 1280 when absent, 1000 with Universal-3. */
  max_turn_silence?: number;
  /** How sure it must be that there is speech; 0.4 when absent, 0.3 with Universal-3. */
  vad_threshold?: number;
  /** Punctuation and casing of finals; each is waited for a moment longer. False when absent. */
  format_turns?: boolean;
  /** Interims also while there is no pause. */
  continuous_partials?: boolean;
  /** Milliseconds of speech before the first interim of a turn. */
  interruption_delay?: number;
  /** Seconds after which AssemblyAI ends, and stops charging, a session that nothing is sent to. The gateway keeps the sessions alive that it still uses. */
  inactivity_timeout?: number;
  /** What the audio is about, and how to write it. */
  prompt?: string;
  /** What a voice agent has just said to the speaker. */
  agent_context?: string;
  /** Latency against accuracy; the model's own when absent. */
  mode?: 'min_latency' | 'balanced' | 'max_accuracy';
  /** Detects the language and names it. Ignored where `language` names one. */
  language_detection?: boolean;
  /** Languages to expect, such as ["en", "es"]; takes the place of `language`. */
  language_codes?: string[];
  /** Vocabulary of a field. At an extra price of AssemblyAI. */
  domain?: 'medical-v1';
  /** Attends to one voice and lowers the others. */
  voice_focus?: 'near-field' | 'far-field';
  /** Masks profanity. */
  filter_profanity?: boolean;
  /** Tells speakers apart, as `diarization` does. At an extra price of AssemblyAI. */
  speaker_labels?: boolean;
  /** At most so many speakers. */
  max_speakers?: number;
  /** Takes personal data out of finals. Files need `redact_pii_policies` as well. */
  redact_pii?: boolean;
  /** Kinds of personal data, such as "person_name" or "email_address". */
  redact_pii_policies?: string[];
  /** What stands in place of personal data. */
  redact_pii_sub?: 'hash' | 'entity_name';
  /** Models that AssemblyAI falls back to, in order, where the named one does not know the language. */
  speech_models?: ('universal-3-pro' | 'universal-2')[];
  /** How many speakers there are. */
  speakers_expected?: number;
  /** Transcribes each channel of the file for itself. */
  multichannel?: boolean;
  /** Keeps filler words. False when absent. */
  disfluencies?: boolean;
  /** How words are to be spelled: each of `from` as `to`. */
  custom_spelling?: {
    from: string[];
    to: string;
  }[];
  /** Milliseconds of the file to leave out at its beginning. */
  audio_start_from?: number;
  /** Milliseconds of the file after which nothing is transcribed. */
  audio_end_at?: number;
  /** Punctuation. True when absent. */
  punctuate?: boolean;
  /** Casing, and numbers as digits. True when absent. */
  format_text?: boolean;
  /** Words and phrases to listen for. At an extra price of AssemblyAI. */
  keyterms_prompt?: string[];
}

/** Options of Cartesia. */
export interface CartesiaParams {
  /** Words and phrases to expect; 1,200 characters in all. */
  keyterm?: string[];
}

/** Options of Azure Speech. */
export interface AzureParams {
  /** Words and phrases to expect. */
  phrases?: string[];
  /** What becomes of profanity; masked when absent. */
  profanity?: 'masked' | 'removed' | 'raw';
  /** Silence that ends a turn, in milliseconds. */
  segmentation_silence_ms?: number;
  /** Whether turns end by silence or by what is said as well. */
  segmentation_strategy?: 'Default' | 'Time' | 'Semantic';
  /** How often a word of an interim result must have been the same. */
  stable_partial_threshold?: number;
  /** Leaves out disfluencies, and writes what is read more easily. */
  true_text?: boolean;
  /** Id of a custom speech endpoint of the same account. */
  custom_endpoint_id?: string;
  /** Files: tells speakers apart, so many at most. */
  max_speakers?: number;
  /** Files: the locales among which the language is found. */
  locales?: string[];
}

/** Options of Amazon Transcribe. */
export interface AwsParams {
  /** A custom vocabulary of the account. */
  vocabulary_name?: string;
  /** A vocabulary filter of the account. */
  vocabulary_filter_name?: string;
  /** What becomes of words of the filter. */
  vocabulary_filter_method?: 'remove' | 'mask' | 'tag';
  /** A custom language model of the account. */
  language_model_name?: string;
  /** How soon words of interim results stay as they are. */
  partial_results_stability?: 'low' | 'medium' | 'high';
  /** Takes personal data out of what is said. */
  content_redaction?: boolean;
  /** Kinds of personal data, such as NAME; all when absent. Takes them out by itself. */
  pii_entity_types?: string[];
  /** Up to five locales that may be spoken, one of each language: with language=auto, or without a language. */
  language_options?: string[];
}
