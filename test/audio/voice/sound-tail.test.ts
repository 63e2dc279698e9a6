// Where a replay begins behind the end of a word: after its last sound, and never after the first of the next.
import { expect, test } from 'vitest';
import { soundTail } from '../../../src/audio/replay-start.ts';
import { powerOf } from '../../../src/audio/voice/voice-activity.ts';

const RATE = 16_000;
const QUIET = powerOf(-55);

/** Pieces of sound one after the other, each of a length in milliseconds, from one loudness to another. */
function sound(...pieces: readonly [ms: number, dbfs: number, toDbfs?: number][]): Int16Array {
  return Int16Array.from(
    pieces.flatMap(([ms, dbfs, toDbfs = dbfs]) => {
      const samples = (ms * RATE) / 1000;
      return Array.from({ length: samples }, (_, i) => {
        const amplitude = Math.SQRT2 * 32_768 * 10 ** ((dbfs + ((toDbfs - dbfs) * i) / samples) / 20);
        return Math.round(amplitude * Math.sin((2 * Math.PI * 200 * i) / RATE));
      });
    }),
  );
}

test.each<[string, Int16Array, number]>([
  ['silence at once', sound([400, -90]), 0],
  ['nothing at all', new Int16Array(0), 0],
  ['sound that fades for 100 ms', sound([100, -25, -60], [300, -90]), 100],
  ['sound that stops after 100 ms', sound([100, -20], [300, -90]), 100],
  ['sound that stops, and the next word soon after', sound([100, -20], [50, -90], [250, -20]), 100],
  ['sound that lasts longer than any rest of a word', sound([400, -20]), 0],
  ['sound that fades for longer than that', sound([400, -20, -60]), 0],
  ['the beginning of the next word', sound([60, -50, -20], [340, -20]), 0],
  ['the next word at once, as loud', sound([60, -20], [40, -22], [300, -20]), 0],
  ['a rest that fades into the next word', sound([100, -20, -40], [300, -20]), 75],
  ['less than a window', sound([20, -20]), 0],
])('%s', (_, samples, ms) => {
  expect((soundTail(samples, RATE, QUIET) * 1000) / RATE).toBe(ms);
});
