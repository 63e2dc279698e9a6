// Where audio is given out again when a leg is replaced: behind what the last final covers, and what nobody needs to hear twice.
import type { Tape } from './tape/tape.ts';
import type { SpeechMeter } from './voice/energy.ts';
import { soundTail, TAIL_MS_MAX } from './voice/sound-tail.ts';

/** Silence before the first sound of a replay that is sent all the same: recognisers want to hear a word begin. */
const QUIET_MS = 500;

/** Sound that began so shortly before the end of the last final is no rest of its last word: the next has begun. */
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
