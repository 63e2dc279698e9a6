// Options of a provider. Generated from src/providers by `npx tsx scripts/generate.ts client-types`.

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
