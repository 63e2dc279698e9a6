// What calls and sessions ask of all models in the same words: the gateway maps it for each of them.

export interface VocabularyOptions {
  /** BCP-47 tags of languages that may be spoken, the likeliest first. */
  languages?: readonly string[];
  /** Text in the style, or with the words, that are expected. */
  prompt?: string;
  /** Names and terms that may come up, at most 100; the ones that matter most first. */
  keyterms?: readonly string[];
  /** What is blacked out; true for personal data. */
  redact?: boolean | readonly ('pii' | 'pci' | 'phi' | 'numbers')[];
  /** How much likelier `keyterms` are made, from 0 to 1, where a model can be told. */
  vocabularyBoost?: number;
}

export const VOCABULARY: readonly (keyof VocabularyOptions)[] = [
  'languages',
  'prompt',
  'keyterms',
  'redact',
  'vocabularyBoost',
];

/** As a query or a form has it. */
export const vocabularyTexts = ({ languages, prompt, keyterms, redact, vocabularyBoost }: VocabularyOptions) => ({
  languages: listText(languages),
  prompt,
  keyterms: listText(keyterms),
  redact: typeof redact === 'boolean' ? redact : listText(redact),
  vocabulary_boost: vocabularyBoost,
});

const listText = (list: readonly string[] | undefined): string | undefined =>
  list === undefined ? undefined : JSON.stringify(list);
