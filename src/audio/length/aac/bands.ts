// Where the scale-factor bands of AAC begin, by rate and window. ISO/IEC 14496-3, tables 4.129 to 4.147. Frames of 960 samples have
// the same bands, cut off at 960 and 120.

const LONG_96 = [
  0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64, 72, 80, 88, 96, 108, 120, 132, 144, 156, 172, 188, 212,
  240, 276, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024,
];
const LONG_64 = [
  0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64, 72, 80, 88, 100, 112, 124, 140, 156, 172, 192, 216, 240,
  268, 304, 344, 384, 424, 464, 504, 544, 584, 624, 664, 704, 744, 784, 824, 864, 904, 944, 984, 1024,
];
const LONG_48 = [
  0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 88, 96, 108, 120, 132, 144, 160, 176, 196, 216, 240, 264,
  292, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800, 832, 864, 896, 928, 1024,
];
const LONG_32 = [
  0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 72, 80, 88, 96, 108, 120, 132, 144, 160, 176, 196, 216, 240, 264,
  292, 320, 352, 384, 416, 448, 480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800, 832, 864, 896, 928, 960, 992,
  1024,
];
const LONG_24 = [
  0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 52, 60, 68, 76, 84, 92, 100, 108, 116, 124, 136, 148, 160, 172, 188, 204,
  220, 240, 260, 284, 308, 336, 364, 396, 432, 468, 508, 552, 600, 652, 704, 768, 832, 896, 960, 1024,
];
const LONG_16 = [
  0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 100, 112, 124, 136, 148, 160, 172, 184, 196, 212, 228, 244, 260, 280,
  300, 320, 344, 368, 396, 424, 456, 492, 532, 572, 616, 664, 716, 772, 832, 896, 960, 1024,
];
const LONG_8 = [
  0, 12, 24, 36, 48, 60, 72, 84, 96, 108, 120, 132, 144, 156, 172, 188, 204, 220, 236, 252, 268, 288, 308, 328, 348,
  372, 396, 420, 448, 476, 508, 544, 580, 620, 664, 712, 764, 820, 880, 944, 1024,
];
const SHORT_96 = [0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 92, 128];
const SHORT_48 = [0, 4, 8, 12, 16, 20, 28, 36, 44, 56, 68, 80, 96, 112, 128];
const SHORT_24 = [0, 4, 8, 12, 16, 20, 24, 28, 36, 44, 52, 64, 76, 92, 108, 128];
const SHORT_16 = [0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 60, 72, 88, 108, 128];
const SHORT_8 = [0, 4, 8, 12, 16, 20, 24, 28, 36, 44, 52, 60, 72, 88, 108, 128];

/** By the index of the rate. */
const LONG = [
  LONG_96,
  LONG_96,
  LONG_64,
  LONG_48,
  LONG_48,
  LONG_32,
  LONG_24,
  LONG_24,
  LONG_16,
  LONG_16,
  LONG_16,
  LONG_8,
  LONG_8,
];
const SHORT = [
  SHORT_96,
  SHORT_96,
  SHORT_96,
  SHORT_48,
  SHORT_48,
  SHORT_48,
  SHORT_24,
  SHORT_24,
  SHORT_16,
  SHORT_16,
  SHORT_16,
  SHORT_8,
  SHORT_8,
];
/** Bands that may be predicted in the Main profile. */
const PREDICTED_MAX = [33, 33, 38, 40, 40, 40, 41, 41, 37, 37, 37, 34, 34];

export interface Bands {
  long: readonly number[];
  short: readonly number[];
  predictedMax: number;
}

/** @param samples of a frame: 1,024 or 960 */
export function bandsOf(rateIndex: number, samples: number): Bands | undefined {
  const [long, short, predictedMax] = [LONG[rateIndex], SHORT[rateIndex], PREDICTED_MAX[rateIndex]];
  if (long === undefined || short === undefined || predictedMax === undefined) return undefined;
  return { long: upTo(long, samples), short: upTo(short, samples / 8), predictedMax };
}

const upTo = (offsets: readonly number[], end: number): readonly number[] => [
  ...offsets.filter((offset) => offset < end),
  end,
];
