// What packets of an Ogg stream hold, by the codec that its first packet names. RFC 7845 (Opus), Vorbis I appendix A, RFC 9639
// section 10.1 (FLAC), the Speex manual section 7.
import { FlacFrames, flacInfo } from './frames/flac-frames.ts';
import { joined } from './frames/mpeg-frames.ts';
import { opusSeconds } from './frames/opus.ts';
import { VorbisStream } from './frames/vorbis.ts';
import { secondsAtMost } from './measured.ts';
import { textAt, viewOf } from './scan.ts';

/** How a stream's packets are counted. */
export interface OggCodec {
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
export function oggCodec(head: Uint8Array): OggCodec {
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
export class UnknownInOgg implements OggCodec {
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
