// The words of what an ear heard, as Deepgram lists them.
import type { EarMessage } from '../../simulation.ts';

export type HeardText = Pick<Extract<EarMessage, { type: 'interim' }>, 'text' | 'start' | 'end' | 'words'>;

export interface WireWord {
  word: string;
  punctuated_word: string;
  start: number;
  end: number;
  confidence: number;
  speaker?: number;
  language?: string;
}

const CONFIDENCE = 0.98;

/** One for each word of the text: with the ear's times, or with equal shares of the time where it gave none. */
export function wireWords({ text, start, end, words }: HeardText, extras: Partial<WireWord> = {}): WireWord[] {
  const tokens = text.split(' ').filter((token) => token !== '');
  const share = (end - start) / Math.max(1, tokens.length);
  return tokens.map((token, index) => {
    const timed = words?.length === tokens.length ? words[index] : undefined;
    return {
      word: token,
      punctuated_word: token,
      start: timed?.start ?? start + index * share,
      end: timed?.end ?? start + (index + 1) * share,
      confidence: timed?.confidence ?? CONFIDENCE,
      ...extras,
    };
  });
}
