// AAC in ADTS: the header of one frame says how many bytes it has, and for how long it sounds. ISO/IEC 13818-7.

/** What the header of one frame says. */
export interface FrameHead {
  bytes: number;
  samples: number;
  seconds: number;
  channels: number;
  /** What most frames of one stream have in common: all that a header says but its length. Less than 2,048. */
  kind: number;
}

/** Rates of AAC by the number that stands for them, in ADTS and elsewhere. */
export const AAC_HERTZ: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const AAC_SAMPLES = 1024;
const ADTS_HEAD_BYTES = 7;

/** Bytes in front of the first raw_data_block of an ADTS frame: a checksum may follow the header. */
export const adtsHeadBytes = (bytes: Uint8Array, at: number): number => ((bytes[at + 1]! & 1) === 0 ? 9 : 7);

/** The frame of AAC whose ADTS header is at `at`, or undefined when there is none. */
export function adtsFrame(bytes: Uint8Array, at: number): FrameHead | undefined {
  if (bytes.length < at + ADTS_HEAD_BYTES || bytes[at] !== 0xff || (bytes[at + 1]! & 0xf6) !== 0xf0) return undefined;
  const rate = (bytes[at + 2]! >> 2) & 15;
  const hertz = AAC_HERTZ[rate];
  const length = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5);
  if (hertz === undefined || length < ADTS_HEAD_BYTES) return undefined;
  const channels = ((bytes[at + 2]! & 1) << 2) | (bytes[at + 3]! >> 6);
  const samples = AAC_SAMPLES * ((bytes[at + 6]! & 3) + 1);
  return {
    bytes: length,
    samples,
    seconds: samples / hertz,
    channels: channels || 1,
    kind: ((bytes[at + 1]! & 1) << 10) | ((bytes[at + 2]! >> 6) << 8) | (rate << 4) | channels,
  };
}
