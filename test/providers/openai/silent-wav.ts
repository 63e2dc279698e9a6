// A WAV file of silence, as small as its length allows.
import { wavHeader } from '../../../src/audio/wav/wav-header.ts';

/** Silence at 8 kHz. */
export function silentWav(seconds: number): Buffer {
  const bytes = seconds * 16_000;
  return Buffer.concat([wavHeader(8_000, bytes), Buffer.alloc(bytes)]);
}
