// What finders give: where something lies in the text.
import type { RedactionClass } from '../api/redaction.ts';
import type { NumberItem, Run } from './numbers.ts';
import type { Token } from './tokens.ts';

export interface Match {
  class: RedactionClass;
  from: number;
  to: number;
}

/** A text as finders read it. */
export interface Reading {
  text: string;
  tokens: readonly Token[];
  items: readonly NumberItem[];
  /** By the first of their tokens. */
  itemAt: ReadonlyMap<number, NumberItem>;
  runs: readonly Run[];
}

export const matchOf = (kind: RedactionClass, first: { from: number }, last: { to: number }): Match => ({
  class: kind,
  from: first.from,
  to: last.to,
});
