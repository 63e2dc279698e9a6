// The elements of a final or of a file: words, and what stands between and behind them.
import type { Word } from '../../../machines/events.ts';
import { fractionIn, listIn, objectIn, textIn, timeOr } from '../kit/json.ts';
import { wordOf } from '../kit/words.ts';

/** The text, and its words with the marks behind each. A word without times stands where the one before it ended. */
export function wordsIn(
  elements: unknown,
  place: (seconds: number) => number,
  speaker: number | undefined,
  from = 0,
): { text: string; words: Word[] } {
  const words: Word[] = [];
  let [text, lastEnd] = ['', from];
  for (const { type, value, ts, end_ts, confidence } of listIn(elements).map(objectIn)) {
    const said = textIn(value) ?? '';
    text += said;
    const last = words.at(-1);
    if (type !== 'text') {
      if (last !== undefined) last.word += said.trim();
      continue;
    }
    if (said.trim() === '') continue;
    const start = timeOr(ts, lastEnd) ?? lastEnd;
    lastEnd = Math.max(start, timeOr(end_ts, start) ?? start);
    words.push(wordOf(said.trim(), place(start), place(lastEnd), fractionIn(confidence), speaker));
  }
  return { text: text.trim(), words };
}
