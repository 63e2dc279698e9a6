// Where the replay begins when a leg is replaced: after what the last final covers, and after what need not be sent twice.
import type { Tape } from './tape/tape.ts';
import type { SpeechMeter } from './voice/energy.ts';
import { WINDOW_MS, WindowPower } from './voice/voice-activity.ts';

/** Silence before the first sound of a replay that is sent anyway: recognisers want to hear a word begin. */
const QUIET_MS = 500;

/** Sound that began so shortly before the end of the last final is not the rest of its last word: the next has begun. */
const WORD_MS_MIN = 100;

/** The end of the last final, less what its last word still sounds and the silence that follows. */
export function replayStart(tape: Tape, meter: SpeechMeter, sampleRate: number): number {
  const samplesOf = (ms: number) => Math.round((sampleRate * ms) / 1000);
  const { covered, start } = tape;
  const soundsSince = meter.audible.since(covered);
  let from = covered;
  if (soundsSince !== undefined && covered - soundsSince >= samplesOf(WORD_MS_MIN) && start <= covered) {
    // More than is looked at, so that the last window of that is whole.
    from += soundTail(tape.copyOfSent(covered, samplesOf(2 * TAIL_MS_MAX)), sampleRate, meter.quietPower);
  }
  return Math.max(from, meter.sound.startAfter(from) - samplesOf(QUIET_MS));
}

/** A word's sound continues for 0.1 s; what lasts longer than this is another word. */
const TAIL_MS_MAX = 200;
/** Sound that becomes so much louder again is the next word, and the last one ends where it was so much quieter than before. */
const RISE = 10 ** (4 / 10);
const DIP = 10 ** (-6 / 10);

/**
 * How long the sound of a word continues after the end that its provider reports: replayed alone, it would be recognised as another word.
 *
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
