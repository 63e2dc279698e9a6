// For how long one sample of an MP4 track sounds, by its description. ISO/IEC 14496-12, 14496-14, 14496-3; the description says
// how samples are decoded, so that what it says is what a decoder does.

import { type AacConfig, aacConfig } from './aac/config.ts';
import { boxesOf, inside, wordAt } from './mp4-boxes.ts';
import { textAt, viewOf } from './scan.ts';

/** Seconds of each sample, or how to look for them in the bytes. */
export type Mp4Codec =
  | { kind: 'samples'; seconds: number; channels: number; packetBytesMax: number }
  | { kind: 'aac'; config: AacConfig; channels: number }
  | { kind: 'pcm'; bytesPerSecond: number; frameBytes: number; channels: number }
  | { kind: 'opus' | 'mpeg' | 'narrow amr' | 'wide amr'; channels: number }
  | { kind: 'flac'; hertz: number; channels: number }
  | { kind: 'unknown' };

/** Reserved bytes, the place of the data, and the first version of what is said of sound. */
const ENTRY_BYTES = 28;
const ENTRY_BYTES_BY_VERSION = [28, 44, 64];
/** Their samples may have fewer bits than two bytes. */
const NARROW_PCM = ['sowt', 'twos'];
const PCM_BYTES: Readonly<Record<string, number>> = {
  'raw ': 1,
  alaw: 1,
  ulaw: 1,
  sowt: 2,
  twos: 2,
  in24: 3,
  in32: 4,
  fl32: 4,
  fl64: 8,
};
const AAC_OBJECTS = [0x40, 0x66, 0x67, 0x68];
const MPEG_OBJECTS = [0x69, 0x6b];
const AC3_SAMPLES = 1536;
/** No packet is larger: decoders go on in a sample that is, as if it were several. */
const AC3_BYTES_MAX = 4096;

/** Of the first description of a track; undefined where there is none. */
export function mp4Codec(stsd: Uint8Array | undefined): Mp4Codec | undefined {
  for (const { type, body } of boxesOf(stsd?.subarray(8))) {
    if (body.length < ENTRY_BYTES) return { kind: 'unknown' };
    const view = viewOf(body);
    const channels = view.getUint16(16) || 1;
    const hertz = view.getUint16(24);
    const more = body.subarray(ENTRY_BYTES_BY_VERSION[view.getUint16(8)] ?? ENTRY_BYTES);
    return described(type, more, { channels, hertz, bits: view.getUint16(18) }) ?? { kind: 'unknown' };
  }
  return undefined;
}

function described(
  type: string,
  more: Uint8Array,
  { channels, hertz, bits }: { channels: number; hertz: number; bits: number },
): Mp4Codec | undefined {
  // QuickTime has it one box deeper.
  const esds = inside(more, 'esds') ?? inside(more, 'wave', 'esds');
  if (type === 'mp4a' && esds !== undefined) return elementary(esds, channels, hertz);
  if (type === 'Opus') return { kind: 'opus', channels: inside(more, 'dOps')?.[1] || channels };
  if (type === 'samr' || type === 'sawb') return { kind: type === 'samr' ? 'narrow amr' : 'wide amr', channels };
  if (type === '.mp3' || type === 'mp3 ') return { kind: 'mpeg', channels };
  if (type === 'fLaC') {
    const info = inside(more, 'dfLa');
    const said = wordAt(info, 8 + 10) >>> 12;
    return said === 0 ? undefined : { kind: 'flac', hertz: said, channels };
  }
  if (type === 'alac') {
    const config = inside(more, 'alac');
    const [samples, rate] = [wordAt(config, 4), wordAt(config, 24)];
    return rate === 0
      ? undefined
      : { kind: 'samples', seconds: samples / rate, channels, packetBytesMax: Number.POSITIVE_INFINITY };
  }
  if (hertz === 0) return undefined;
  if (type === 'ac-3' || type === 'ec-3')
    return { kind: 'samples', seconds: AC3_SAMPLES / hertz, channels, packetBytesMax: AC3_BYTES_MAX };
  const bytes = PCM_BYTES[type];
  if (bytes === undefined) return undefined;
  const frameBytes = (NARROW_PCM.includes(type) && bits <= 8 ? 1 : bytes) * channels;
  return { kind: 'pcm', bytesPerSecond: hertz * frameBytes, frameBytes, channels };
}

/** What the descriptors of MPEG-4 say: tags, each with a length in bytes of seven bits. */
export function elementary(esds: Uint8Array, channels: number, hertz: number): Mp4Codec | undefined {
  let object = 0;
  for (let at = 4; at + 2 < esds.length; ) {
    const tag = esds[at++]!;
    let length = 0;
    for (let more = 0x80; more === 0x80 && at < esds.length; at++) {
      more = esds[at]! & 0x80;
      length = length * 128 + (esds[at]! & 0x7f);
    }
    if (tag === 3) {
      const flags = esds[at + 2] ?? 0;
      at += 3 + ((flags & 0x80) === 0 ? 0 : 2) + ((flags & 0x20) === 0 ? 0 : 2);
      if ((flags & 0x40) !== 0) at += 1 + (esds[at] ?? 0);
    } else if (tag === 4) {
      object = esds[at] ?? 0;
      if (MPEG_OBJECTS.includes(object)) return { kind: 'mpeg', channels };
      at += 13;
    } else if (tag === 5 && AAC_OBJECTS.includes(object)) {
      return aac(esds.subarray(at, at + length), channels, hertz);
    } else at += length;
  }
  return AAC_OBJECTS.includes(object) ? aac(new Uint8Array(0), channels, hertz) : undefined;
}

function aac(setup: Uint8Array, channels: number, hertz: number): Mp4Codec | undefined {
  const config = aacConfig(setup, channels, hertz);
  return config && { kind: 'aac', config, channels: config.channels };
}

/** The codec of a track without a description. */
export const handlerOf = (media: Uint8Array | undefined): string => {
  const handler = inside(media, 'hdlr');
  return handler === undefined || handler.length < 12 ? '' : textAt(handler, 8, 4);
};
