// How AAC of a track is decoded: its AudioSpecificConfig, which MP4 keeps in `esds` and Matroska in the track's private data.
// ISO/IEC 14496-3, section 1.6.2.
import { AAC_HERTZ } from '../frames/mpeg-frame.ts';
import { bandsOf } from './bands.ts';
import { BitReader } from './bits.ts';
import { type AacSyntax, PARSED_OBJECTS } from './raw-data-block.ts';

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
