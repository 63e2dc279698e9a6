// FLAC: its frames carry a checksum and are found wherever they stand, so the stream's own description is not trusted. RFC 9639,
// section 9.1.
import { everyByte, type MeasuredAudio, type Scan, viewOf } from '../scan.ts';
import { joined } from './mpeg.ts';

const FLAC_HEAD_BYTES = 42;
const FLAC_INFO_BYTES = 34;
/** Of the largest block, in the head. */
const FLAC_BLOCK_AT = 10;

/** The stream says how many samples it has, unless it was written live; its frames are counted. The larger of the two counts. */
export function* flacAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const head: Uint8Array = yield { at: from, length: FLAC_HEAD_BYTES };
  const info = flacInfo(head.subarray(8));
  const isInfo = head.length === FLAC_HEAD_BYTES && (head[4]! & 0x7f) === 0 && head[7] === FLAC_INFO_BYTES;
  if (!isInfo || info === undefined) return undefined;
  const frames = new FlacFrames(info);
  yield* everyByte({ from: from + FLAC_HEAD_BYTES, to: size }, (bytes) => frames.push(bytes));
  frames.end();
  const secondsMax = Math.max(frames.seconds, info.samples / info.hertz);
  if (secondsMax === 0) return undefined;
  const { seconds: secondsMin, channels } = frames;
  // A header that knows of more than one frame more: the file was cut off.
  const isDamaged = secondsMin > 0 && secondsMax > secondsMin + viewOf(head).getUint16(FLAC_BLOCK_AT) / info.hertz;
  return { seconds: secondsMin || secondsMax, secondsMax, secondsMin, channels, isDamaged };
}

/** With a number of seven bytes, a block size and a rate of two, and the checksum. */
export const FLAC_HEAD_BYTES_MAX = 16;
const HERTZ = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const INFO_BYTES = 18;

/** What a stream's description says that frames go by. */
interface FlacInfo {
  hertz: number;
  channels: number;
  /** 0 where the writer did not know. */
  samples: number;
}

/** The block of that name, without the head of a block; undefined where it is cut off or says no rate. */
export function flacInfo(bytes: Uint8Array): FlacInfo | undefined {
  if (bytes.length < INFO_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // 20 bits of rate, 3 of channels, 5 of bits a sample, 36 of samples.
  const first = view.getUint32(10);
  const hertz = first >>> 12;
  const samples = (first & 15) * 2 ** 32 + view.getUint32(14);
  return hertz === 0 ? undefined : { hertz, channels: ((first >>> 9) & 7) + 1, samples };
}

/** Counts the frames in a stream of bytes. */
export class FlacFrames {
  readonly #hertz: number;
  #carried: Uint8Array = new Uint8Array(0);
  seconds = 0;
  channels: number;

  constructor(info: Pick<FlacInfo, 'hertz' | 'channels'>) {
    this.#hertz = info.hertz;
    this.channels = info.channels;
  }

  push(chunk: Uint8Array): void {
    const bytes = joined(this.#carried, chunk);
    this.#count(bytes, bytes.length - FLAC_HEAD_BYTES_MAX);
    this.#carried = bytes.slice(Math.max(0, bytes.length - FLAC_HEAD_BYTES_MAX));
  }

  end(): void {
    this.#count(this.#carried, this.#carried.length);
    this.#carried = new Uint8Array(0);
  }

  #count(bytes: Uint8Array, end: number): void {
    for (let at = bytes.indexOf(0xff); at !== -1 && at < end; at = bytes.indexOf(0xff, at + 1)) {
      const frame = flacFrameAt(bytes, at);
      if (frame === undefined) continue;
      // Decoders go by the frame, and players by the stream: whichever is slower.
      this.seconds += frame.samples / Math.min(frame.hertz || this.#hertz, this.#hertz);
      this.channels = Math.max(this.channels, frame.channels);
    }
  }
}

/** By the head of a frame at a position; undefined where there is none. */
export function flacFrameAt(
  bytes: Uint8Array,
  at: number,
): { samples: number; hertz: number; channels: number } | undefined {
  if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xfe) !== 0xf8) return undefined;
  const third = bytes[at + 2]!;
  const [size, rate, layout] = [third >> 4, third & 15, bytes[at + 3]! >> 4];
  const numberBytes = Math.max(1, Math.clz32(~((bytes[at + 4]! << 24) | 0xff_ffff)));
  if (size === 0 || rate === 15 || layout > 10 || numberBytes > 7) return undefined;
  const sizeAt = at + 4 + numberBytes;
  const sizeBytes = size === 6 ? 1 : size === 7 ? 2 : 0;
  const rateAt = sizeAt + sizeBytes;
  const sumAt = rateAt + (rate === 12 ? 1 : rate > 12 ? 2 : 0);
  if (sumAt >= bytes.length || checksum(bytes, at, sumAt) !== bytes[sumAt]) return undefined;
  const channels = layout < 8 ? layout + 1 : 2;
  return { samples: samplesOf(size, bytes, sizeAt), hertz: hertzOf(rate, bytes, rateAt), channels };
}

function samplesOf(size: number, bytes: Uint8Array, at: number): number {
  if (size === 1) return 192;
  if (size < 6) return 576 << (size - 2);
  if (size === 6) return bytes[at]! + 1;
  return size === 7 ? bytes[at]! * 256 + bytes[at + 1]! + 1 : 256 << (size - 8);
}

function hertzOf(rate: number, bytes: Uint8Array, at: number): number {
  if (rate < 12) return HERTZ[rate]!;
  if (rate === 12) return bytes[at]! * 1_000;
  return (bytes[at]! * 256 + bytes[at + 1]!) * (rate === 14 ? 10 : 1);
}

/** CRC-8 with the polynomial x⁸ + x² + x + 1. */
function checksum(bytes: Uint8Array, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at++) {
    sum ^= bytes[at]!;
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x80) === 0 ? sum << 1 : ((sum << 1) ^ 0x07) & 0xff;
  }
  return sum & 0xff;
}
