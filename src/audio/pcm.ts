// What the bytes of a client's audio mean: linear16, μ-law and A-law (ITU-T G.711) to 16-bit samples in memory.
// Storage, rates and containers are left to others. The tables are filled from the standard's formulas.
import { BYTES_PER_SAMPLE } from '../api/audio-formats.ts';
import type { RawEncoding } from '../api/listen.ts';

if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new Error(
    'Voxgate keeps audio as little-endian samples; this machine is big-endian. Run it on x86-64 or ARM64.',
  );
}

/** The 16-bit sample of one μ-law byte: sign, exponent and mantissa of the inverted byte, less the encoder's bias. */
export function mulawSample(byte: number): number {
  const code = ~byte & 0xff;
  const magnitude = ((((code & 0x0f) << 3) + 0x84) << ((code >> 4) & 7)) - 0x84;
  return code & 0x80 ? -magnitude : magnitude;
}

/** The 16-bit sample of one A-law byte: even bits inverted, 13 bits wide, left-justified to 16. */
export function alawSample(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code >> 4) & 7;
  const mantissa = ((code & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return code & 0x80 ? magnitude : -magnitude;
}

const MULAW = Int16Array.from({ length: 256 }, (_, byte) => mulawSample(byte));
const ALAW = Int16Array.from({ length: 256 }, (_, byte) => alawSample(byte));

/** Bytes that one sample takes in this encoding. */
export function bytesPerSample(encoding: RawEncoding): 1 | 2 {
  return encoding === 'linear16' ? 2 : 1;
}

/** Samples in memory, seen as samples and as little-endian bytes of the same memory. */
export interface SampleMemory {
  readonly samples: Int16Array;
  readonly bytes: Uint8Array;
}

/** Writes `count` samples, encoded in `bytes` from `at` on, to `target` from sample `offset` on. Any `byteOffset` will do. */
export function decode(
  encoding: RawEncoding,
  bytes: Uint8Array,
  at: number,
  count: number,
  target: SampleMemory,
  offset: number,
): void {
  if (encoding === 'linear16') {
    const whole = at === 0 && bytes.length === count * BYTES_PER_SAMPLE;
    const source = whole ? bytes : bytes.subarray(at, at + count * BYTES_PER_SAMPLE);
    target.bytes.set(source, offset * BYTES_PER_SAMPLE);
    return;
  }
  const table = encoding === 'mulaw' ? MULAW : ALAW;
  const { samples } = target;
  for (let i = 0; i < count; i++) samples[offset + i] = table[bytes[at + i]!]!;
}

/** The nearest 16-bit sample; what is not a number becomes silence. */
export function toSample(value: number): number {
  if (value >= 32767) return 32767;
  if (value <= -32768) return -32768;
  return Math.round(value) | 0;
}
