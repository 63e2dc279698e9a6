// The header of a WAV file of headerless samples, as long as it is known or not.
import { BYTES_PER_SAMPLE } from '../../api/linear16.ts';

export const WAV_HEADER_BYTES = 44;
/** What a header says when the length is not known, or larger than it can say. */
const UNKNOWN_SIZE = 0xffff_ffff;

/** By the codes of WAV: the bytes of a sample. */
const CODINGS = {
  linear16: { tag: 1, bytes: BYTES_PER_SAMPLE },
  alaw: { tag: 6, bytes: 1 },
  mulaw: { tag: 7, bytes: 1 },
} as const;

export function wavHeader(
  sampleRate: number,
  sampleBytes: number | undefined,
  coding: keyof typeof CODINGS = 'linear16',
  channels = 1,
): Uint8Array {
  const { tag, bytes } = CODINGS[coding];
  const frameBytes = bytes * channels;
  const size = (length: number) => Math.min(length, UNKNOWN_SIZE);
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(size((sampleBytes ?? UNKNOWN_SIZE) + WAV_HEADER_BYTES - 8), 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(8 * bytes, 34);
  header.write('data', 36);
  header.writeUInt32LE(size(sampleBytes ?? UNKNOWN_SIZE), 40);
  return header;
}
