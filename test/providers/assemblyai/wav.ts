// The smallest WAV file there is, for the tests of files.
import { wavHeader } from '../../../src/audio/wav/wav-header.ts';

/** Linear16 at 16 kHz as a WAV file. */
export function wavOf(audio: Uint8Array): Uint8Array {
  return Buffer.concat([wavHeader(16_000, audio.length), audio]);
}
