// Loops of a model are taken away; what people do repeat is not.
import { describe, expect, test } from 'vitest';
import { withoutRepetitions } from '../../../src/recogniser/dictation/repetitions.ts';

describe('loops of a model', () => {
  test.each([
    ['Good morning. Good morning. Good morning.', 1, 'Good morning. Good morning.'],
    ['Thank you. Thank you. Thank you. Thank you. Thank you. Thank you. Thank you.', 1, 'Thank you. Thank you.'],
    [`So ${'the the '.repeat(80)}`.trim(), 2, `So ${'the the '.repeat(80)}`.trim().slice(0, 58)],
    [`I said ${'and then we went on, '.repeat(40)}`.trim(), 3, undefined],
  ])('cuts %j in %i s', (text, seconds, expected) => {
    const cut = withoutRepetitions(text, seconds);
    if (expected !== undefined) expect(cut).toBe(expected);
    expect(cut.length).toBeLessThanOrEqual(30 * seconds);
    expect(text.startsWith(cut.slice(0, 6))).toBe(true);
  });

  test('leaves a text that is too long for its time and repeats nothing', () => {
    const text = 'A sentence of many different words that somebody read out very quickly indeed';
    expect(withoutRepetitions(text, 1)).toBe(text);
  });
});

/** What people say more than once, with the seconds that it takes at a quick pace. */
const SAID: readonly (readonly [string, number])[] = [
  ['No, no, no, no.', 0.9],
  ['Yes, yes, yes.', 0.8],
  ['Ha ha ha ha ha ha.', 1.2],
  ['Very, very, very good.', 1],
  ['Bye bye. Bye bye.', 0.8],
  ['One one one one, five five five.', 1.8],
  ['Four four four four four four four four', 2.2],
  ['Row, row, row your boat.', 1.3],
  ['Never, never, never again.', 1.4],
  ['Testing, testing, one, two, one, two.', 1.9],
  ['Knock knock. Knock knock.', 1.2],
  ['Hello? Hello? Hello?', 1.2],
];

describe('what people repeat', () => {
  test.each(
    SAID.flatMap(([text, seconds]) =>
      [1, 1.3, 1.7, 2, 3, 4, 5, 6, 8].map((slower) => [text, seconds * slower] as const),
    ),
  )('keeps %j in %f s', (text, seconds) => {
    expect(withoutRepetitions(text, seconds)).toBe(text);
  });
});
