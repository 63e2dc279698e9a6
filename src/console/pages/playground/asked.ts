/** What is asked of a model, whoever asks. */
export interface Asked {
  model: string;
  fallbacks: readonly string[];
  language: string;
  diarization: boolean;
  /** Names and terms that may come up. */
  keyterms: readonly string[];
  prompt: string;
  /** What may be spoken, the likeliest first. */
  languages: readonly string[];
  redact: readonly string[];
  /** From 0 to 1; undefined as the model has it. */
  vocabularyBoost: number | undefined;
  params: Readonly<Record<string, unknown>>;
}

export const NOTHING: Asked = {
  model: '',
  fallbacks: [],
  language: '',
  diarization: false,
  keyterms: [],
  prompt: '',
  languages: [],
  redact: [],
  vocabularyBoost: undefined,
  params: {},
};
