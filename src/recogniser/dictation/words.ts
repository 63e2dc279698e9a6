// Words with times out of tokens with times, for models that give them.
import type { HeardWord } from '../protocol.ts';
import { rounded } from './frames.ts';
import type { SherpaResult } from './sherpa.ts';

/** The last token of a word is spoken for so long. */
const TOKEN_SECONDS = 0.2;

/** Undefined where the model gives no times, or tokens that do not add up to its text. */
export function wordsOf({ text, tokens, timestamps }: SherpaResult, startSeconds: number): HeardWord[] | undefined {
  if (timestamps.length === 0 || timestamps.length !== tokens.length) return undefined;
  const words: HeardWord[] = [];
  for (const [at, token] of tokens.entries()) {
    const start = startSeconds + timestamps[at]!;
    const end =
      startSeconds + Math.min(timestamps[at + 1] ?? Number.POSITIVE_INFINITY, timestamps[at]! + TOKEN_SECONDS);
    const piece = token.replaceAll('▁', ' ');
    const last = words.at(-1);
    if (last === undefined || piece.startsWith(' ') || isWordItself(piece) || isWordItself(last.word))
      words.push({ word: piece.trimStart(), start: rounded(start), end: rounded(end) });
    else words[words.length - 1] = { word: last.word + piece, start: last.start, end: rounded(end) };
  }
  const spoken = words.map(({ word, ...times }) => ({ word: word.trim(), ...times })).filter(({ word }) => word !== '');
  return lettersOf(spoken.map(({ word }) => word).join('')) === lettersOf(text) ? spoken : undefined;
}

/** Such languages have no spaces between words. */
const isWordItself = (piece: string): boolean =>
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+$/u.test(piece.trim());

const lettersOf = (text: string): string => text.replaceAll(/\s/g, '');
