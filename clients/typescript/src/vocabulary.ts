// What calls and sessions ask of all models in the same words: the gateway maps it for each of them.

/** A word or phrase that is written in another way. */
export interface Replacement {
  from: string;
  /** Empty to leave the words out. In lower case it follows the case of what it replaces. */
  to: string;
  /** `word`, whole words in any case, when absent. `literal`: exactly these characters, also within words. */
  match?: 'word' | 'literal';
  /** BCP-47 tag of the language that the rule is for; any when absent. */
  language?: string;
}

/** Classes that the gateway finds, and kinds that providers do. */
export type Redaction =
  | 'card'
  | 'iban'
  | 'phone'
  | 'email'
  | 'national_id'
  | 'date_of_birth'
  | 'name'
  | 'address'
  | 'pii'
  | 'pci'
  | 'phi'
  | 'numbers';

export interface VocabularyOptions {
  /** BCP-47 tags of languages that may be spoken, the likeliest first. */
  languages?: readonly string[];
  /** Text in the style, or with the words, that are expected. */
  prompt?: string;
  /** Names and terms that may come up, at most 100; the ones that matter most first. */
  keyterms?: readonly string[];
  /** What is blacked out; true for personal data. The gateway finds some classes itself, with any model: `card`, `email` and so on. */
  redact?: boolean | readonly Redaction[];
  /** How much likelier `keyterms` are made, from 0 to 1, where a model can be told. */
  vocabularyBoost?: number;
  /** Replacement rules for words and phrases, with any model: at most 200 rules, `from:to` or objects. Times follow. */
  replace?: readonly (string | Replacement)[];
}

export const VOCABULARY: readonly (keyof VocabularyOptions)[] = [
  'languages',
  'prompt',
  'keyterms',
  'redact',
  'vocabularyBoost',
  'replace',
];

/** As a query or a form has it. */
export const vocabularyTexts = ({
  languages,
  prompt,
  keyterms,
  redact,
  vocabularyBoost,
  replace,
}: VocabularyOptions) => ({
  languages: listText(languages),
  prompt,
  keyterms: listText(keyterms),
  redact: typeof redact === 'boolean' ? redact : listText(redact),
  vocabulary_boost: vocabularyBoost,
  replace: listText(replace),
});

const listText = (list: readonly (string | Replacement)[] | undefined): string | undefined =>
  list === undefined ? undefined : JSON.stringify(list);
