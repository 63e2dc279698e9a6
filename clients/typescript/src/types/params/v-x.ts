// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of vLLM. */
export interface VllmParams {
  /** Text in the expected style or with the expected words. */
  prompt?: string;
  /** Words to expect, in one text. */
  hotwords?: string;
  /** Of sampling; 0 when absent. */
  temperature?: number;
  /** Of sampling: the same seed gives the same text. */
  seed?: number;
  /** What makes repetitions less likely where it is above 1. */
  repetition_penalty?: number;
  /** The longest answer, in tokens. */
  max_completion_tokens?: number;
}

/** Options of whisper.cpp. */
export interface WhispercppParams {
  /** Text in the expected style or with the expected words. */
  prompt?: string;
  /** Of sampling; 0 when absent. */
  temperature?: number;
  /** Texts that are followed at a time; above 1 it takes longer. */
  beam_size?: number;
  /** Texts that the best is taken of; 2 when absent. */
  best_of?: number;
  /** Whether the text is English, whatever is spoken. */
  translate?: boolean;
  /** Whether what is no speech, such as music notes, is left out. */
  suppress_nst?: boolean;
  /** Whether silence is cut out first; the server has to have been given a model for that. */
  vad?: boolean;
  /** How loud speech must be for that; 0.5 when absent. */
  vad_threshold?: number;
  /** The longest segment, in characters; 60 when absent. */
  max_len?: number;
  /** How sure it has to be that nothing was said; 0.6 when absent. */
  no_speech_thold?: number;
}

/** Options of xAI. */
export interface XaiParams {
  /** Words and phrases to expect. */
  keyterm?: string[];
  /** Keeps "uh" and "um". */
  filler_words?: boolean;
  /** How surely audio has to be speech to be transcribed; 0.08 live and 0.5 for files when absent. */
  vad_threshold?: number;
  /** Milliseconds of silence that end a turn; 400 when absent. */
  endpointing?: number;
  /** Ends a turn at silence once the model is so sure of it, and tells how sure; by silence alone when absent. */
  smart_turn?: number;
  /** With `smart_turn`: milliseconds of silence that end a turn in any case; 3000 when absent. */
  smart_turn_timeout?: number;
}

/** Options of Vosk. */
export interface VoskParams {
  /** Nothing but these phrases is heard; `[unk]` among them stands for everything else. */
  phrase_list?: string[];
}
