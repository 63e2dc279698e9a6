// The corpus of utterances, scored: what docs/guides/redaction.md promises.
import { expect, it } from 'vitest';
import { CORPUS_SIZE, corpus } from '../../scripts/redaction/corpus.ts';
import { BEFORE_MENDING, heldOut } from '../../scripts/redaction/held-out.ts';
import { scoresOf } from '../../scripts/redaction/score.ts';

it('has 500 utterances, the same each time', () => {
  const samples = corpus();
  expect(samples).toHaveLength(CORPUS_SIZE);
  expect(corpus()).toEqual(samples);
  expect(new Set(samples.map(({ text }) => text)).size).toBeGreaterThan(400);
});

it('redacts at least 98 % of the cards and addresses, and 98 % of what it redacts is to be redacted', () => {
  const scores = scoresOf(corpus());
  for (const { class: kind, recall, precision, faults } of scores) {
    expect(recall, `recall of ${kind}: ${faults.join('\n')}`).toBeGreaterThanOrEqual(0.98);
    expect(precision, `precision of ${kind}: ${faults.join('\n')}`).toBeGreaterThanOrEqual(0.98);
  }
});

it('redacts as much of the corpus that was held out, and no less than before it was known', () => {
  const samples = heldOut();
  expect(samples.length).toBeGreaterThanOrEqual(200);
  for (const { class: kind, expected, found, recall, precision, faults } of scoresOf(samples)) {
    expect(recall, `recall of ${kind}: ${faults.join('\n')}`).toBeGreaterThanOrEqual(0.98);
    expect(precision, `precision of ${kind}: ${faults.join('\n')}`).toBeGreaterThanOrEqual(0.98);
    const [before, of] = BEFORE_MENDING[kind] ?? [];
    expect(of).toBe(expected);
    expect(found).toBeGreaterThanOrEqual(before as number);
  }
});
