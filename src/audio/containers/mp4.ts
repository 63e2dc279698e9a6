// MP4, M4A, MOV and 3GP: the tracks that may be sound, how their samples are coded, and where they are, in tables or in a fragment.
// ISO/IEC 14496-12, sections 4, 8.7 and 8.8; 14496-14 and 14496-3.

import { type AacConfig, aacConfig } from '../codecs/aac/config.ts';
import { textAt, viewOf } from '../scan.ts';

interface Movie {
  tracks: Track[];
  hasVideo: boolean;
}

const EDIT_BYTES = 12;
const WIDE_EDIT_BYTES = 20;
/** Of an edit that shows nothing. */
const EMPTY = 0xffff_ffff;

/** Every track except those of pictures: decoders recognise sound by how samples are coded, whatever the track is called. */
export function movieOf(moov: Uint8Array, size: number): Movie {
  const tracks: Track[] = [];
  let others = 0;
  let hasVideo = false;
  const movieTimescale = timescaleOf(inside(moov, 'mvhd'));
  for (const { type, body } of boxesOf(moov)) {
    if (type !== 'trak') continue;
    const media = inside(body, 'mdia');
    const table = inside(media, 'minf', 'stbl');
    const description = inside(table, 'stsd');
    const codec = mp4Codec(description);
    const handler = handlerOf(media);
    hasVideo ||= handler === 'vide';
    const isPicture = handler === 'vide' && codec?.kind === 'pcm';
    if (codec === undefined || isPicture || (codec.kind === 'unknown' && handler !== 'soun')) {
      others++;
      continue;
    }
    const trackHeader = inside(body, 'tkhd');
    const id = wordAt(trackHeader, trackHeader?.[0] === 1 ? 20 : 12);
    const timescale = timescaleOf(inside(media, 'mdhd'));
    tracks.push({
      id,
      codec,
      description,
      timescale,
      ticks: ticksOfTable(inside(table, 'stts')),
      runs: tableRuns(table, size),
      defaults: defaultsOf(inside(moov, 'mvex'), id),
      edits: editsOf(inside(body, 'edts', 'elst'), movieTimescale, timescale),
      isAlone: false,
    });
  }
  if (others === 0 && tracks.length === 1) tracks[0]!.isAlone = true;
  return { tracks, hasVideo };
}

const timescaleOf = (header: Uint8Array | undefined): number => wordAt(header, header?.[0] === 1 ? 20 : 12);

function ticksOfTable(stts: Uint8Array | undefined): number {
  let ticks = 0;
  for (let at = 8; stts !== undefined && at + 8 <= stts.length; at += 8)
    ticks += wordAt(stts, at) * wordAt(stts, at + 4);
  return ticks;
}

function defaultsOf(mvex: Uint8Array | undefined, id: number): Track['defaults'] {
  for (const { type, body } of boxesOf(mvex)) {
    if (type === 'trex' && wordAt(body, 4) === id) return { ticks: wordAt(body, 12), bytes: wordAt(body, 16) };
  }
  return { ticks: 0, bytes: 0 };
}

/** What an edit list says is shown of a track. */
function editsOf(elst: Uint8Array | undefined, movieTimescale: number, timescale: number): Track['edits'] {
  let shownSeconds = 0;
  let skippedSeconds = 0;
  if (elst === undefined || movieTimescale === 0 || timescale === 0) return { shownSeconds, skippedSeconds };
  const isWide = elst[0] === 1;
  const step = isWide ? WIDE_EDIT_BYTES : EDIT_BYTES;
  const low = isWide ? 4 : 0;
  for (let at = 8; at + step <= elst.length; at += step) {
    const begin = wordAt(elst, at + (isWide ? 12 : 4));
    if (begin === EMPTY) continue;
    shownSeconds += wordAt(elst, at + low) / movieTimescale;
    skippedSeconds += begin / timescale;
  }
  return { shownSeconds, skippedSeconds };
}

/** Samples that lie one behind the other. */
export interface Run {
  at: number;
  count: number;
  /** Bytes of the sample with a number. */
  sizeOf(sample: number): number;
}

