// Options of providers. Generated from src/vendors by `npx tsx scripts/generate.ts client-types`.

/** Options of Rev AI. */
export interface RevaiParams {
  /** A vocabulary that was made at Rev AI before, and is complete. */
  custom_vocabulary_id?: string;
  /** Masks profanity. */
  filter_profanity?: boolean;
  /** Leaves out "uh" and "um". */
  remove_disfluencies?: boolean;
  /** Raw words, without punctuation and capitals. */
  skip_postprocessing?: boolean;
  /** Seconds after which Rev AI deletes its record; what the account says when absent. */
  delete_after_seconds?: number;
  /** A turn is ended after so many seconds in any case. */
  max_segment_duration_seconds?: number;
  /** What counts more; speed when absent. */
  priority?: 'speed' | 'accuracy';
  /** Files: how carefully speakers are told apart. */
  diarization_type?: 'standard' | 'premium';
  /** Files: how many speakers there are. */
  speakers_count?: number;
  /** Files: words and phrases to expect. */
  custom_vocabularies?: {
    phrases: string[];
  }[];
}
