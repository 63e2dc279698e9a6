// Ways of serving a member that several providers have in common.
import type { Redaction } from '../../../api/vocabulary.ts';
import { baseLanguage } from '../languages/whisper-languages.ts';
import type { Serves } from './serving.ts';

/** Terms that are one text. */
export const TERMS_AS_TEXT = { keyterms: { to: (terms) => terms.join(', ') } } as const satisfies Serves;

/** For models that are told of terms in the text of their prompt and nowhere else: they come last, where a long prompt is heard. */
export const PROMPT_WITH_TERMS = {
  keyterms: { ...TERMS_AS_TEXT.keyterms, as: 'as a part of its prompt' },
  prompt: { to: (prompt, terms) => (terms === undefined ? prompt : `${prompt}\n${terms}`) },
} as const satisfies Serves;

/** Languages without their regions. */
export const toBaseLanguages = (languages: readonly string[]) => [
  ...new Set(languages.map((each) => baseLanguage(each))),
];

/** Kinds of what is blacked out by the vendor's names for them; those without any are told as left out. */
export const toRedactions =
  (names: Readonly<Partial<Record<Redaction, readonly string[]>>>) => (kinds: readonly Redaction[]) => {
    const all = kinds.map((kind) => names[kind]);
    return all.includes(undefined) ? undefined : [...new Set(all.flat())];
  };
