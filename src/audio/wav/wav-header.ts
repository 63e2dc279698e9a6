// The header of a WAV file of mono linear16, as long as it is known or not.
import { BYTES_PER_SAMPLE } from '../../api/linear16.ts';

export const WAV_HEADER_BYTES = 44;
/** What a header says when the length is not known, or larger than it can say. */
const UNKNOWN_SIZE = 0xffff_ffff;

export function wavHeader(sampleRate: number, sampleBytes: number | undefined): Uint8Array {
  const size = (bytes: number) => Math.min(bytes, UNKNOWN_SIZE);
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(size((sampleBytes ?? UNKNOWN_SIZE) + WAV_HEADER_BYTES - 8), 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write('data', 36);
  header.writeUInt32LE(size(sampleBytes ?? UNKNOWN_SIZE), 40);
  return header;
}