/** A track of sound. */
export interface Track {
  id: number;
  codec: Mp4Codec;
  /** Its `stsd`, without the head of the box. */
  description: Uint8Array | undefined;
  /** Of a second. */
  timescale: number;
  /** What its tables and fragments say of its samples. */
  ticks: number;
  runs: Run[];
  /** For all fragments. */
  defaults: { ticks: number; bytes: number };
  /** By the edit list; 0 where it says nothing: fragments come without a length. */
  edits: { shownSeconds: number; skippedSeconds: number };
  /** The movie has no other track, not even of pictures. */
  isAlone: boolean;
}

/** Samples in tables, one run for each chunk. */
function tableRuns(table: Uint8Array | undefined, fileBytes: number): Run[] {
  const { count, sizeOf } = sizes(table, fileBytes);
  const wide = inside(table, 'co64');
  const offsets = wide ?? inside(table, 'stco');
  const perChunk = inside(table, 'stsc');
  const chunks = Math.min(wordAt(offsets, 4), Math.floor(((offsets?.length ?? 8) - 8) / (wide === undefined ? 4 : 8)));
  const runs: Run[] = [];
  let first = 0;
  for (let chunk = 0, entry = 8; chunk < chunks && first < count; chunk++) {
    // Each entry is for the chunks up to the next one's first.
    if (entry + 24 <= (perChunk?.length ?? 0) && wordAt(perChunk, entry + 12) <= chunk + 1) entry += 12;
    const begin = first;
    const samples = Math.min(wordAt(perChunk, entry + 4), count - first);
    const at = wide === undefined ? wordAt(offsets, 8 + chunk * 4) : Number(viewOf(wide).getBigUint64(8 + chunk * 8));
    runs.push({ at, count: samples, sizeOf: (sample) => sizeOf(begin + sample) });
    first += samples;
  }
  // Decoders may know better where they are.
  if (first < count) runs.push({ at: 0, count: count - first, sizeOf: (sample) => sizeOf(first + sample) });
  return runs;
}

function sizes(table: Uint8Array | undefined, fileBytes: number): Omit<Run, 'at'> {
  const plain = inside(table, 'stsz');
  const all = wordAt(plain, 4);
  if (all > 0) return { count: Math.min(wordAt(plain, 8), Math.floor(fileBytes / all)), sizeOf: () => all };
  if (plain !== undefined) {
    const count = Math.min(wordAt(plain, 8), Math.floor(Math.max(0, plain.length - 12) / 4));
    return { count, sizeOf: (sample) => wordAt(plain, 12 + sample * 4) };
  }
  const small = inside(table, 'stz2');
  if (small === undefined || small.length < 12) return { count: 0, sizeOf: () => 0 };
  const bits = small[7] || 4;
  const count = Math.min(wordAt(small, 8), Math.floor(((small.length - 12) * 8) / bits));
  const sizeOf = (sample: number) => {
    const at = 12 + Math.floor((sample * bits) / 8);
    if (bits === 16) return small[at]! * 256 + small[at + 1]!;
    return bits === 8 ? small[at]! : (small[at]! >> (sample % 2 === 0 ? 4 : 0)) & 15;
  };
  return { count, sizeOf };
}

/** Adds the samples that a fragment has of a track. */
export function addFragment(track: Track, moof: Uint8Array, moofAt: number, fileBytes: number): void {
  for (const { type, body } of boxesOf(moof)) {
    const header = type === 'traf' ? inside(body, 'tfhd') : undefined;
    if (header === undefined || wordAt(header, 4) !== track.id) continue;
    const { baseAt, ticks, bytes } = fragmentHeader(header, track, moofAt);
    let at = baseAt;
    for (const box of boxesOf(body)) {
      if (box.type !== 'trun') continue;
      const run = runOf(box.body, { at, baseAt, ticks, bytes }, fileBytes);
      track.runs.push(run);
      track.ticks += run.ticks;
      at = run.endsAt;
    }
  }
}

/** What a fragment says of all its samples, behind the fields that its flags announce. */
function fragmentHeader(tfhd: Uint8Array, { defaults }: Track, moofAt: number) {
  const flags = wordAt(tfhd, 0);
  let at = 8;
  const field = (flag: number, bytes: number): number | undefined => {
    if ((flags & flag) === 0) return undefined;
    at += bytes;
    return wordAt(tfhd, at - 4);
  };
  const base = field(0x1, 8);
  const high = base === undefined ? 0 : wordAt(tfhd, at - 8);
  field(0x2, 4);
  const ticks = field(0x8, 4) ?? defaults.ticks;
  const bytes = field(0x10, 4) ?? defaults.bytes;
  return { baseAt: base === undefined ? moofAt : high * 2 ** 32 + base, ticks, bytes };
}

