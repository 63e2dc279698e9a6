// How well the gateway finds what is to be redacted in the corpus: recall, of what is to be found; precision, of what was found.
import type { RedactionClass } from '../../src/api/redaction.ts';
import { find } from '../../src/redaction/find.ts';
import { CLASSES, type Sample } from './corpus.ts';

export interface Score {
  class: RedactionClass;
  expected: number;
  /** Covered from their first letter or digit to the last. */
  found: number;
  /** Redacted, and nothing of it is to be. */
  wrong: number;
  recall: number;
  precision: number;
  /** Texts that were missed, or wrongly redacted. */
  faults: string[];
}

export function scoresOf(samples: readonly Pick<Sample, 'text' | 'spans'>[]): Score[] {
  const scores = new Map(
    [...CLASSES].map((kind) => [
      kind,
      { class: kind, expected: 0, found: 0, wrong: 0, recall: 1, precision: 1, faults: [] as string[] },
    ]),
  );
  for (const { text, spans } of samples) {
    const { matches } = find(text, CLASSES);
    for (const span of spans) {
      const score = scores.get(span.class) as Score;
      score.expected++;
      const isFound = matches.some(
        (match) => match.class === span.class && match.from <= span.from && match.to >= lastLetter(text, span.to),
      );
      if (isFound) score.found++;
      else score.faults.push(`missed: ${text}`);
    }
    for (const match of matches) {
      // A label of another class hides it as well, but says something wrong.
      const span = spans.find((each) => each.from < match.to && each.to > match.from);
      if (span?.class === match.class && match.from >= span.from - SLACK && match.to <= span.to + SLACK) continue;
      const score = scores.get(match.class) as Score;
      score.wrong++;
      score.faults.push(`wrong: ${text} → ${text.slice(match.from, match.to)}`);
    }
  }
  for (const score of scores.values()) {
    const { expected, found, wrong } = score;
    score.recall = expected === 0 ? 1 : found / expected;
    score.precision = found + wrong === 0 ? 1 : found / (found + wrong);
  }
  return [...scores.values()];
}

/** A bracket beside a number may go with it. */
const SLACK = 2;

const lastLetter = (text: string, to: number): number => {
  let at = to;
  while (at > 0 && !/[\p{L}\p{N}]/u.test(text[at - 1] as string)) at--;
  return at;
};
