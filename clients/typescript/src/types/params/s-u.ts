// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of Speechmatics. */
export interface SpeechmaticsParams {
  /** A language pack for a field, such as `medical` or `finance`. */
  domain?: string;
  /** Spelling, such as `en-GB`; that of `language` when absent. */
  output_locale?: string;
  /** Seconds from the end of a word to its final; 1 when absent. */
  max_delay?: number;
  /** Whether numbers and dates may take longer than `max_delay`; they may when absent. */
  max_delay_mode?: 'flexible' | 'fixed';
  /** Seconds of silence that end a turn; 0.5 when absent. Keep it below `max_delay`. */
  end_of_utterance_silence_trigger?: number;
  /** Words and names to expect, with what they sound like. A long list takes up to 15 s to be ready. */
  additional_vocab?: (
    | string
    | {
        content: string;
        sounds_like?: string[];
      }
  )[];
  /** How readily punctuation is set; 0.5 when absent. */
  punctuation_sensitivity?: number;
  /** The marks of punctuation that may be set. */
  permitted_marks?: string[];
  /** Leaves out "uh" and "um". */
  remove_disfluencies?: boolean;
  /** Words that are written otherwise; `from` may be an expression between slashes. */
  replacements?: {
    from: string;
    to: string;
  }[];
  /** Whether numbers, dates and the like are formatted as such. */
  enable_entities?: boolean;
  /** Speakers at most. Turns diarization on. */
  max_speakers?: number;
  /** How readily speakers are told apart. Turns diarization on. */
  speaker_sensitivity?: number;
  /** Stays with a speaker rather than changing between similar ones. Turns diarization on. */
  prefer_current_speaker?: boolean;
  /** What is less loud is not transcribed. */
  volume_threshold?: number;
}

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

/** Options of speaches. */
export interface SpeachesParams {
  /** Text in the expected style or with the expected words. */
  prompt?: string;
  /** Words to expect, in one text. */
  hotwords?: string;
  /** Of sampling; 0 when absent. */
  temperature?: number;
}
