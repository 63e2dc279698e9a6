/** What is asked of a model, whoever asks. */
export interface Asked {
  model: string;
  fallbacks: readonly string[];
  language: string;
  diarization: boolean;
  params: Readonly<Record<string, unknown>>;
}
