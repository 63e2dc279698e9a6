// What is said about AAC besides its blocks: the AudioSpecificConfig of a track, which MP4 keeps in `esds` and Matroska in the track's
// private data, and the header of a frame in ADTS. ISO/IEC 14496-3, section 1.6.2, and 13818-7.
import { type AacSyntax, type Bands, BitReader, PARSED_OBJECTS } from './raw-data-block.ts';

export interface AacConfig {
  /** Of the samples that one access unit decodes to. */
  seconds: number;
  channels: number;
  /** Undefined for object types whose blocks are not parsed here: their access units are only counted. */
  syntax: AacSyntax | undefined;
  /** Honest access units are smaller: encoders go beyond the bit reservoir of 6,144 bits a channel by up to a third. */
  unitBytesMax: number;
}

/** Audio object types. */
const LC = 2;
/** SBR, and with PS: the object type of what they extend follows. */
const EXTENSIONS = [5, 29];
const LOW_DELAY = [23, 39];
const UNIFIED = 42;
const UNIFIED_SAMPLES = [768, 1024, 2048, 2048, 4096];
const EXPLICIT_RATE = 15;
const EXPLICIT_UNIFIED_RATE = 31;
const CHANNEL_BYTES_MAX = 2 * 768;
const CHANNELS: Readonly<Record<number, number>> = { 7: 8, 11: 7, 12: 8, 14: 8 };
/** The lowest rates that use the bands of each index. */
const BANDS_FROM_HERTZ = [92_017, 75_132, 55_426, 46_009, 37_566, 27_713, 23_004, 18_783, 13_856, 11_502, 9_391, 0];

/**
 * @param config empty where the track has none: then it is LC at `hertz`
 * @param channels of the track, used where the configuration does not say
 */
export function aacConfig(config: Uint8Array, channels: number, hertz: number): AacConfig | undefined {
  if (config.length < 2) return configured(LC, hertz, channels, 1024);
  const bits = new BitReader(Buffer.concat([config, Buffer.alloc(16)]));
  let object = takeObject(bits);
  // Of the core, where SBR doubles it: both have the same number of units a second.
  let rate = takeRate(bits.take(4), EXPLICIT_RATE, bits) || hertz;
  const layout = bits.take(4);
  if (EXTENSIONS.includes(object)) {
    takeRate(bits.take(4), EXPLICIT_RATE, bits);
    object = takeObject(bits);
  }
  let samples: number | undefined;
  if (object === UNIFIED) {
    rate = takeRate(bits.take(5), EXPLICIT_UNIFIED_RATE, bits) || rate;
    samples = UNIFIED_SAMPLES[bits.take(3)];
  } else {
    const isShort = bits.flag();
    samples = LOW_DELAY.includes(object) ? (isShort ? 480 : 512) : isShort ? 960 : 1024;
  }
  return samples === undefined
    ? undefined
    : configured(object, rate, layout === 0 ? channels : (CHANNELS[layout] ?? layout), samples);
}

function configured(object: number, hertz: number, channels: number, samples: number): AacConfig | undefined {
  if (!(hertz > 0)) return undefined;
  const listed = AAC_HERTZ.indexOf(hertz);
  const index = listed === -1 ? BANDS_FROM_HERTZ.findIndex((from) => hertz >= from) : listed;
  const bands = PARSED_OBJECTS.includes(object) ? bandsOf(index, samples) : undefined;
  return {
    seconds: samples / hertz,
    channels,
    syntax: bands && { object, bands },
    unitBytesMax: CHANNEL_BYTES_MAX * channels * Math.max(1, samples / 1024),
  };
}

function takeObject(bits: BitReader): number {
  const object = bits.take(5);
  return object === 31 ? 32 + bits.take(6) : object;
}

const takeRate = (index: number, explicit: number, bits: BitReader): number =>
  index === explicit ? bits.take(24) : (AAC_HERTZ[index] ?? 0);

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

/** Where scale-factor bands begin, by rate and window. ISO/IEC 14496-3, tables 4.129 to 4.147. */
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

/** @param samples of a frame: 1,024 or 960; the latter has the same bands, cut off at 960 and 120 */
function bandsOf(rateIndex: number, samples: number): Bands | undefined {
  const [long, short, predictedMax] = [LONG[rateIndex], SHORT[rateIndex], PREDICTED_MAX[rateIndex]];
  if (long === undefined || short === undefined || predictedMax === undefined) return undefined;
  return { long: upTo(long, samples), short: upTo(short, samples / 8), predictedMax };
}

const upTo = (offsets: readonly number[], end: number): readonly number[] => [
  ...offsets.filter((offset) => offset < end),
  end,
];
