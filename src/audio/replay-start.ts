// Where audio is given out again when a leg is replaced: behind what the last final covers, and what nobody needs to hear twice.
import type { Tape } from './tape/tape.ts';
import type { SpeechMeter } from './voice/energy.ts';
import { soundTail, TAIL_MS_MAX } from './voice/sound-tail.ts';

/** Silence before the first sound of a replay that is sent all the same: recognisers want to hear a word begin. */
const QUIET_MS = 500;

/** The end of the last final, less what its last word still sounds and the silence that follows. */
export function replayStart(tape: Tape, meter: SpeechMeter, sampleRate: number): number {
  const samplesOf = (ms: number) => Math.round((sampleRate * ms) / 1000);
  const { covered, start } = tape;
  let from = covered;
  if (covered > 0 && start <= covered) {
    // More than is looked at, so that the last window of that is whole.
    from += soundTail(tape.copyOfSent(covered, samplesOf(2 * TAIL_MS_MAX)), sampleRate, meter.quietPower);
  }
  return Math.max(from, meter.sound.startAfter(from) - samplesOf(QUIET_MS));
}
