// The parts of a WebM or Matroska file one after the other, and the frames inside a block. Behind what is damaged, the next cluster
// is looked for, as decoders do. RFC 9559.
import { ELEMENT_HEAD_BYTES, elementOf, lengthOfNumber, variableOf } from './ebml.ts';
import type { Scan } from './scan.ts';

/** Identifiers, as they stand in the file. */
const SEGMENT = 0x1853_8067;
const INFO = 0x1549_a966;
export const TRACKS = 0x1654_ae6b;
export const TRACK_ENTRY = 0xae;
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
export type HearElement = (id: number, at: number, bytes: number) => Scan<boolean>;

/** `cut off`: a part says that it is longer than the rest of the file. `ended`: by false. */
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

/** Where the next part begins that a decoder can go on with. */
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
