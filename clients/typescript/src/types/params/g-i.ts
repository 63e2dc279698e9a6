// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of Gladia. */
export interface GladiaParams {
  /** Seconds of silence that end a turn; 0.4 when absent. */
  endpointing?: number;
  /** A turn is ended after so many seconds in any case; 60 when absent. */
  maximum_duration_without_endpointing?: number;
  /** Languages to expect; one pins it. In place of `language`. */
  languages?: string[];
  /** Finds the language of each utterance anew; name the `languages` as well. */
  code_switching?: boolean;
  /** Cleans the audio before it is heard. */
  audio_enhancer?: boolean;
  /** How sure it has to be that something is speech. */
  speech_threshold?: number;
  /** Words and names to expect; an intensity of 0.4 to 0.6 is advised. */
  custom_vocabulary?: (
    | string
    | {
        value: string;
        intensity?: number;
        pronunciations?: string[];
        language?: string;
      }
  )[];
  /** How words are to be spelt, with what is heard for each. */
  custom_spelling?: Record<string, string[]>;
  /** Files: how many speakers there are. Turns diarization on. */
  number_of_speakers?: number;
  /** Files: speakers at least. Turns diarization on. */
  min_speakers?: number;
  /** Files: speakers at most. Turns diarization on. */
  max_speakers?: number;
  /** Files: kinds of personal data that are taken out, such as `NAME`. */
  pii_redaction?: string[];
  /** Files: what stands in place of personal data. */
  pii_format?: 'MARKER' | 'MASK';
  /** Files: punctuation by a larger model. */
  punctuation_enhanced?: boolean;
}

/** Options of Groq. */
export interface GroqParams {
  /** Text in the style, or with the words, that are expected; 224 tokens. */
  prompt?: string;
  /** Of sampling; 0 when absent. */
  temperature?: number;
  /** Times that are asked for; those of segments always are. */
  timestamp_granularities?: ('word' | 'segment')[];
}

/** Options of Google Cloud. */
export interface GoogleParams {
  /** Languages to expect, such as `en-US`; `language` comes first among them. */
  language_codes?: string[];
  /** Masks profanities. */
  profanity_filter?: boolean;
  /** Punctuation; on when absent. */
  enable_automatic_punctuation?: boolean;
  /** Words such as “comma” become the sign. */
  enable_spoken_punctuation?: boolean;
  /** Spoken emojis become the sign. */
  enable_spoken_emojis?: boolean;
  /** Words and names to expect. */
  phrases?: string[];
  /** How much the `phrases` are preferred. */
  boost?: number;
  /** How soon silence ends a turn; STANDARD when absent. */
  endpointing_sensitivity?: 'STANDARD' | 'SHORT' | 'SUPERSHORT';
  /** Cleans the audio before it is heard. */
  denoise_audio?: boolean;
  /** How clear speech has to be; less is not transcribed. */
  snr_threshold?: number;
}
