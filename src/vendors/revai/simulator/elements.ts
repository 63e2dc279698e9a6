// What the simulated Rev AI heard, as its elements: words, and what stands between and behind them.
import { type HeardText, markedWordsOf } from '../../kit/simulator/words.ts';

const punct = (value: string) => ({ type: 'punct', value });

export const elementsOf = (heard: HeardText) =>
  markedWordsOf(heard).flatMap(({ word, mark, start, end, confidence = 0.95 }, index) => [
    ...(index === 0 ? [] : [punct(' ')]),
    { type: 'text', value: word, ts: start, end_ts: end, confidence },
    ...(mark === undefined ? [] : [punct(mark)]),
  ]);
