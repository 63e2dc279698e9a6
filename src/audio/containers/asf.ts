// How much sound a WMA or WMV file holds, by the frames in its packets. Where frames are not counted, the duration in the header is
// believed if it fits the bytes. Microsoft, "Advanced Systems Format Specification", revision 1.2.
import { type MeasuredAudio, type Scan, statedOnly, viewOf } from '../scan.ts';

const OBJECT_HEAD_BYTES = 24;
/** Of the object that holds the packets, in front of them. */
const DATA_HEAD_BYTES = 50;
const HEADER_BYTES_MAX = 1024 * 1024;
const PACKET_BYTES_MIN = 100;
const FILE_PROPERTIES = 'a1dcab8c47a9cf118ee400c00c205365';
const STREAM_PROPERTIES = '9107dcb7b7a9cf118ee600c00c205365';
const AUDIO = '409e69f84d5bcf11a8fd00805f5c442b';
const VIDEO = 'c0ef19bc4d5bcf11a8fd00805f5c442b';
const TICKS_PER_SECOND = 1e7;
/** A rate is an average. */
const FITS = { share: 1.25, seconds: 1 };
const COUNTED_FITS = { share: 1.01, seconds: 0.25 };
interface Header {
  statedSeconds: number;
  packetBytes: number;
  stream: number;
  frames: WmaFrames | undefined;
  hasVideo: boolean;
}

export function* asfAudio(from: number, size: number): Scan<MeasuredAudio | undefined> {
  const head: Uint8Array = yield { at: from, length: OBJECT_HEAD_BYTES };
  const bytes = head.length < OBJECT_HEAD_BYTES ? 0 : Number(viewOf(head).getBigUint64(16, true));
  if (bytes > HEADER_BYTES_MAX) return undefined;
  const header = headerOf(yield { at: from, length: bytes });
  const { statedSeconds, packetBytes, stream, frames, hasVideo } = header;
  if (frames === undefined || packetBytes < PACKET_BYTES_MIN) return undefined;
  if (!frames.isKnown) return statedOnly(statedSeconds);
  yield* everyPayload({ from: from + bytes + DATA_HEAD_BYTES, to: size }, packetBytes, stream, (payload) =>
    frames.push(payload),
  );
  const { seconds: here, channels, isCounted } = frames;
  if (here === 0) return undefined;
  const isFitting = statedSeconds > 0 && here <= statedSeconds * FITS.share + FITS.seconds;
  // Less than the header says is a file that is cut off.
  const { share, seconds: spareSeconds } = isCounted ? COUNTED_FITS : FITS;
  const isDamaged = statedSeconds > here * share + spareSeconds;
  const seconds = isCounted || !isFitting || isDamaged ? here : statedSeconds;
  return { seconds, secondsMax: Math.max(seconds, here), channels, hasVideo, isDamaged };
}

function headerOf(bytes: Uint8Array): Header {
  const header: Header = {
    statedSeconds: 0,
    packetBytes: 0,
    stream: 0,
    frames: undefined,
    hasVideo: false,
  };
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 30; at + OBJECT_HEAD_BYTES <= all.length; ) {
    const id = all.toString('hex', at, at + 16);
    const length = Number(all.readBigUInt64LE(at + 16));
    const body = all.subarray(at + OBJECT_HEAD_BYTES, at + length);
    if (id === FILE_PROPERTIES && body.length >= 76) {
      // The sound begins after the preroll, which is in milliseconds.
      const played = Number(body.readBigUInt64LE(40)) / TICKS_PER_SECOND - Number(body.readBigUInt64LE(56)) / 1000;
      header.statedSeconds = Math.max(0, played);
      header.packetBytes = body.readUInt32LE(72);
    }
    if (id === STREAM_PROPERTIES && body.length >= 70) describeStream(body, header);
    if (length < OBJECT_HEAD_BYTES) break;
    at += length;
  }
  return header;
}

function describeStream(body: Buffer, header: Header): void {
  const kind = body.toString('hex', 0, 16);
  header.hasVideo ||= kind === VIDEO;
  if (kind !== AUDIO) return;
  header.stream = body.readUInt16LE(48) & 0x7f;
  header.frames = new WmaFrames(body.subarray(54));
}

/** Bytes of a number, by the two bits of its type. */
const NUMBER_BYTES = [0, 1, 2, 4];
const HAS_ERROR_CORRECTION = 0x80;
const HAS_SEVERAL_PAYLOADS = 1;
const TIME_BYTES = 6;

/**
 * The bytes of one stream in the packets. Section 5.
 *
 * @param span of the packets, each of `packetBytes`
 */
function* everyPayload(
  { from, to }: { from: number; to: number },
  packetBytes: number,
  stream: number,
  push: (bytes: Uint8Array) => void,
): Scan<void> {
  for (let at = from; at < to; at += packetBytes) {
    const packet: Uint8Array = yield { at, length: Math.min(packetBytes, to - at) };
    if (packet.length === 0) return;
    payloadsOf(packet, stream, push);
  }
}

