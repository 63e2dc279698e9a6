// How much audio an Ogg file holds, packet by packet: all streams of it, one after the other or beside each other. Pages are
// found wherever they stand, because decoders look for the next one behind a damaged one. RFC 3533, 7845 and 5334.
import type { MeasuredAudio } from './measured.ts';
import { type OggCodec, oggCodec, UnknownInOgg } from './ogg-codecs.ts';
import { type Scan, viewOf } from './scan.ts';

const PAGE_HEAD_BYTES = 27;
const PAGE_BYTES_MAX = 65_307;
const CONTINUED = 1;
const BEGINS = 2;
const NOTHING = new Uint8Array(0);
/** Streams beside each other that are counted one by one; what is in more of them is taken for the thinnest audio. */
const STREAMS_MAX = 256;

/** Undefined where there is no stream. */
export function* oggAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const streams = new Streams();
  for (let at = from; at + 4 <= size; ) {
    const bytes: Uint8Array = yield { at, length: PAGE_BYTES_MAX };
    const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf('OggS');
    if (page !== 0) {
      at += page === -1 ? Math.max(1, bytes.length - 3) : page;
      continue;
    }
    streams.page(bytes);
    at += 4;
  }
  return streams.measured;
}

class Streams {
  readonly #open = new Map<number, Stream>();
  readonly #oneTooMany = new Stream(new UnknownInOgg());
  #seconds = 0;
  /** Of pages that are longer than the rest of the file: decoders drop what has no valid checksum. */
  #cutOffSeconds = 0;
  #channels = 1;
  #isDamaged = false;

  get measured(): MeasuredAudio | undefined {
    for (const serial of this.#open.keys()) this.#close(serial);
    const secondsMax = this.#seconds + this.#oneTooMany.seconds;
    const [seconds, channels] = [secondsMax - this.#cutOffSeconds || secondsMax, this.#channels];
    return secondsMax > 0 ? { seconds, secondsMax, channels, isDamaged: this.#isDamaged } : undefined;
  }

  /** @param bytes a page, and what follows it */
  page(bytes: Uint8Array): void {
    const segments = bytes[26] ?? 0;
    const bodyAt = PAGE_HEAD_BYTES + segments;
    if (bytes.length < PAGE_HEAD_BYTES || bodyAt > bytes.length) {
      this.#isDamaged = true;
      return;
    }
    if (bytes[4] !== 0) return;
    const isWhole = pageBytes(bytes) <= bytes.length;
    this.#isDamaged ||= !isWhole;
    const flags = bytes[5]!;
    const serial = viewOf(bytes).getUint32(14, true);
    if ((flags & BEGINS) !== 0) this.#close(serial);
    let stream = this.#open.get(serial);
    if (stream === undefined && this.#open.size < STREAMS_MAX) {
      stream = new Stream();
      this.#open.set(serial, stream);
    }
    stream ??= this.#oneTooMany;
    const before = isWhole ? 0 : stream.seconds;
    stream.page(bytes, (flags & CONTINUED) !== 0);
    if (!isWhole) this.#cutOffSeconds += stream.seconds - before;
  }

  #close(serial: number): void {
    const stream = this.#open.get(serial);
    if (stream === undefined) return;
    this.#open.delete(serial);
    this.#seconds += stream.seconds;
    this.#channels = Math.max(this.#channels, stream.channels);
  }
}

/** Of a page whose head is here. */
const pageBytes = (page: Uint8Array): number =>
  page
    .subarray(PAGE_HEAD_BYTES, PAGE_HEAD_BYTES + page[26]!)
    .reduce((sum, byte) => sum + byte, PAGE_HEAD_BYTES + page[26]!);

/** One logical stream: cuts packets out of pages. */
class Stream {
  #codec: OggCodec | undefined;
  #packets = 0;
  #isOpen = false;

  constructor(codec?: OggCodec) {
    this.#codec = codec;
  }

  get seconds(): number {
    return this.#codec?.seconds ?? 0;
  }

  get channels(): number {
    return this.#codec?.channels ?? 1;
  }

  page(bytes: Uint8Array, isContinued: boolean): void {
    const segments = bytes[26]!;
    let at = PAGE_HEAD_BYTES + segments;
    let isMore = isContinued && this.#isOpen;
    for (let segment = 0; segment < segments; ) {
      let length = 0;
      let last = 255;
      while (last === 255 && segment < segments) {
        last = bytes[PAGE_HEAD_BYTES + segment++]!;
        length += last;
      }
      this.#take(length === 0 ? NOTHING : bytes.subarray(at, at + length), isMore);
      this.#isOpen = last === 255;
      at += length;
      isMore = false;
    }
  }

  #take(part: Uint8Array, isMore: boolean): void {
    if (isMore) {
      this.#codec?.more(part);
      return;
    }
    this.#codec ??= oggCodec(part);
    this.#codec.packet(part, this.#packets++);
  }
}
