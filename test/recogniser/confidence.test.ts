// How sure the recogniser says it is.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DecodedWord } from '../../src/recogniser/grammar/decoders.ts';
import { LANGUAGES } from '../../src/recogniser/grammar/languages.ts';
import { confidenceOf, coverOf, fitOf, wordConfidenceOf } from '../../src/recogniser/grammar/stream.ts';

const word = (probability: number, seconds: number): DecodedWord => ({
  word: 'yes',
  start: 1,
  end: 1 + seconds,
  probability,
});

describe.each(Object.entries(LANGUAGES))('confidence in %s', (_name, language) => {
  test('lies from 0 to 1 and rises with the decoder’s probability', () => {
    const probability = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(probability, probability, fc.double({ min: 0.01, max: 3, noNaN: true }), (a, b, seconds) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((each) =>
          confidenceOf(fitOf([word(each, seconds)], language), language),
        ) as [number, number];
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(high);
      }),
    );
  });

  test('equals a half at the even fit, and lies between a word’s and its turn’s fit', () => {
    expect(confidenceOf(language.evenFit, language)).toBe(0.5);
    expect(confidenceOf(fitOf([], language), language)).toBe(0);
    const [poor, good] = [word(0.7, 0.3), word(0.99, 0.3)];
    const turnFit = fitOf([poor, good], language);
    const of = (each: DecodedWord) => wordConfidenceOf(each, turnFit, language);
    expect(of(poor)).toBeLessThan(confidenceOf(turnFit, language));
    expect(of(good)).toBeGreaterThan(confidenceOf(turnFit, language));
  });
});

describe('the share of the speech that words cover', () => {
  const voiced = Array.from({ length: 10 }, (_, at) => 0.95 + at / 10);

  test('counts voiced moments inside a word, and forgives a fifth outside', () => {
    expect(coverOf([word(1, 1)], voiced)).toBe(1);
    expect(coverOf([word(1, 0.8)], voiced)).toBe(1);
    expect(coverOf([word(1, 0.3)], voiced)).toBeCloseTo(0.375);
    expect(coverOf([], voiced)).toBe(0);
    expect(coverOf([word(1, 1)], [])).toBe(1);
  });

  test('does not fall where words cover more', () => {
    const length = fc.double({ min: 0, max: 2, noNaN: true });
    fc.assert(
      fc.property(length, length, (a, b) => {
        const [short, long] = [Math.min(a, b), Math.max(a, b)].map((each) => coverOf([word(1, each)], voiced));
        expect(short).toBeLessThanOrEqual(long!);
      }),
    );
  });
});
