// Speech energy tells speech from silence and costs next to nothing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SpeechMeter } from '../../../src/audio/voice/energy.ts';

const RATE = 16_000;
const FULL_SCALE = 32_768;

/** A 200 Hz tone whose root mean square is `dbfs`, on a constant offset. */
function tone(seconds: number, dbfs: number, offset = 0): number[] {
  const amplitude = Math.SQRT2 * FULL_SCALE * 10 ** (dbfs / 20);
  return Array.from(
    { length: seconds * RATE },
    (_, i) => offset + Math.round(amplitude * Math.sin((2 * Math.PI * 200 * i) / RATE)),
  );
}

const silence = (seconds: number): number[] => new Array(seconds * RATE).fill(0);

function metered(samples: number[], sizes: number[] = [320]): SpeechMeter {
  const meter = new SpeechMeter(RATE);
  const all = Int16Array.from(samples);
  for (let at = 0, i = 0; at < all.length; i++) {
    const to = Math.min(all.length, at + sizes[i % sizes.length]!);
    meter.take(all, at, to);
    at = to;
  }
  return meter;
}

const AUDIO: [what: string, samples: number[], lastEnd: number | undefined][] = [
  ['silence', silence(2), undefined],
  ['room noise at -50 dBFS', tone(2, -50), undefined],
  ['an offset as loud as speech', tone(2, -60, 3000), undefined],
  ['a click of 50 ms', [...silence(1), ...tone(0.05, -10), ...silence(1)], undefined],
  ['a quiet voice at -42 dBFS', [...silence(1), ...tone(1, -42), ...silence(1)], 2 * RATE],
  ['a voice at -20 dBFS on an offset', [...silence(1), ...tone(0.5, -20, -2000), ...silence(0.5)], 1.5 * RATE],
  ['a voice to the end', [...silence(1), ...tone(1, -20)], 2 * RATE],
];

test.each(AUDIO)('%s', (_, samples, lastEnd) => {
  expect(metered(samples).speech.lastEnd).toBe(lastEnd);
});

test('gives the same result for any split of the stream', () => {
  const samples = [...silence(0.3), ...tone(0.33, -30), ...silence(1.2), ...tone(0.2, -44), ...silence(0.1)];
  const heardBy = ({ speech, sound }: SpeechMeter) =>
    [speech, sound].map((runs) => [
      runs.lastEnd,
      runs.startAfter(0),
      runs.startAfter(RATE),
      runs.endAfter(0, RATE / 2),
    ]);
  const whole = heardBy(metered(samples, [samples.length]));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 5 }), (sizes) => {
      expect(heardBy(metered(samples, sizes))).toEqual(whole);
    }),
    { numRuns: 20, examples: [[[1]]] },
  );
});

test.each([0.35, 0.5, 0.9, 1.5])('sees a pause of %d s in speech when the rest is known', (pause) => {
  const { speech } = metered([...tone(1, -20), ...silence(pause), ...tone(1, -20)]);
  expect(speech.endAfter(0, 0.3 * RATE)).toBe(RATE);
});

test('speech is found in any stretch that holds some, until it is forgotten', () => {
  const meter = metered([...silence(1), ...tone(1, -20), ...silence(2), ...tone(1, -20), ...silence(1)]);
  const second = (from: number, until: number) => meter.speech.between(from * RATE, until * RATE);
  expect([
    second(0, 1),
    second(0, 1.2),
    second(1.5, 1.6),
    second(2, 4),
    second(2, 4.5),
    second(5, 6),
    second(0, 6),
  ]).toEqual([false, true, true, false, true, false, true]);
  meter.forget(2 * RATE);
  expect([second(0, 4), second(0, 6)]).toEqual([false, true]);
  expect(meter.speech.lastEnd).toBe(5 * RATE);
});

test('however long the session, the runs kept are bounded, and no speech is forgotten', () => {
  const meter = new SpeechMeter(100);
  const word = Int16Array.from({ length: 220 }, (_, i) => (i < 100 ? (i % 2 ? 9000 : -9000) : 0));
  for (let i = 0; i < 3000; i++) meter.take(word, 0, word.length);
  expect(meter.speech.between(0, 50)).toBe(true);
  expect(meter.speech.between(2999 * 220 + 110, 3000 * 220 - 10)).toBe(false);
  expect(meter.speech.between(2998 * 220 + 110, 2999 * 220 - 10)).toBe(false);
  expect(meter.speech.lastEnd).toBeGreaterThan(2999 * 220);
});

test('reports where sound begins again, at any level except silence', () => {
  const meter = new SpeechMeter(RATE);
  const quiet = (seconds: number, level: number) =>
    new Int16Array(RATE * seconds).map((_, i) => (i % 32 < 16 ? level : -level));
  for (const samples of [quiet(2, 0), quiet(1, 30), quiet(3, 8), quiet(1, 30)]) meter.take(samples, 0, samples.length);
  const seconds = (sample: number) => Math.round((sample / RATE) * 10) / 10;
  expect([0, 1, 2.5, 3, 5, 7].map((from) => seconds(meter.sound.startAfter(from * RATE)))).toEqual([
    2, 2, 2.5, 6, 6, 7,
  ]);
});
