// WebM and Matroska: elements, tracks and blocks, and how much sound a file holds. RFC 8794 and 9559.

import { AccessUnits } from '../codecs/aac/access-units.ts';
import { aacConfig } from '../codecs/aac/config.ts';
import { type OpusHead, opusHead, opusSeconds } from '../codecs/opus.ts';
import { VorbisStream } from '../codecs/vorbis.ts';
import { type MeasuredAudio, type Scan, statedOnly, viewOf } from '../scan.ts';
import { FlacFrames, flacInfo } from './flac.ts';
import { MpegFrames } from './mpeg.ts';

const TIMESTAMP_SCALE = 0x2a_d7b1;
const CLUSTER_TIMESTAMP = 0xe7;

const NANOSECONDS = 1e9;
const SCALE_DEFAULT = 1_000_000;

/**
 * How much sound a file holds: the frames in its blocks are counted, and their times are what the file says of itself; the larger of
 * the two counts. Undefined where there is no block of sound, or it cannot be measured.
 */
export function* webmAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const blocks = new Blocks();
  const end = yield* everyElement(from, size, (id, at, bytes) => blocks.hear(id, at, bytes));
  const { measured } = blocks;
  if (end === 'ended' || measured === undefined || measured.isStated) return end === 'ended' ? undefined : measured;
  return { ...measured, isDamaged: end === 'cut off' || measured.isDamaged === true };
}

class Blocks {
  /** By number; a number may be described twice. */
  readonly #tracks = new Map<number, { counts: WebmTrack[]; firstTime: number; lastTime: number }>();
  readonly #silent = new Set<number>();
  /** Of sound in an unknown coding: only the times of their blocks are looked at. */
  readonly #unread = new Set<number>();
  #scale = SCALE_DEFAULT;
  #cluster = 0;
  #isUnknown = false;

