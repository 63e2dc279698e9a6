// Turns the decoder's probabilities into confidences from 0 to 1. What is done about a low one is decided in stream.ts.
import type { DecodedWord } from './decoders.ts';
import type { LanguageModel } from './languages.ts';

/** How steeply confidence rises with fit. */
const STEEPNESS = 16;
const PROBABILITY_MIN = 1e-3;
/** The decoder's language weight, over the scale of its scores. */
const WORD_COST_SCALE = 6.5 / 1024;

/**
 * How well the sound fits words: the logarithm of the decoder's probability per second, without what it takes off for each
 * word. The probability itself falls with a word's length and says little.
 */
export function fitOf(words: readonly DecodedWord[], { wordInsertion }: LanguageModel): number {
  const wordCost = WORD_COST_SCALE * Math.log(wordInsertion);
  let logarithm = 0;
  let length = 0;
  for (const { start, end, probability } of words) {
    logarithm += Math.log(Math.max(probability, PROBABILITY_MIN)) - wordCost;
    length += end - start;
  }
  return length === 0 ? Number.NEGATIVE_INFINITY : logarithm / length;
}

/** Speech that words cover so much of is covered whole: voices begin before the first word is noticed, and end after the last. */
const COVER_WHOLE = 0.8;

/** The part of what is voiced that words cover, from 0 to 1. `voiced`: the moments, on the words' clock, where a voice is heard. */
export function coverOf(words: readonly DecodedWord[], voiced: readonly number[]): number {
  if (voiced.length === 0) return 1;
  const covered = voiced.filter((at) => words.some(({ start, end }) => at >= start && at <= end)).length;
  return Math.min(1, covered / voiced.length / COVER_WHOLE);
}

/** A logistic curve over the fit: monotone, and 0.5 where speech is as likely outside the grammar as inside. */
export function confidenceOf(fit: number, { evenFit }: LanguageModel): number {
  return Math.round(1000 / (1 + Math.exp(STEEPNESS * (evenFit - fit)))) / 1000;
}

/** The same for one word of a turn. A short word's own fit is noisy, so its turn's counts as much. */
export function wordConfidenceOf(word: DecodedWord, turnFit: number, language: LanguageModel): number {
  return confidenceOf((fitOf([word], language) + turnFit) / 2, language);
}
