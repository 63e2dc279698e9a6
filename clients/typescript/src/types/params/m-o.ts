// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of OpenAI. */
export type OpenaiParams = {
  /** Who ends turns in a live session, and when; null leaves it to the gateway, by silence. `semantic_vad` may be refused by OpenAI. */
  turn_detection?:
    | {
        type: 'server_vad';
        /** How loud speech must be; 0.5 when absent. */
        threshold?: number;
        /** Audio kept before speech; 300 when absent. */
        prefix_padding_ms?: number;
        /** Silence that ends a turn; 200 when absent. */
        silence_duration_ms?: number;
      }
    | {
        type: 'semantic_vad';
        /** How soon a turn is taken for complete; `auto` when absent. */
        eagerness?: 'low' | 'medium' | 'high' | 'auto';
      }
    | null;
  /** Where the microphone is. None is applied when absent. */
  noise_reduction?: 'near_field' | 'far_field';
  /** How long the model waits for more before it writes: later words are better words. */
  delay?: 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';
  /** Text in the expected style or with the expected words. */
  prompt?: string;
  /** ISO-639-1 codes of the languages that are spoken. */
  languages?: string[];
  /** Names and terms that may come up. */
  keywords?: string[];
  /** Of sampling; 0 when absent. */
  temperature?: number;
  /** Times that are asked for; those of segments always are. */
  timestamp_granularities?: ('word' | 'segment')[];
  /** How a file is cut. Models that tell speakers apart are always given one; `auto` when absent. */
  chunking_strategy?:
    | 'auto'
    | {
        type: 'server_vad';
        /** How loud speech must be; 0.5 when absent. */
        threshold?: number;
        /** Audio kept before speech; 300 when absent. */
        prefix_padding_ms?: number;
        /** Silence that ends a turn; 200 when absent. */
        silence_duration_ms?: number;
      };
  /** Names of speakers, in the order of their references. */
  known_speaker_names?: string[];
  /** Data URLs of 2 to 10 seconds of each of the known speakers. */
  known_speaker_references?: string[];
  /** `logprobs` gives the transcription a confidence. */
  include?: 'logprobs'[];
};

/** Options of Mistral. */
export type MistralParams = {
  /** When the model ends turns; null leaves it to the gateway, by silence. */
  turn_detection?: {
    /** How sure it has to be that a turn begins; 0.5 when absent. */
    start_threshold?: number;
    /** The same of an early end; 0.5 when absent. */
    eager_end_threshold?: number;
    /** The same of an end; 0.33 when absent. */
    end_threshold?: number;
    /** Silence before any end; 500 when absent. */
    min_silence_ms?: number;
    /** Silence that ends a turn in any case; 3000 when absent, and null for none. */
    end_timeout_ms?: number | null;
  } | null;
  /** How long the model waits for more before it writes: later words are better words. */
  target_streaming_delay_ms?: number;
  /** Names and terms that may come up. */
  context_bias?: string[];
  /** Of sampling; 0 when absent. */
  temperature?: number;
};

/** Options of Mistral for mistral/voxtral-mini-transcribe-realtime-2602 and its like. */
export type MistralVoxtralMiniTranscribeRealtime2602Params = {
  /** When the model ends turns; null leaves it to the gateway, by silence. */
  turn_detection?: {
    /** How sure it has to be that a turn begins; 0.5 when absent. */
    start_threshold?: number;
    /** The same of an early end; 0.5 when absent. */
    eager_end_threshold?: number;
    /** The same of an end; 0.33 when absent. */
    end_threshold?: number;
    /** Silence before any end; 500 when absent. */
    min_silence_ms?: number;
    /** Silence that ends a turn in any case; 3000 when absent, and null for none. */
    end_timeout_ms?: number | null;
  } | null;
  /** How long the model waits for more before it writes: 80 to 1200 in steps of 80, or 2400. */
  target_streaming_delay_ms?: number | 2400;
  /** Names and terms that may come up. */
  context_bias?: string[];
  /** Of sampling; 0 when absent. */
  temperature?: number;
};

/** Options of Mistral for mistral/voxtral-mini-2602 and its like. */
export type MistralVoxtralMini2602Params = {
  /** When the model ends turns; null leaves it to the gateway, by silence. */
  turn_detection?: {
    /** How sure it has to be that a turn begins; 0.5 when absent. */
    start_threshold?: number;
    /** The same of an early end; 0.5 when absent. */
    eager_end_threshold?: number;
    /** The same of an end; 0.33 when absent. */
    end_threshold?: number;
    /** Silence before any end; 500 when absent. */
    min_silence_ms?: number;
    /** Silence that ends a turn in any case; 3000 when absent, and null for none. */
    end_timeout_ms?: number | null;
  } | null;
  /** How long the model waits for more before it writes: later words are better words. */
  target_streaming_delay_ms?: number;
  /** Names and terms that may come up, without spaces and commas: `_` stands for a space. */
  context_bias?: string[];
  /** Of sampling; 0 when absent. */
  temperature?: number;
};

/** Options of NVIDIA Riva. */
export interface NvidiaParams {
  /** Masks profanities. */
  profanity_filter?: boolean;
  /** Punctuation and capitals; on when absent. */
  enable_automatic_punctuation?: boolean;
  /** Numbers and dates stay words. */
  verbatim_transcripts?: boolean;
  /** Words and names to expect. */
  phrases?: string[];
  /** How much the `phrases` are preferred; 10 when absent. */
  boost?: number;
  /** Speakers at most, where they are told apart. */
  max_speaker_count?: number;
  /** Milliseconds in which speech begins a turn. */
  start_history?: number;
  /** Share of them that has to be speech. */
  start_threshold?: number;
  /** Milliseconds of silence that end a turn; 800 when absent. */
  stop_history?: number;
  /** Share of them that has to be silence. */
  stop_threshold?: number;
  /** The same for a first end, which is still unsettled. */
  stop_history_eou?: number;
  /** Share of those that has to be silence. */
  stop_threshold_eou?: number;
  /** What else a server of one’s own takes, by name. */
  custom_configuration?: Record<string, string>;
}
