// How long a WebM or Matroska file is that does not say so, as browsers record it: by the time of its last block. Clusters of
// known size are passed over, all but the last. RFC 8794 (EBML), RFC 9559 (Matroska); a length that is told is left to others.
import type { LengthScan, Piece } from './length-scan.ts';

/** Identifiers, as they stand in the file. */
const SEGMENT = 0x1853_8067;
const INFO = 0x1549_a966;
const TIMESTAMP_SCALE = 0x2a_d7b1;
const CLUSTER = 0x1f43_b675;
const CLUSTER_TIMESTAMP = 0xe7;
const BLOCK_GROUP = 0xa0;
/** With a head of its own, and in a group. */
const BLOCKS = [0xa3, 0xa1];
/** They are looked into; everything else is passed over. */
const OPENED = [SEGMENT, INFO, CLUSTER, BLOCK_GROUP];

const NANOSECONDS = 1e9;
const SCALE_DEFAULT = 1_000_000;
/** An identifier of four bytes and a size of eight. */
const HEAD_BYTES = 12;
/** Number of the track and time of a block. */
const BLOCK_HEAD_BYTES = 10;
/** What comes later than this behind the block before it is a pause, and not how long a block is. */
const BLOCK_SECONDS_MAX = 0.12;

type Reading<T> = Generator<Piece, T, Uint8Array>;

/** Seconds; undefined where there is no block. */
export function* webmSeconds(size: number): LengthScan {
  const times = new BlockTimes();
  const last = yield* walk(0, size, times, true);
  if (last !== undefined) yield* walk(last, size, times, false);
  return times.seconds;
}

/** Hears everything from a position on; says where the last cluster is that was passed over. */
function* walk(from: number, size: number, times: BlockTimes, passesClusters: boolean): Reading<number | undefined> {
  let passed: number | undefined;
  for (let at = from; at < size; ) {
    const element = elementOf(yield { at, length: HEAD_BYTES });
    if (element === undefined) break;
    const { id, bytes } = element;
    const bodyAt = at + element.headBytes;
    if (passesClusters && id === CLUSTER && bytes !== undefined) {
      passed = at;
      at = bodyAt + bytes;
      continue;
    }
    yield* times.hear(id, bodyAt, bytes ?? 0);
    if (OPENED.includes(id)) at = bodyAt;
    else if (bytes === undefined) break;
    else at = bodyAt + bytes;
  }
  return passed;
}

class BlockTimes {
  #scale = SCALE_DEFAULT;
  #cluster = 0;
  /** In units of the scale; blocks may come in another order than they are heard. */
  #latest: number | undefined;
  #gap = 0;

  get seconds(): number | undefined {
    if (this.#latest === undefined) return undefined;
    const gap = (this.#gap * this.#scale) / NANOSECONDS;
    return (this.#latest * this.#scale) / NANOSECONDS + (gap <= BLOCK_SECONDS_MAX ? gap : 0);
  }

  *hear(id: number, at: number, bytes: number): Reading<void> {
    if (id === TIMESTAMP_SCALE) this.#scale = numberOf(yield { at, length: Math.min(bytes, 8) }) || SCALE_DEFAULT;
    else if (id === CLUSTER_TIMESTAMP) this.#cluster = numberOf(yield { at, length: Math.min(bytes, 8) });
    else if (BLOCKS.includes(id)) this.#hearBlock(yield { at, length: BLOCK_HEAD_BYTES });
  }

  #hearBlock(head: Uint8Array): void {
    const timeAt = lengthOfNumber(head[0] ?? 0);
    if (timeAt + 2 > head.length) return;
    const time = this.#cluster + new DataView(head.buffer, head.byteOffset).getInt16(timeAt);
    if (this.#latest !== undefined && time <= this.#latest) return;
    this.#gap = time - (this.#latest ?? time);
    this.#latest = time;
  }
}

/** The head of an element; undefined where there is none. */
function elementOf(head: Uint8Array): { id: number; headBytes: number; bytes: number | undefined } | undefined {
  const idBytes = lengthOfNumber(head[0] ?? 0);
  const first = head[idBytes];
  if (idBytes > 4 || first === undefined) return undefined;
  const sizeBytes = lengthOfNumber(first);
  const headBytes = idBytes + sizeBytes;
  if (sizeBytes > 8 || headBytes > head.length) return undefined;
  const size = head.subarray(idBytes, headBytes);
  const id = numberOf(head.subarray(0, idBytes));
  // All ones: not known yet.
  const isOpen = size.every((byte, index) => byte === (index === 0 ? 0xff >> (sizeBytes - 1) : 0xff));
  if (isOpen) return { id, headBytes, bytes: undefined };
  const bytes = numberOf(Uint8Array.of(first & (0xff >> sizeBytes), ...size.subarray(1)));
  return Number.isSafeInteger(bytes) ? { id, headBytes, bytes } : undefined;
}

/** Of a number that says so itself, by the zeros in front; 9 of one that cannot be. */
const lengthOfNumber = (first: number): number => Math.clz32(first) - 23;

const numberOf = (bytes: Uint8Array): number => bytes.reduce((number, byte) => number * 256 + byte, 0);
