// What a row of an option table may say of the member of the request that it serves, which has the same name for all vendors.

import type { Mode } from '../../../api/models.ts';
import type { Common } from '../../../api/vocabulary.ts';

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
  /** What it becomes that is less than was asked for, as in "goes to x/y as …"; absent where nothing is lost. */
  as?: string;
  /** Why less of a value is taken, or nothing, where its length does not say it: goes behind a colon. */
  why?(place: Place): string | undefined;
  /** Of `languages`: the option stands beside `language`, which has the first of them. */
  beside?: true;
}

export type Serves = CommonMember | { readonly [Member in CommonMember]?: Serving<NonNullable<Common[Member]>> };