function runOf(
  trun: Uint8Array,
  from: { at: number; baseAt: number; ticks: number; bytes: number },
  fileBytes: number,
): Run & { ticks: number; endsAt: number } {
  const flags = wordAt(trun, 0);
  const first = 8 + ((flags & 0x1) === 0 ? 0 : 4) + ((flags & 0x4) === 0 ? 0 : 4);
  const step = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length;
  const most = step === 0 ? Math.floor(fileBytes / (from.bytes || 1)) : Math.floor((trun.length - first) / step);
  const count = Math.max(0, Math.min(wordAt(trun, 4), most));
  // The duration is the first of a sample's fields, the size the second.
  const sizeAt = first + ((flags & 0x100) === 0 ? 0 : 4);
  const fields = trun.slice();
  const sizeOf = (sample: number) => ((flags & 0x200) === 0 ? from.bytes : wordAt(fields, sizeAt + sample * step));
  const at = (flags & 0x1) === 0 ? from.at : from.baseAt + (wordAt(trun, 8) | 0);
  let ticks = (flags & 0x100) === 0 ? count * from.ticks : 0;
  let endsAt = at;
  if (step === 0) endsAt += count * from.bytes;
  else {
    for (let sample = 0; sample < count; sample++) {
      if ((flags & 0x100) !== 0) ticks += wordAt(trun, first + sample * step);
      endsAt += sizeOf(sample);
    }
  }
  return { at, count, sizeOf, ticks, endsAt };
}

/** Seconds of each sample, or how to look for them in the bytes: decoders go by the same description. */
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
/** No packet is larger: decoders continue in a sample that is, as if it were several. */
const AC3_BYTES_MAX = 4096;

/** Of the first description of a track; undefined where there is none. */
function mp4Codec(stsd: Uint8Array | undefined): Mp4Codec | undefined {
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
const handlerOf = (media: Uint8Array | undefined): string => {
  const handler = inside(media, 'hdlr');
  return handler === undefined || handler.length < 12 ? '' : textAt(handler, 8, 4);
};

export const BOX_HEAD_BYTES = 16;

interface Box {
  type: string;
  body: Uint8Array;
}

/** @param left bytes from the box on to the end of what holds it */
export function boxHead(head: Uint8Array, left: number): { type: string; headBytes: number; bytes: number } {
  if (head.length < 8) return { type: '', headBytes: 1, bytes: 0 };
  const view = viewOf(head);
  const short = view.getUint32(0);
  const type = textAt(head, 4, 4);
  if (short === 1) {
    const bytes = head.length < BOX_HEAD_BYTES ? 0 : Number(view.getBigUint64(8));
    return { type, headBytes: BOX_HEAD_BYTES, bytes };
  }
  return { type, headBytes: 8, bytes: short === 0 ? left : short };
}

/** The boxes inside one; what does not fit is cut off. */
function* boxesOf(body: Uint8Array | undefined): Generator<Box> {
  if (body === undefined) return;
  for (let at = 0; at + 8 <= body.length; ) {
    const { type, headBytes, bytes } = boxHead(body.subarray(at, at + BOX_HEAD_BYTES), body.length - at);
    if (bytes < headBytes) return;
    yield { type, body: body.subarray(at + headBytes, at + bytes) };
    at += bytes;
  }
}

/** The first box of a type, of each in turn. */
function inside(body: Uint8Array | undefined, ...types: string[]): Uint8Array | undefined {
  let found = body;
  for (const type of types) {
    let next: Uint8Array | undefined;
    for (const box of boxesOf(found)) {
      if (box.type !== type) continue;
      next = box.body;
      break;
    }
    found = next;
  }
  return found;
}

/** A number of a box; 0 where the box is cut off. */
const wordAt = (body: Uint8Array | undefined, at: number): number =>
  body === undefined || body.length < at + 4 ? 0 : viewOf(body).getUint32(at);
