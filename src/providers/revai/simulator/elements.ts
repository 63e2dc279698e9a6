// What the simulated Rev AI heard, as its elements: words, and what stands between and behind them.
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';

const MARK = /^(.*\w)([.,?!])$/;

export const elementsOf = (heard: HeardText) =>
  wordsOf(heard).flatMap(({ word, start, end, confidence = 0.95 }, index) => {
    const [, plain = word, mark] = MARK.exec(word) ?? [];
    return [
      ...(index === 0 ? [] : [{ type: 'punct', value: ' ' }]),
      { type: 'text', value: plain, ts: start, end_ts: end, confidence },
      ...(mark === undefined ? [] : [{ type: 'punct', value: mark }]),
    ];
  });
