// Ways of serving a member that several providers have in common.

import type { Mode } from '../../../api/models.ts';
import type { VendorRedaction } from '../../../api/redaction.ts';
import type { Common, Redaction } from '../../../api/vocabulary.ts';
import { baseLanguage } from '../languages/whisper-languages.ts';

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
  (names: Readonly<Partial<Record<VendorRedaction, readonly string[]>>>) => (kinds: readonly Redaction[]) => {
    // Classes of the gateway never come here.
    const all = kinds.map((kind) => names[kind as VendorRedaction]);
    return all.includes(undefined) ? undefined : [...new Set(all.flat())];
  };

export type CommonMember = keyof Common;

/** The model that is asked, and the language that it is told. */
export interface Place {
  model: string;
  mode: Mode;
  language: string | undefined;
}

/** How a row serves a member. */
export interface Serving<Value> {
  /**
   * The value of the option, undefined where there is none for this value. `before` is what members served by the same row have
   * made of it already: `keyterms` come first.
   */
  to?(value: Value, before: unknown, place: Place): unknown;
  /** Characters of all texts together, where that is limited. */
  charactersMax?: number;
  /** Modes in which the option stands in the URL, which is no longer than servers take. */
  inUrl?: readonly Mode[];
  /** What it becomes that is less than was requested, as in "goes to x/y as …"; absent where nothing is lost. */
  as?: string;
  /** Why less of a value is taken, or nothing, where its length does not say it: goes behind a colon. */
  why?(place: Place): string | undefined;
  /** Of `languages`: the option stands beside `language`, which has the first of them. */
  beside?: true;
}

export type Serves = CommonMember | { readonly [Member in CommonMember]?: Serving<NonNullable<Common[Member]>> };
