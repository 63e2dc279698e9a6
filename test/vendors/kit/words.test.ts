// Words of a whole file, and the utterances that are made of them.
import { expect, it } from 'vitest';
import { sentencesOf, spaced, utteranceOf, wordOf } from '../../../src/vendors/kit/words.ts';

it('cuts a file where sentences end and where another speaks, and says whose each part is', () => {
  const words = ['Hello', 'there.', 'Who', 'me?', 'Yes', 'you'].map((word, at) =>
    wordOf(word, at, at + 1, 0.5, at < 3 ? 0 : 1),
  );
  expect(sentencesOf(words).map(({ text, start, end, speaker }) => [text, start, end, speaker])).toEqual([
    ['Hello there.', 0, 2, 0],
    ['Who', 2, 3, 0],
    ['me?', 3, 4, 1],
    ['Yes you', 4, 6, 1],
  ]);
});

it('leaves a file whole whose words do not make up its text', () => {
  expect(sentencesOf([wordOf('你好', 0, 1)], '你好。', 0.5)).toMatchObject([{ text: '你好。', confidence: 0.5 }]);
});

it('makes a word of parts that come out of order, which does not end before it begins', () => {
  const parts = utteranceOf(' wel come', 0, 3, { words: [wordOf(' wel', 2, 3), wordOf('come', 0, 1)] });
  expect(spaced(parts).words).toEqual([{ word: 'welcome', start: 2, end: 3 }]);
});
