// Interims of a long turn: what is found is what a reading of the whole text finds, at a cost that does not grow with the square of it.
import { describe, expect, it } from 'vitest';
import { corpus } from '../../scripts/redaction/corpus.ts';
import { isServiceClass, REDACTION_CLASSES } from '../../src/api/redaction.ts';
import { find } from '../../src/redaction/find.ts';
import { GrowingText, WHOLE_CHARS_MAX } from '../../src/redaction/growing-text.ts';

const classes = new Set(REDACTION_CLASSES.filter((kind) => !isServiceClass(kind)));
const PLAIN = 'well the weather was fine over there and nothing else happened ';

function expectSame(whole: string, from: number, step: number): void {
  const growing = new GrowingText();
  for (let end = from; end <= whole.length; end = whole.indexOf(' ', end + step) + 1 || whole.length + 1) {
    const text = whole.slice(0, end).trimEnd();
    expect(growing.find(text, classes, 'shown')).toEqual(find(text, classes, 'shown'));
  }
}

describe('an interim that grows', () => {
  const said = corpus().map(({ text }) => text);

  it('has what is in all of it, with what is open at its end, over every utterance of the corpus', () => {
    for (let at = 0; at < said.length; at += 150) {
      const plain = PLAIN.repeat(Math.ceil(WHOLE_CHARS_MAX / PLAIN.length));
      expectSame(plain + said.slice(at, at + 150).join(' '), plain.length, 200);
    }
  });

  it('has a card whose digits come one by one far into it', () => {
    const plain = PLAIN.repeat(200);
    expectSame(`${plain}my card is four one one one one one one one one one one one one one one one okay`, 12_000, 1);
  });

  it('is read as a whole where it has no place to cut, and where it is another text', () => {
    expectSame('4111 1111 1111 1111 '.repeat(900), 8_000, 900);
    const growing = new GrowingText();
    const [first, second] = [PLAIN.repeat(300), `4111 1111 1111 1111 ${PLAIN.repeat(300)}`];
    for (const text of [first, second, first.slice(0, 100), second])
      expect(growing.find(text, classes, 'shown')).toEqual(find(text, classes, 'shown'));
  });

  it('is read again only at its end: 2,000 interims up to 40,000 characters', () => {
    const growing = new GrowingText();
    const whole = PLAIN.repeat(700).slice(0, 40_000);
    for (let interim = 1; interim <= 2_000; interim++) growing.find(whole.slice(0, interim * 20), classes, 'shown');
    // The square would be 40 million.
    expect(growing.charsRead).toBeLessThan(2_000 * 2 * WHOLE_CHARS_MAX * 0.7);
  });
});
