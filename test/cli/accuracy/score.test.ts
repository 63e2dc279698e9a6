// Errors of a transcript against what was really said: what counts, that they are the fewest, and how sure their rate is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance } from '../../../src/api/slug.ts';
import { errorsBetween, intervalOf, totalOf, UNITS_MAX, unitFor, unitsOf } from '../../../src/cli/accuracy/score.ts';
import { drawn } from '../../fakes/drawn.ts';

const words = (text: string) => unitsOf(text, 'words');

describe('the words of a text', () => {
  it.each([
    ['Don’t stop, Mr. O’Neill!', ['dont', 'stop', 'mr', 'oneill']],
    ["don't", ['dont']],
    ['ＡＢＣ ﬁne', ['abc', 'fine']],
    ['well-known — and 3.5 %', ['well', 'known', 'and', '3', '5']],
    ['«Grüße»\n\n¿Qué?', ['grüße', 'qué']],
    // Composed or not, it is the same letter.
    ['e\u0301te\u0301', ['été']],
    [' … ', []],
  ])('%j are %j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('are characters in languages without spaces', () => {
    expect(unitsOf('今日は、 良い 天気。', 'characters')).toEqual([...'今日は良い天気']);
    expect(unitFor('ja', [])).toBe('characters');
    expect(unitFor('de', ['今日は'])).toBe('words');
    expect([unitFor(null, ['今日は', 'OK']), unitFor(null, ['hello', '今日'])]).toEqual(['characters', 'words']);
  });
});

describe('errors', () => {
  it.each([
    ['a b c', 'a b c', [0, 0, 0]],
    ['a b c', 'a x c', [1, 0, 0]],
    ['a b c', 'a b y c', [0, 1, 0]],
    ['a b c', 'a c', [0, 0, 1]],
    ['a b c', '', [0, 0, 3]],
    ['', 'a b', [0, 2, 0]],
    ['the cat sat on the mat', 'the cat sit on mat mat', [2, 0, 0]],
  ])('of %j transcribed as %j are counted by kind', (reference, heard, [substitutions, insertions, deletions]) => {
    expect(errorsBetween(words(reference), words(heard))).toEqual({ substitutions, insertions, deletions });
  });

  it('are the fewest, and their kinds agree with the lengths', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (reference, heard) => {
        const errors = errorsBetween(reference, heard);
        expect(totalOf(errors)).toBe(editDistance(reference, heard));
        expect(errors.insertions - errors.deletions).toBe(heard.length - reference.length);
        expect(Math.min(errors.substitutions, errors.insertions, errors.deletions)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: drawn(1_000) },
    );
  });

  it('of a transcript without end are counted without comparing all of it', () => {
    const heard = Array.from({ length: 1_000_000 }, () => 'no');
    expect(errorsBetween(['yes'], heard)).toEqual({ substitutions: 1, insertions: 999_999, deletions: 0 });
    expect(UNITS_MAX).toBe(20_000);
  });
});

describe('the interval of a rate', () => {
  const files = Array.from({ length: 20 }, (_, at) => ({ errors: at % 4, units: 30 }));

  it('has the rate in it, is the same each time, and is narrower with more files', () => {
    const interval = intervalOf(files);
    const [low, high] = interval ?? [1, 0];
    expect([low < 0.05, high > 0.05, low > 0, high < 0.1]).toEqual([true, true, true, true]);
    expect(intervalOf(files)).toEqual(interval);
    const [lower, higher] = intervalOf(Array.from({ length: 20 }, () => files).flat()) ?? [0, 1];
    expect(higher - lower).toBeLessThan((high - low) / 2);
  });

  it('does not exist for a few files, or for files in which nothing is said', () => {
    expect(intervalOf(files.slice(0, 4))).toBeUndefined();
    expect(intervalOf(Array.from({ length: 9 }, () => ({ errors: 1, units: 0 })))).toBeUndefined();
  });
});
