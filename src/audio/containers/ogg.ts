// Ogg: pages, and how much audio a file holds. RFC 3533, 7845 and 5334.

import { opusSeconds } from '../codecs/opus.ts';
import { VorbisStream } from '../codecs/vorbis.ts';
import { type MeasuredAudio, type Scan, secondsAtMost, textAt, viewOf } from '../scan.ts';
import { FlacFrames, flacInfo } from './flac.ts';
import { joined } from './mpeg.ts';

export const PAGE_HEAD_BYTES = 27;
const PAGE_BYTES_MAX = 65_307;
export const CONTINUED = 1;
export const BEGINS = 2;
const NOTHING = new Uint8Array(0);
/** Streams beside each other that are counted one by one; what is in more of them is taken for the thinnest audio. */
const STREAMS_MAX = 256;

/**
 * How much audio a file holds, packet by packet: all its streams, consecutive or multiplexed. Pages are found wherever they are, because
 * decoders look for the next one after a damaged one. Undefined where there is no stream.
 */
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

/** Of a page whose head is here, with the sizes of its segments. */
export const pageBytes = (page: Uint8Array): number =>
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

/**
 * How a stream's packets are counted, by the codec that its first packet names. RFC 7845 (Opus), Vorbis I appendix A, RFC 9639
 * section 10.1 (FLAC), the Speex manual section 7.
 */
interface OggCodec {
  readonly seconds: number;
  readonly channels: number;
  /** A packet has begun, with what of it is on its first page. The first of all is a header. */
  packet(part: Uint8Array, index: number): void;
  /** What follows of it on other pages. */
  more(part: Uint8Array): void;
}

/** Pictures, subtitles and indexes: their bytes are no sound. */
const SILENT = ['\x80theora', 'fishead', '\x80kate', 'OVP80', 'BBCD', 'CMML', 'index'];
/** Encoders write some thousand. */
const SETUP_BYTES_MAX = 256 * 1024;
const SETUP = 5;
const SPEEX_HEADER_BYTES = 68;
/** A frame of silence. */
const SPEEX_BITS_MIN = 5;
/** The wide band's frame has twice the samples, at twice the rate. */
const SPEEX_FRAME_SECONDS = 0.02;

/** By the first packet of a stream, or what of it is on the first page. */
function oggCodec(head: Uint8Array): OggCodec {
  const magic = textAt(head, 0, 8);
  if (magic === 'OpusHead') return new Opus(head[9] || 1);
  const vorbis = magic.startsWith('\x01vorbis') ? VorbisStream.of(head) : undefined;
  if (vorbis !== undefined) return new Vorbis(vorbis);
  const infoAt = magic.startsWith('\x7fFLAC') ? 17 : magic.startsWith('fLaC') ? 8 : undefined;
  const info = infoAt === undefined ? undefined : flacInfo(head.subarray(infoAt));
  if (info !== undefined) return new Flac(info);
  if (magic === 'Speex   ' && head.length >= SPEEX_HEADER_BYTES) return new Speex(head);
  return SILENT.some((each) => magic.startsWith(each)) ? new Silent() : new UnknownInOgg();
}

class Opus implements OggCodec {
  seconds = 0;
  readonly channels: number;

  constructor(channels: number) {
    this.channels = channels;
  }

  packet(part: Uint8Array): void {
    const isHeader = part[0] === 0x4f && ['OpusHead', 'OpusTags'].includes(textAt(part, 0, 8));
    if (!isHeader) this.seconds += opusSeconds(part);
  }

  more(): void {}
}

class Vorbis implements OggCodec {
  readonly #stream: VorbisStream;
  #setup: Uint8Array | undefined;

  constructor(stream: VorbisStream) {
    this.#stream = stream;
  }

  get seconds(): number {
    return this.#stream.seconds;
  }

  get channels(): number {
    return this.#stream.channels;
  }

  packet(part: Uint8Array, index: number): void {
    if (index === 2 && part[0] === SETUP) {
      this.#setup = part.slice();
      return;
    }
    if (index === 3) {
      this.#stream.setUp(this.#setup ?? new Uint8Array(0));
      this.#setup = undefined;
    }
    if (part.length > 0) this.#stream.packet(part[0]!);
  }

  more(part: Uint8Array): void {
    if (this.#setup === undefined || this.#setup.length > SETUP_BYTES_MAX) return;
    this.#setup = joined(this.#setup, part);
  }
}

class Flac implements OggCodec {
  readonly #frames: FlacFrames;

  constructor(info: { hertz: number; channels: number }) {
    this.#frames = new FlacFrames(info);
  }

  get seconds(): number {
    this.#frames.end();
    return this.#frames.seconds;
  }

  get channels(): number {
    return this.#frames.channels;
  }

  packet(part: Uint8Array): void {
    this.#frames.push(part);
  }

  more(part: Uint8Array): void {
    this.#frames.push(part);
  }
}

class Speex implements OggCodec {
  readonly #frames: number;
  readonly channels: number;
  seconds = 0;

  constructor(head: Uint8Array) {
    const view = viewOf(head);
    this.channels = view.getUint32(48, true) === 2 ? 2 : 1;
    this.#frames = view.getUint32(64, true);
  }

  packet(part: Uint8Array, index: number): void {
    if (index === 0) return;
    // What the header says, and no more than that fits.
    const most = Math.ceil((part.length * 8) / SPEEX_BITS_MIN);
    this.seconds += Math.min(this.#frames || most, most) * SPEEX_FRAME_SECONDS;
  }

  more(): void {}
}

class Silent implements OggCodec {
  readonly seconds = 0;
  readonly channels = 1;

  packet(): void {}

  more(): void {}
}

/** Audio of an unknown codec may have the lowest bit rate. */
class UnknownInOgg implements OggCodec {
  readonly channels = 1;
  #bytes = 0;

  get seconds(): number {
    return secondsAtMost('Ogg', this.#bytes);
  }

  packet(part: Uint8Array): void {
    this.#bytes += part.length + 1;
  }

  more(part: Uint8Array): void {
    this.#bytes += part.length;
  }
}
