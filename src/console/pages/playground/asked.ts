/** What is asked of a model, whoever asks. */
export interface Asked {
  model: string;
  fallbacks: readonly string[];
  language: string;
  diarization: boolean;
  /** Names and terms that may come up. */
  keyterms: readonly string[];
  prompt: string;
  params: Readonly<Record<string, unknown>>;
}

export const NOTHING: Asked = {
  model: '',
  fallbacks: [],
  language: '',
  diarization: false,
  keyterms: [],
  prompt: '',
  params: {},
};