  get measured(): MeasuredAudio | undefined {
    let [seconds, secondsMax, channels, isDamaged] = [0, 0, 1, false];
    for (const { counts, firstTime, lastTime } of this.#tracks.values()) {
      const stated = Math.max(0, ((lastTime - firstTime) * this.#scale) / NANOSECONDS);
      secondsMax = Math.max(secondsMax, stated);
      for (const count of counts) {
        const counted = count.seconds();
        seconds = Math.max(seconds, counted);
        secondsMax = Math.max(secondsMax, counted, count.secondsMax?.() ?? 0);
        channels = Math.max(channels, count.channels);
        isDamaged ||= count.isDamaged?.() === true;
      }
    }
    if (this.#unread.size > 0) return statedOnly(secondsMax);
    const hasVideo = this.#silent.size > 0;
    return seconds > 0 && Number.isFinite(secondsMax)
      ? { seconds, secondsMax, channels, isDamaged, hasVideo }
      : undefined;
  }

  /** False where it cannot be measured. */
  *hear(id: number, at: number, bytes: number): Scan<boolean> {
    if (id === TIMESTAMP_SCALE) this.#scale = numberOf(yield { at, length: Math.min(bytes, 8) }) || SCALE_DEFAULT;
    else if (id === CLUSTER_TIMESTAMP) this.#cluster = numberOf(yield { at, length: Math.min(bytes, 8) });
    else if (id === TRACKS) {
      if (bytes > READ_BYTES_MAX) this.#isUnknown = true;
      else this.#describe(yield { at, length: bytes });
    } else if (isBlock(id)) {
      const number = trackOf(yield { at, length: Math.min(bytes, BLOCK_HEAD_BYTES) });
      if (this.#silent.has(number)) return true;
      // Of a track that is not described yet, or with more bytes than sound has.
      if (!this.#tracks.has(number) || bytes > READ_BYTES_MAX) this.#isUnknown = true;
      else
        this.#block(number, yield { at, length: this.#unread.has(number) ? Math.min(bytes, BLOCK_HEAD_BYTES) : bytes });
    }
    return !this.#isUnknown;
  }

  #describe(tracks: Uint8Array): void {
    for (const { id, body } of elementsOf(tracks)) {
      if (id !== TRACK_ENTRY) continue;
      const track = webmTrack(body);
      const { number } = track;
      if ('unknown' in track && !track.unknown) {
        this.#silent.add(number);
        continue;
      }
      const counts = 'unknown' in track ? [] : [track];
      if ('unknown' in track) this.#unread.add(number);
      const known = this.#tracks.get(number);
      if (known !== undefined) known.counts.push(...counts);
      else this.#tracks.set(number, { counts, firstTime: Number.POSITIVE_INFINITY, lastTime: 0 });
    }
  }

  #block(number: number, block: Uint8Array): void {
    const track = this.#tracks.get(number)!;
    const read = readBlock(block);
    if (read === undefined) return;
    const time = this.#cluster + read.time;
    track.firstTime = Math.min(track.firstTime, time);
    track.lastTime = Math.max(track.lastTime, time);
    for (const frame of read.frames) for (const count of track.counts) count.frame(frame);
  }
}

const NUMBER = 0xd7;
const TYPE = 0x83;
const CODEC = 0x86;
const PRIVATE = 0x63a2;
const ENCODINGS = 0x6d80;
const AUDIO = 0xe1;
const RATE = 0xb5;
const CHANNELS = 0x9f;
const BITS = 0x6264;
const TYPE_AUDIO = 2;
const RATE_DEFAULT = 8_000;
const AC3_SAMPLES = 1536;

/** Counts the frames of a track. */
interface FrameCount {
  frame(bytes: Uint8Array): void;
  seconds(): number;
  /** Where that may be more. */
  secondsMax?(): number;
  isDamaged?(): boolean;
}

/** A track of sound. */
interface WebmTrack extends FrameCount {
  number: number;
  channels: number;
}

interface Description {
  codec: string;
  setup: Uint8Array;
  hertz: number;
  channels: number;
  bits: number;
}

/** What an entry of the tracks says. */
interface TrackEntry {
  number: number;
  isSound: boolean;
  /** What of a frame is left out is not here to be looked at. */
  isEncoded: boolean;
  said: Description;
}

function trackEntry(entry: Uint8Array): TrackEntry {
  let [number, type, isEncoded] = [0, 0, false];
  const said: Description = { codec: '', setup: new Uint8Array(0), hertz: RATE_DEFAULT, channels: 1, bits: 16 };
  for (const { id, body } of elementsOf(entry)) {
    if (id === NUMBER) number = numberOf(body);
    else if (id === TYPE) type = numberOf(body);
    else if (id === CODEC) said.codec = String.fromCharCode(...body.subarray(0, 64)).replace(/\0.*$/, '');
    else if (id === PRIVATE) said.setup = body.slice();
    else if (id === ENCODINGS) isEncoded = true;
    else if (id === AUDIO) describeAudio(body, said);
  }
  return { number, isSound: type === TYPE_AUDIO || said.codec.startsWith('A_'), isEncoded, said };
}

/** The first track of sound, where it is Opus; otherwise the codec that it has. Undefined where there is no sound. */
export function opusTrackIn(tracks: Uint8Array): { number: number; head: OpusHead } | { codec: string } | undefined {
  for (const { id, body } of elementsOf(tracks)) {
    if (id !== TRACK_ENTRY) continue;
    const { number, isSound, isEncoded, said } = trackEntry(body);
    if (!isSound) continue;
    if (said.codec !== 'A_OPUS' || isEncoded) return { codec: said.codec };
    return { number, head: opusHead(said.setup) ?? { channels: said.channels, preSkip: 0 } };
  }
  return undefined;
}

/** `unknown` is false where the track is no sound, true when it cannot be read. */
function webmTrack(entry: Uint8Array): WebmTrack | { number: number; unknown: boolean } {
  const { number, isSound, isEncoded, said } = trackEntry(entry);
  if (!isSound) return { number, unknown: false };
  const count = isEncoded ? undefined : countOf(said);
  return count === undefined ? { number, unknown: true } : { ...count, number, channels: said.channels };
}

function describeAudio(audio: Uint8Array, said: Description): void {
  for (const { id, body } of elementsOf(audio)) {
    if (id === RATE && body.length === 4) said.hertz = viewOf(body).getFloat32(0);
    else if (id === RATE && body.length === 8) said.hertz = viewOf(body).getFloat64(0);
    else if (id === CHANNELS) said.channels = numberOf(body) || 1;
    else if (id === BITS) said.bits = numberOf(body);
  }
}

function countOf(said: Description): FrameCount | undefined {
  const { codec, setup, hertz, channels, bits } = said;
  if (codec === 'A_OPUS') return summed((frame) => opusSeconds(frame));
  if (codec === 'A_VORBIS') return vorbis(setup);
  if (codec.startsWith('A_MPEG/L')) return mpeg();
  if (codec === 'A_FLAC') return flac(setup);
  if (!(hertz > 0)) return undefined;
  if (codec.startsWith('A_AAC')) {
    const config = aacConfig(setup, channels, hertz);
    return config && accessUnits(new AccessUnits(config));
  }
  if (codec.startsWith('A_AC3') || codec.startsWith('A_EAC3')) return summed(() => AC3_SAMPLES / hertz);
  const frameBytes = channels * Math.ceil(bits / 8);
  if (codec.startsWith('A_PCM/') && frameBytes > 0) return summed((frame) => frame.length / frameBytes / hertz);
  return undefined;
}

function summed(secondsOf: (frame: Uint8Array) => number): FrameCount {
  let sum = 0;
  const frame = (bytes: Uint8Array) => {
    sum += secondsOf(bytes);
  };
  return { frame, seconds: () => sum };
}

const accessUnits = (units: AccessUnits): FrameCount => ({
  frame: (bytes) => (units.isChecked(bytes.length) ? units.unit(bytes) : units.uncheckedUnit(bytes.length)),
  seconds: () => units.seconds,
  secondsMax: () => units.secondsMax,
  isDamaged: () => units.isDamaged,
});

/** Its three headers stand one behind the other, with the lengths of two in front. */
function vorbis(setup: Uint8Array): FrameCount | undefined {
  let at = 1;
  const length = () => {
    let bytes = 0;
    while (setup[at] === 255) bytes += setup[at++]!;
    return bytes + (setup[at++] ?? 0);
  };
  const [first, second] = [length(), length()];
  const stream = VorbisStream.of(setup.subarray(at, at + first));
  if (setup[0] !== 2 || stream === undefined) return undefined;
  stream.setUp(setup.subarray(at + first + second));
  return { frame: (bytes) => bytes.length > 0 && stream.packet(bytes[0]!), seconds: () => stream.seconds };
}

function mpeg(): FrameCount {
  const frames = new MpegFrames();
  return {
    frame: (bytes) => frames.push(bytes),
    seconds: () => frames.end().seconds,
    secondsMax: () => frames.end().secondsMax,
  };
}

function flac(setup: Uint8Array): FrameCount | undefined {
  // The mark of the stream and the head of the block go in front.
  const info = flacInfo(setup.subarray(8));
  if (info === undefined) return undefined;
  const frames = new FlacFrames(info);
  const seconds = () => {
    frames.end();
    return frames.seconds;
  };
  return { frame: (bytes) => frames.push(bytes), seconds };
}

/** Identifiers, as they stand in the file. */
const SEGMENT = 0x1853_8067;
const INFO = 0x1549_a966;
export const TRACKS = 0x1654_ae6b;
const TRACK_ENTRY = 0xae;
const CLUSTER = 0x1f43_b675;
const BLOCK_GROUP = 0xa0;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
/** What blocks lie in. */
export const CONTAINERS = [SEGMENT, CLUSTER, BLOCK_GROUP];
/** They are looked into; everything else is passed over. */
const OPENED = [...CONTAINERS, INFO];
const MARKS = [CLUSTER, TRACKS].map((id) => Buffer.from(id.toString(16), 'hex'));

const SEARCHED_BYTES = 64 * 1024;
/** Of sound, or of what describes it. */
export const READ_BYTES_MAX = 4 * 1024 * 1024;
/** Number of the track and time of a block. */
export const BLOCK_HEAD_BYTES = 12;

/** Hears of a part by its identifier, where its body begins and how long it is; ends the scan with false. */
type HearElement = (id: number, at: number, bytes: number) => Scan<boolean>;

/** After damage, the next cluster is looked for, as decoders do. `cut off`: a part says that it is longer than the rest of the file. `ended`: by false. */
export function* everyElement(from: number, size: number, hear: HearElement): Scan<'whole' | 'cut off' | 'ended'> {
  /** Where what is open ends: from the outside to the inside. */
  let ends: number[] = [];
  let furthest = 0;
  for (let at = from; at < size; ) {
    while (at >= (ends.at(-1) ?? size)) ends.pop();
    const element = elementOf(yield { at, length: ELEMENT_HEAD_BYTES });
    const bodyAt = at + (element?.headBytes ?? 0);
    const end = bodyAt + (element?.bytes ?? 0);
    const isOpened = element !== undefined && OPENED.includes(element.id);
    const isSound = element !== undefined && (isOpened || element.bytes !== undefined);
    if (!isSound || end > (ends.at(-1) ?? Number.POSITIVE_INFINITY)) {
      at = yield* nextMark(at + 1, size);
      ends = [];
      continue;
    }
    furthest = Math.max(furthest, end);
    if (isOpened) {
      ends.push(element.bytes === undefined ? Number.POSITIVE_INFINITY : end);
      at = bodyAt;
      continue;
    }
    if (!(yield* hear(element.id, bodyAt, Math.min(end, size) - bodyAt))) return 'ended';
    at = end;
  }
  return furthest > size ? 'cut off' : 'whole';
}

/** Where the next part begins that a decoder can continue with. */
function* nextMark(from: number, size: number): Scan<number> {
  for (let at = from; at < size; at += SEARCHED_BYTES - 3) {
    const bytes: Uint8Array = yield { at, length: SEARCHED_BYTES };
    const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const places = MARKS.map((mark) => found.indexOf(mark)).filter((place) => place >= 0);
    if (places.length > 0) return at + Math.min(...places);
  }
  return size;
}

export const isBlock = (id: number): boolean => id === SIMPLE_BLOCK || id === BLOCK;

/** The track of a block, by its first bytes. */
export const trackOf = (head: Uint8Array): number => variableOf(head.subarray(0, lengthOfNumber(head[0] ?? 0)));

/** A block's time after its cluster's, and its frames; undefined where it is cut off. */
export function readBlock(block: Uint8Array): { time: number; frames: Generator<Uint8Array> } | undefined {
  const timeAt = lengthOfNumber(block[0] ?? 0);
  if (timeAt + 3 > block.length) return undefined;
  const time = new DataView(block.buffer, block.byteOffset).getInt16(timeAt);
  return { time, frames: framesOf(block.subarray(timeAt + 3), (block[timeAt + 2]! >> 1) & 3) };
}

const XIPH = 1;
const FIXED = 2;

/** The frames of a block, by how their sizes are told. */
function* framesOf(body: Uint8Array, lacing: number): Generator<Uint8Array> {
  if (lacing === 0) {
    yield body;
    return;
  }
  const frames = (body[0] ?? 0) + 1;
  let at = 1;
  const sizes: number[] = [];
  if (lacing === FIXED) sizes.push(...Array<number>(frames - 1).fill(Math.floor((body.length - 1) / frames)));
  while (sizes.length < frames - 1 && at < body.length) {
    let size = 0;
    if (lacing === XIPH) {
      while (body[at] === 255) size += body[at++]!;
      size += body[at++] ?? 0;
    } else {
      const bytes = lengthOfNumber(body[at]!);
      const value = variableOf(body.subarray(at, at + bytes));
      // The first is a size, the others are differences, with as many above zero as below.
      size = sizes.length === 0 ? value : sizes.at(-1)! + value - (2 ** (7 * bytes - 1) - 1);
      at += bytes;
    }
    sizes.push(Math.max(0, size));
  }
  for (const size of sizes) {
    yield body.subarray(at, at + size);
    at += size;
  }
  yield body.subarray(at);
}

/** An identifier of four bytes and a size of eight. */
export const ELEMENT_HEAD_BYTES = 12;

interface Element {
  id: number;
  headBytes: number;
  /** Undefined where the writer did not know it yet. */
  bytes: number | undefined;
}

/** The head of an element; undefined where there is none. */
export function elementOf(head: Uint8Array): Element | undefined {
  const idBytes = lengthOfNumber(head[0] ?? 0);
  const first = head[idBytes];
  if (idBytes > 4 || first === undefined) return undefined;
  const sizeBytes = lengthOfNumber(first);
  const headBytes = idBytes + sizeBytes;
  if (sizeBytes > 8 || headBytes > head.length) return undefined;
  // No array is made on the way: a file may have millions of elements.
  let id = 0;
  for (let at = 0; at < idBytes; at++) id = id * 256 + head[at]!;
  const most = 0xff >> sizeBytes;
  let bytes = first & most;
  // All ones: not known yet.
  let isOpen = bytes === most;
  for (let at = idBytes + 1; at < headBytes; at++) {
    bytes = bytes * 256 + head[at]!;
    isOpen &&= head[at] === 0xff;
  }
  if (isOpen) return { id, headBytes, bytes: undefined };
  return Number.isSafeInteger(bytes) ? { id, headBytes, bytes } : undefined;
}

/** The elements inside one; what does not fit is cut off. */
function* elementsOf(body: Uint8Array): Generator<{ id: number; body: Uint8Array }> {
  for (let at = 0; at < body.length; ) {
    const element = elementOf(body.subarray(at, at + ELEMENT_HEAD_BYTES));
    if (element?.bytes === undefined) return;
    const bodyAt = at + element.headBytes;
    yield { id: element.id, body: body.subarray(bodyAt, bodyAt + element.bytes) };
    at = bodyAt + element.bytes;
  }
}

/** Of a number that says so itself, by the zeros in front; 9 of one that cannot be. */
const lengthOfNumber = (first: number): number => Math.clz32(first) - 23;

/** A number without what says its length. */
const variableOf = (bytes: Uint8Array): number =>
  numberOf(Uint8Array.of((bytes[0] ?? 0) & (0xff >> bytes.length), ...bytes.subarray(1)));

const numberOf = (bytes: Uint8Array): number => bytes.reduce((number, byte) => number * 256 + byte, 0);
