// How much sound a WebM or Matroska file holds: the frames in its blocks are counted, and their times are what the file says of
// itself; the larger of the two counts. Behind what is damaged, the next cluster is looked for, as decoders do. RFC 9559.
import { ELEMENT_HEAD_BYTES, elementOf, elementsOf, lengthOfNumber, numberOf, variableOf } from './ebml.ts';
import type { MeasuredAudio } from './measured.ts';
import type { Scan } from './scan.ts';
import { type WebmTrack, webmTrack } from './webm-codec.ts';

/** Identifiers, as they stand in the file. */
const SEGMENT = 0x1853_8067;
const INFO = 0x1549_a966;
const TIMESTAMP_SCALE = 0x2a_d7b1;
const TRACKS = 0x1654_ae6b;
const TRACK_ENTRY = 0xae;
const CLUSTER = 0x1f43_b675;
const CLUSTER_TIMESTAMP = 0xe7;
const BLOCK_GROUP = 0xa0;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
/** They are looked into; everything else is passed over. */
const OPENED = [SEGMENT, INFO, CLUSTER, BLOCK_GROUP];
const MARKS = [CLUSTER, TRACKS].map((id) => Buffer.from(id.toString(16), 'hex'));

const NANOSECONDS = 1e9;
const SCALE_DEFAULT = 1_000_000;
/** Of sound, or of what describes it. */
const READ_BYTES_MAX = 4 * 1024 * 1024;
const SEARCHED_BYTES = 64 * 1024;
/** Number of the track and time of a block. */
const BLOCK_HEAD_BYTES = 12;

/** Undefined where there is no block of sound, or it cannot be measured. */
export function* webmAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const blocks = new Blocks();
  /** Where what is open ends: from the outside to the inside. */
  let ends: number[] = [];
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
    if (isOpened) {
      ends.push(element.bytes === undefined ? Number.POSITIVE_INFINITY : end);
      at = bodyAt;
      continue;
    }
    yield* blocks.hear(element.id, bodyAt, Math.min(end, size) - bodyAt);
    if (blocks.isUnknown) return undefined;
    at = end;
  }
  return blocks.measured;
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

class Blocks {
  /** By number; a number may be described twice. */
  readonly #tracks = new Map<number, { counts: WebmTrack[]; firstTime: number; lastTime: number }>();
  readonly #silent = new Set<number>();
  #scale = SCALE_DEFAULT;
  #cluster = 0;
  isUnknown = false;

  get measured(): MeasuredAudio | undefined {
    let secondsMax = 0;
    let channels = 1;
    for (const { counts, firstTime, lastTime } of this.#tracks.values()) {
      const stated = Math.max(0, ((lastTime - firstTime) * this.#scale) / NANOSECONDS);
      secondsMax = Math.max(secondsMax, stated, ...counts.map((count) => count.seconds()));
      channels = Math.max(channels, ...counts.map((count) => count.channels));
    }
    return secondsMax > 0 && Number.isFinite(secondsMax) ? { secondsMax, channels } : undefined;
  }

  *hear(id: number, at: number, bytes: number): Scan<void> {
    if (id === TIMESTAMP_SCALE) this.#scale = numberOf(yield { at, length: Math.min(bytes, 8) }) || SCALE_DEFAULT;
    else if (id === CLUSTER_TIMESTAMP) this.#cluster = numberOf(yield { at, length: Math.min(bytes, 8) });
    else if (id === TRACKS) {
      if (bytes > READ_BYTES_MAX) this.isUnknown = true;
      else this.#describe(yield { at, length: bytes });
    } else if (id === SIMPLE_BLOCK || id === BLOCK) {
      const head = yield { at, length: Math.min(bytes, BLOCK_HEAD_BYTES) };
      const number = variableOf(head.subarray(0, lengthOfNumber(head[0] ?? 0)));
      if (this.#silent.has(number)) return;
      // Of a track that is not described yet, or with more bytes than sound has.
      if (!this.#tracks.has(number) || bytes > READ_BYTES_MAX) this.isUnknown = true;
      else this.#block(number, yield { at, length: bytes });
    }
  }

  #describe(tracks: Uint8Array): void {
    for (const { id, body } of elementsOf(tracks)) {
      if (id !== TRACK_ENTRY) continue;
      const track = webmTrack(body);
      const { number } = track;
      if ('unknown' in track) {
        if (track.unknown) this.isUnknown = true;
        else this.#silent.add(number);
        continue;
      }
      const known = this.#tracks.get(number);
      if (known !== undefined) known.counts.push(track);
      else this.#tracks.set(number, { counts: [track], firstTime: Number.POSITIVE_INFINITY, lastTime: 0 });
    }
  }

  #block(number: number, block: Uint8Array): void {
    const track = this.#tracks.get(number)!;
    const timeAt = lengthOfNumber(block[0]!);
    if (timeAt + 3 > block.length) return;
    const time = this.#cluster + new DataView(block.buffer, block.byteOffset).getInt16(timeAt);
    track.firstTime = Math.min(track.firstTime, time);
    track.lastTime = Math.max(track.lastTime, time);
    const frames = framesOf(block.subarray(timeAt + 3), (block[timeAt + 2]! >> 1) & 3);
    for (const frame of frames) for (const count of track.counts) count.frame(frame);
  }
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
