// Utterances of a file: redacted with their words and times, also where a number begins in one and ends in the next.
import { expect, it } from 'vitest';
import type { Utterance } from '../../machines/events.ts';
import type { RedactionClass } from '../../src/api/redaction.ts';
import { UtteranceRedactor, type UtteranceRedactorOptions, WAITING_MAX } from '../../src/redaction/utterances.ts';

const CLASSES: ReadonlySet<RedactionClass> = new Set(['card', 'email', 'phone']);

const options = (found: RedactionClass[] = []) => ({
  classes: CLASSES,
  onFound: (kind: RedactionClass) => void found.push(kind),
  onUnreadable: (error: unknown) => {
    throw error;
  },
});

/** All of a file, one by one. */
function redactedUtterances(utterances: readonly Utterance[], given: UtteranceRedactorOptions): Utterance[] {
  const redactor = new UtteranceRedactor(given);
  return [...utterances.flatMap((utterance) => redactor.add(utterance)), ...redactor.end()];
}

/** A second for each word. */
const said = (text: string, start = 0, spoken = text.split(' ')): Utterance => ({
  text,
  start,
  end: start + spoken.length,
  words: spoken.map((word, index) => ({
    word,
    start: start + index,
    end: start + index + 0.5,
    confidence: (90 - index) / 100,
  })),
});

it('makes one word of all words of a match, with their times and the lowest confidence', () => {
  const found: RedactionClass[] = [];
  const [only] = redactedUtterances([said('It is 4111 1111 1111 1111. Okay?')], options(found));
  expect(only?.text).toBe('It is [CARD]. Okay?');
  expect(only?.words).toEqual([
    { word: 'It', start: 0, end: 0.5, confidence: 0.9 },
    { word: 'is', start: 1, end: 1.5, confidence: 0.89 },
    { word: '[CARD]', start: 2, end: 5.5, confidence: 0.85 },
    { word: 'Okay?', start: 6, end: 6.5, confidence: 0.84 },
  ]);
  expect(found).toEqual(['card']);
});

it('redacts both parts of a number over two utterances', () => {
  const redacted = redactedUtterances(
    [said('My card is four one one one one one one one'), said('one one one one one one one one. Thanks.', 20)],
    options(),
  );
  expect(redacted.map(({ text }) => text)).toEqual(['My card is [CARD]', '[CARD]. Thanks.']);
  expect(redacted.map(({ words }) => words?.map(({ word }) => word))).toEqual([
    ['My', 'card', 'is', '[CARD]'],
    ['[CARD]', 'Thanks.'],
  ]);
});

it('redacts words that are spelt in another way than their text', () => {
  const spoken = 'it is four one one one one one one one one one one one one one one one'.split(' ');
  const [only] = redactedUtterances([said('It is 4111 1111 1111 1111.', 0, spoken)], options());
  expect(only?.text).toBe('It is [CARD].');
  expect(only?.words?.map(({ word }) => word)).toEqual(['it', 'is', '[CARD]']);
});

it('leaves words out that do not say what is redacted in their text', () => {
  const [only] = redactedUtterances(
    [said('It is 4111 1111 1111 1111.', 0, ['it', 'is', 'vier', 'elfmal', '1er'])],
    options(),
  );
  expect(only?.text).toBe('It is [CARD].');
  expect(only?.words).toBeUndefined();
});

it('makes the text of its words where only they say what is to be redacted', () => {
  const spoken = 'mail john at example dot com please'.split(' ');
  const [only] = redactedUtterances([said('Mail john-at-example, please.', 0, spoken)], options());
  expect(only?.text).toBe('mail [EMAIL] please');
});

it('gives at once what cannot continue, and the same in the end', () => {
  const utterances = [said('Hello.'), said('My card is 4111 1111', 5), said('1111 1111', 10), said('Bye.', 15)];
  const redactor = new UtteranceRedactor(options());
  const told = utterances.map((utterance) => redactor.add(utterance).map(({ text }) => text));
  expect(told).toEqual([['Hello.'], [], ['My card is [CARD]', '[CARD]'], ['Bye.']]);
  expect(redactor.end()).toEqual([]);
  expect(redactedUtterances(utterances, options()).map(({ text }) => text)).toEqual(told.flat());
});

it('gives the same, or more, for several at a time', () => {
  const utterances = [said('Hello.'), said('4111', 5), said('1111 1111 1111', 10), said('Bye.', 15)];
  const redactor = new UtteranceRedactor(options());
  const texts = [...redactor.add(...utterances), ...redactor.end()].map(({ text }) => text);
  expect(texts).toEqual(['Hello.', '[CARD]', '[CARD]', 'Bye.']);
});

it('lets no more utterances wait than it may', () => {
  const redactor = new UtteranceRedactor(options());
  let left = redactor.add(said('it is 4141')).length;
  for (let added = 2; added <= WAITING_MAX + 4; added++) {
    left += redactor.add(said('41', added)).length;
    expect(added - left).toBeLessThanOrEqual(WAITING_MAX);
  }
  expect(left).toBe(4);
});

it('leaves out a text that it cannot read', () => {
  const errors: unknown[] = [];
  const classes = new Set<RedactionClass>(['card']);
  classes.has = () => {
    throw new Error('broken');
  };
  const redactor = new UtteranceRedactor({ classes, onFound: () => {}, onUnreadable: (error) => errors.push(error) });
  expect(redactor.add(said('4111 1111 1111 1111'))).toEqual([{ text: '[REDACTED]', start: 0, end: 4 }]);
  expect(errors).toHaveLength(1);
});
