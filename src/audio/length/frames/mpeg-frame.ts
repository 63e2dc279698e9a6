// The header of one frame of MPEG audio (layers I to III) or of AAC in ADTS: how many bytes it has, and for how long it sounds.
// ISO/IEC 11172-3, 13818-3 and 13818-7.

/** One frame. */
export interface MpegFrame {
  bytes: number;
  samples: number;
  seconds: number;
  channels: number;
  /** What most frames of one stream have in common: all that a header says but its length. Less than {@link KINDS}. */
  kind: number;
}

export const KINDS = 2_048;

/** Kbit/s by the four bits of a header; 0 where the stream decides. */
const KBPS: Readonly<Record<string, readonly number[]>> = {
  'v1 I': [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  'v1 II': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  'v1 III': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  'v2 I': [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  'v2 II': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
/** By version and layer, as a header has them: the second version's last layer is coded like its second. */
const KBPS_OF = [
  [undefined, KBPS['v2 II'], KBPS['v2 II'], KBPS['v2 I']],
  [undefined, KBPS['v1 III'], KBPS['v1 II'], KBPS['v1 I']],
];
const HERTZ_V1 = [44_100, 48_000, 32_000];
const LAYER_III = 1;
const LAYER_I = 3;
const MONO = 3;
/** Version 2.5, none, 2 and 1: what the rate of version 1 is divided by. */
const DIVISORS = [4, undefined, 2, 1];
/** Rates of AAC by the number that stands for them, in ADTS and elsewhere. */
export const AAC_HERTZ: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
const AAC_SAMPLES = 1024;
const ADTS_HEAD_BYTES = 7;

/** The layer of a frame of MPEG audio: 1 is III, 2 is II, 3 is I. */
export const layerOf = (bytes: Uint8Array, at: number): number => (bytes[at + 1]! >> 1) & 3;
export const isLayerIii = (bytes: Uint8Array, at: number): boolean => layerOf(bytes, at) === LAYER_III;

/** The frame of MPEG audio whose header is at `at`, or undefined when there is none; 0 bytes where the stream decides on them. */
export function mpegFrame(bytes: Uint8Array, at: number): MpegFrame | undefined {
  if (bytes.length < at + 4 || bytes[at] !== 0xff) return undefined;
  const second = bytes[at + 1]!;
  const third = bytes[at + 2]!;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const divisor = DIVISORS[version];
  const isFirst = version === 3;
  const kbps = KBPS_OF[isFirst ? 1 : 0]![layer]?.[third >> 4];
  const hertzV1 = HERTZ_V1[(third >> 2) & 3];
  if (second >> 5 !== 7 || divisor === undefined || kbps === undefined || hertzV1 === undefined) return undefined;
  const hertz = hertzV1 / divisor;
  const samples = layer === LAYER_I ? 384 : layer === LAYER_III && !isFirst ? 576 : 1152;
  const slotBytes = layer === LAYER_I ? 4 : 1;
  const slots = Math.floor((samples * 125 * kbps) / hertz / slotBytes) + ((third >> 1) & 1);
  return {
    bytes: kbps === 0 ? 0 : slots * slotBytes,
    samples,
    seconds: samples / hertz,
    channels: bytes[at + 3]! >> 6 === MONO ? 1 : 2,
    kind: ((second & 31) << 4) | (((third >> 2) & 3) << 2) | (bytes[at + 3]! >> 6),
  };
}

/** Bytes in front of the first raw_data_block of an ADTS frame: a checksum may follow the header. */
export const adtsHeadBytes = (bytes: Uint8Array, at: number): number => ((bytes[at + 1]! & 1) === 0 ? 9 : 7);

/** The frame of AAC whose ADTS header is at `at`, or undefined when there is none. */
export function adtsFrame(bytes: Uint8Array, at: number): MpegFrame | undefined {
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