/** The rest of a packet that contradicts itself is taken for sound. */
function payloadsOf(packet: Uint8Array, stream: number, push: (bytes: Uint8Array) => void): void {
  const view = viewOf(packet);
  let at = 0;
  const number = (type: number): number => {
    const bytes = NUMBER_BYTES[type & 3]!;
    at += bytes;
    if (at > packet.length || bytes === 0) return 0;
    if (bytes === 1) return view.getUint8(at - 1);
    return bytes === 2 ? view.getUint16(at - 2, true) : view.getUint32(at - 4, true);
  };
  const first = packet[0]!;
  if ((first & HAS_ERROR_CORRECTION) !== 0) at = 1 + (first & 15);
  const lengths = packet[at++] ?? 0;
  const properties = packet[at++] ?? 0;
  number(lengths >> 5);
  number(lengths >> 1);
  const end = packet.length - number(lengths >> 3);
  at += TIME_BYTES;
  const isSeveral = (lengths & HAS_SEVERAL_PAYLOADS) !== 0;
  const flags = isSeveral ? (packet[at++] ?? 0) : 1;
  for (let payloads = flags & 0x3f; payloads > 0; payloads--) {
    const of = (packet[at++] ?? 0) & 0x7f;
    number(properties >> 4);
    number(properties >> 2);
    const moreBytes = number(properties);
    at += moreBytes;
    const length = isSeveral ? number(flags >> 6) : end - at;
    const isWhole = length >= 0 && at + length <= end;
    if (of === stream || !isWhole) push(packet.subarray(at, isWhole ? at + length : packet.length));
    if (!isWhole) return;
    at += length;
  }
}

const VERSIONS = [0x160, 0x161];
/** Samples, and all of Windows Media Audio: other codings state rates that are not their average. */
const RATED = [0x1, 0x162, 0x163, ...VERSIONS];
/** Of the description, in front of what is only of this codec. */
const WAVE_BYTES = 18;
const HAS_RESERVOIR = 2;
/** 320 kbit/s: a header that says more makes a file no shorter. */
const BYTES_PER_SECOND_MAX = 40_000;

/**
 * Counts Windows Media Audio. Versions 1 and 2 are blocks of one size, each of which says how many frames end in it; other versions go
 * by their average rate. As FFmpeg's decoder reads them.
 */
class WmaFrames {
  readonly channels: number;
  /** Whether the bytes tell how long it is. */
  readonly isKnown: boolean;
  readonly #bytesPerSecond: number;
  readonly #blockBytes: number;
  /** 0 where frames are not counted. */
  readonly #frameSeconds: number;
  readonly #hasReservoir: boolean;
  #bytes = 0;
  #frames = 0;

  /** @param wave as in the `fmt ` chunk of a WAV file, with at least 16 bytes */
  constructor(wave: Uint8Array) {
    const view = viewOf(wave);
    const coding = view.getUint16(0, true);
    const version = VERSIONS.indexOf(coding) + 1;
    this.isKnown = RATED.includes(coding);
    const hertz = view.getUint32(4, true);
    const optionsAt = WAVE_BYTES + (version === 1 ? 2 : 4);
    const isCounted = version > 0 && hertz > 0 && wave.length >= optionsAt + 2;
    this.channels = view.getUint16(2, true) || 1;
    this.#bytesPerSecond = Math.min(view.getUint32(8, true), BYTES_PER_SECOND_MAX);
    this.#blockBytes = view.getUint16(12, true);
    this.#frameSeconds = isCounted && this.#blockBytes > 0 ? frameSamples(hertz, version) / hertz : 0;
    this.#hasReservoir = isCounted && (view.getUint16(optionsAt, true) & HAS_RESERVOIR) !== 0;
  }

  /** Exactly, and not by an average. */
  get isCounted(): boolean {
    return this.#frameSeconds > 0;
  }

  get seconds(): number {
    if (this.isCounted) return this.#frames * this.#frameSeconds;
    return this.#bytesPerSecond > 0 ? this.#bytes / this.#bytesPerSecond : 0;
  }

  push(bytes: Uint8Array): void {
    if (this.isCounted) {
      const untilBlock = (this.#blockBytes - (this.#bytes % this.#blockBytes)) % this.#blockBytes;
      for (let at = untilBlock; at < bytes.length; at += this.#blockBytes)
        this.#frames += this.#hasReservoir ? bytes[at]! & 15 : 1;
    }
    this.#bytes += bytes.length;
  }
}

function frameSamples(hertz: number, version: number): number {
  if (hertz <= 16_000) return 512;
  return hertz <= (version === 1 ? 32_000 : 22_050) ? 1_024 : 2_048;
}
