// What the simulated Gladia heard, as it tells it live and of files: each word but the first with the space before it.
import { type HeardText, wordsOf } from '../../kit/simulator/words.ts';

export function utteranceOf(heard: HeardText, more: Readonly<Record<string, unknown>> = {}) {
  const words = wordsOf(heard).map(({ word, start, end, confidence = 0.9 }, index) => ({
    ...{ word: index === 0 ? word : ` ${word}`, start, end, confidence },
  }));
  const { text, start, end } = heard;
  return { text: ` ${text}`, start, end, confidence: 0.9, channel: 0, language: 'en', words, ...more };
}
