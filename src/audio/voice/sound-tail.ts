// How long the sound of a word goes on behind where its provider says that it ends: sent again by itself, it would be heard as
// a word of its own.
import { WINDOW_MS, WindowPower } from './window-power.ts';

/** A word's sound goes on for 0.1 s; what lasts longer than this is another word. */
export const TAIL_MS_MAX = 200;
/** Sound that becomes so much louder again is the next word, and the last one ends where it was so much quieter than before. */
const RISE = 10 ** (4 / 10);
const DIP = 10 ** (-6 / 10);

/**
 * How many of these samples, from the end of a word on, are still its sound: up to the next silence, or to the dip before the
 * next word. None where speech goes straight on: the first sound of the next word is never taken for a rest of the last.
 *
 * @param quietPower what is quieter is silence
 */
export function soundTail(samples: Int16Array, sampleRate: number, quietPower: number): number {
  const powers: number[] = [];
  const meter = new WindowPower(sampleRate, (power) => powers.push(power));
  meter.take(samples, 0, samples.length);
  let quietest = 0;
  for (const [window, power] of powers.entries()) {
    if (window * WINDOW_MS > TAIL_MS_MAX) break;
    if (power < quietPower) return window * meter.windowSamples;
    if (power > powers[quietest]! * RISE) {
      return powers[quietest]! <= powers[0]! * DIP ? quietest * meter.windowSamples : 0;
    }
    if (power < powers[quietest]!) quietest = window;
  }
  return 0;
}
