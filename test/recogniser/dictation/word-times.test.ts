// Estimated times of words: in order, within the voice, and not in its pauses.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimatedWords } from '../../../src/recogniser/dictation/word-times.ts';

const RATE = 16_000;

/** Sound and silence, by their seconds. */
function audioOf(...seconds: number[]): Float32Array {
  const parts = seconds.flatMap((length, at) =>
    Array.from({ length: Math.round(length * RATE) }, () => (at % 2 === 0 ? 0 : 0.5)),
  );
  return Float32Array.from(parts);
}

const utteranceOf = (
  samples: Float32Array,
  voicedStartSeconds: number,
  voicedEndSeconds: number,
  startSeconds = 0,
) => ({
  samples,
  startSeconds,
  voicedStartSeconds: startSeconds + voicedStartSeconds,
  voicedEndSeconds: startSeconds + voicedEndSeconds,
});

test('spreads words over the voice by their length', () => {
  const words = estimatedWords('aaaa bbbb', utteranceOf(audioOf(0.5, 2, 0.5), 0.5, 2.5));
  expect(words).toEqual([
    { word: 'aaaa', start: 0.5, end: 1.5 },
    { word: 'bbbb', start: 1.5, end: 2.5 },
  ]);
});

test('leaves a pause out', () => {
  const words = estimatedWords('aaaa bbbb', utteranceOf(audioOf(0, 1, 1, 1), 0, 3));
  expect(words).toEqual([
    { word: 'aaaa', start: 0, end: 1 },
    { word: 'bbbb', start: 2, end: 3 },
  ]);
});

test('is on the clock of the stream', () => {
  const [word] = estimatedWords('word', utteranceOf(audioOf(0.5, 1), 0.5, 1.5, 100));
  expect(word).toEqual({ word: 'word', start: 100.5, end: 101.5 });
});

test('gives each word of any text a time within the voice, in order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z.,']{1,12}$/), { minLength: 1, maxLength: 40 }),
      fc.array(fc.float({ min: Math.fround(0.05), max: 2, noNaN: true }), { minLength: 2, maxLength: 9 }),
      (text, seconds) => {
        const samples = audioOf(...seconds);
        const end = samples.length / RATE;
        const words = estimatedWords(text.join(' '), utteranceOf(samples, 0, end));
        expect(words.map(({ word }) => word)).toEqual(text);
        const times = words.flatMap((word) => [word.start, word.end]);
        expect(times).toEqual([...times].sort((one, other) => one - other));
        expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
        expect(Math.max(...times)).toBeLessThanOrEqual(end + 0.001);
      },
    ),
    { numRuns: 100 },
  );
});

test('gives no words for no text', () => {
  expect(estimatedWords('', utteranceOf(audioOf(0, 1), 0, 1))).toEqual([]);
});
