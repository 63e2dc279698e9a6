// The resampler's quality on sines, and that the cutting of its input changes nothing.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PcmConverter, Resampler } from '../../src/audio/resampler.ts';

const AMPLITUDE = 16_000;

function sine(hertz: number, rate: number, seconds: number): Int16Array {
  return Int16Array.from({ length: Math.round(rate * seconds) }, (_, i) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * hertz * i) / rate)),
  );
}

function convert(samples: Int16Array, from: number, to: number, sizes: number[] = [samples.length]): Int16Array {
  const converter = new PcmConverter(from, to);
  const pieces: number[] = [];
  for (let at = 0, i = 0; at < samples.length; at += sizes[i++ % sizes.length]!) {
    pieces.push(...converter.push(samples.subarray(at, at + sizes[i % sizes.length]!)));
  }
  pieces.push(...converter.end());
  return Int16Array.from(pieces);
}

const decibels = (ratio: number) => 20 * Math.log10(ratio);
const rms = (values: ArrayLike<number>) =>
  Math.sqrt(Array.from(values).reduce((sum, value) => sum + value * value, 0) / values.length);

/** What is left between the ends, where the tone begins and stops abruptly. */
const middle = (samples: Int16Array, rate: number) => samples.subarray(rate * 0.05, samples.length - rate * 0.05);

/** Gain of a tone in decibels, and how far below it everything else lies. */
function quality(hertz: number, from: number, to: number): { gain: number; signalToNoise: number } {
  const output = middle(convert(sine(hertz, from, 0.5), from, to), to);
  const first = to * 0.05;
  const angle = (i: number) => (2 * Math.PI * hertz * (first + i)) / to;
  let [sines, cosines, mixed, inSine, inCosine] = [0, 0, 0, 0, 0];
  output.forEach((sample, i) => {
    const [s, c] = [Math.sin(angle(i)), Math.cos(angle(i))];
    sines += s * s;
    cosines += c * c;
    mixed += s * c;
    inSine += sample * s;
    inCosine += sample * c;
  });
  const determinant = sines * cosines - mixed * mixed;
  const a = (inSine * cosines - inCosine * mixed) / determinant;
  const b = (inCosine * sines - inSine * mixed) / determinant;
  const rest = Array.from(output, (sample, i) => sample - a * Math.sin(angle(i)) - b * Math.cos(angle(i)));
  return {
    gain: decibels(Math.hypot(a, b) / AMPLITUDE),
    signalToNoise: decibels(Math.hypot(a, b) / Math.SQRT2 / rms(rest)),
  };
}

/** Exact ratios, ratios interpolated between rows, up and down. */
const PAIRS: [from: number, to: number][] = [
  [8000, 16_000],
  [8000, 24_000],
  [16_000, 8000],
  [16_000, 24_000],
  [24_000, 16_000],
  [22_050, 16_000],
  [44_100, 16_000],
  [44_100, 24_000],
  [48_000, 16_000],
  [48_000, 8000],
  [11_025, 16_000],
  [8001, 16_000],
  [47_999, 16_000],
];

describe.each(PAIRS)('%i to %i Hz', (from, to) => {
  const nyquist = Math.min(from, to) / 2;

  test('tones up to four fifths of the band keep their level within 0.1 dB, and all else is 65 dB below', () => {
    for (const part of [0.01, 0.1, 0.3, 0.5, 0.7, 0.8]) {
      const { gain, signalToNoise } = quality(part * nyquist, from, to);
      expect(Math.abs(gain)).toBeLessThan(0.1);
      expect(signalToNoise).toBeGreaterThan(65);
    }
  });

  test('keeps the duration, with the same output for any split of the input', () => {
    const input = sine(nyquist / 3, from, 0.1);
    const whole = convert(input, from, to);
    expect(whole.length).toBe(Math.ceil((input.length * to) / from));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 6 }), (sizes) => {
        const cut = convert(input, from, to, sizes);
        expect([cut.length, cut.findIndex((sample, index) => sample !== whole[index])]).toEqual([whole.length, -1]);
      }),
      { numRuns: 10, examples: [[[1]]] },
    );
  });

  test('keeps the position of a click within a sample', () => {
    const input = new Int16Array(from / 10);
    const at = Math.round(from / 20);
    input[at] = 30_000;
    const output = convert(input, from, to);
    const loudest = output.reduce((best, sample, i) => (Math.abs(sample) > Math.abs(output[best]!) ? i : best), 0);
    expect(Math.abs(loudest / to - at / from)).toBeLessThanOrEqual(1 / Math.min(from, to));
  });

  test('keeps a constant unchanged', () => {
    const output = middle(convert(new Int16Array(from / 4).fill(12_345), from, to), to);
    expect(new Set(output)).toEqual(new Set([12_345]));
  });
});

test.each(PAIRS.filter(([from, to]) => to < from))(
  '%i to %i Hz: tones that the new rate cannot carry are 70 dB down',
  (from, to) => {
    for (const part of [1.0, 1.02, 1.1, 1.3, 1.7]) {
      const hertz = (part * to) / 2;
      if (hertz >= from / 2) continue;
      const output = middle(convert(sine(hertz, from, 0.5), from, to), to);
      expect(decibels(rms(output) / (AMPLITUDE / Math.SQRT2))).toBeLessThan(-70);
    }
  },
);

test('full-scale input is clipped, never wrapped', () => {
  const square = Int16Array.from({ length: 8000 }, (_, i) => (i % 40 < 20 ? 32_767 : -32_768));
  const output = convert(square, 8000, 16_000);
  expect(output.every((sample, i) => i % 80 < 4 || i % 80 > 36 || sample > 20_000)).toBe(true);
});

test('equal rates pass through untouched, and nothing in gives nothing out', () => {
  const input = sine(300, 16_000, 0.01);
  const converter = new PcmConverter(16_000, 16_000);
  expect(converter.push(input)).toBe(input);
  expect(converter.end().length).toBe(0);
  expect(convert(new Int16Array(0), 8000, 16_000).length).toBe(0);
});

test('converts the rates of the largest files in one piece of any size', () => {
  expect(convert(new Int16Array(384_000), 384_000, 8000).length).toBe(8000);
});

test('reads as much as outputsFor promised', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PAIRS),
      fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 20 }),
      ([from, to], sizes) => {
        const resampler = new Resampler(from, to);
        const output = new Int16Array(100_000);
        let written = 0;
        let read = 0;
        for (const size of sizes) {
          written += resampler.write(new Int16Array(size));
          read += resampler.read(output, 0, output.length);
          expect(read).toBe(resampler.outputsFor(written, false));
        }
        resampler.end();
        expect(read + resampler.read(output, 0, output.length)).toBe(Math.ceil((written * to) / from));
      },
    ),
    { numRuns: 50 },
  );
});
