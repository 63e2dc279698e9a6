// MPEG audio (layers I to III) and AAC in ADTS, frame by frame, without a file around them. ISO/IEC 11172-3, 13818-3 and 13818-7.
import { adtsFrame, type FrameHead } from '../codecs/aac/config.ts';
import { everyByte, type MeasuredAudio, type Scan, secondsAtMost } from '../scan.ts';

const SNIFF_BYTES = 4_096;
const ZEROS_BYTES = 64 * 1024;
/** What of an MP3 file may be something else than frames: tags at its end, holes of a download. */
const REST_BYTES_MAX = 16 * 1024;

/** MP3 and its kin. What is in between may be something else that decoders know, and is taken for the thinnest audio. */
export function* mpegAudio(begin: number, size: number): Scan<MeasuredAudio | undefined> {
  const from = yield* behindZeros(begin, size);
  const head: Uint8Array = yield { at: from, length: SNIFF_BYTES };
  const isAdts = adtsFrame(head, 0) !== undefined || mpegFileIn(head) === 'AAC';
  const frames = new MpegFrames(isAdts ? adtsFrame : mpegFrame);
  const silent = silentSeconds(head);
  yield* everyByte({ from, to: size }, (bytes) => frames.push(bytes));
  const { seconds, secondsMax, bytes } = frames.end();
  if (secondsMax === 0) return undefined;
  const rest = Math.max(0, size - from - bytes - REST_BYTES_MAX);
  return {
    seconds: seconds > silent ? seconds - silent : seconds,
    secondsMax: secondsMax + secondsAtMost('MP3', rest),
    channels: frames.channels,
  };
}

/** Where the first byte is that is not zero. */
function* behindZeros(from: number, size: number): Scan<number> {
  for (let at = from; at < size; at += ZEROS_BYTES) {
    const bytes: Uint8Array = yield { at, length: Math.min(ZEROS_BYTES, size - at) };
    const first = bytes.findIndex((byte) => byte !== 0);
    if (first >= 0) return at + first;
    if (bytes.length === 0) break;
  }
  return from;
}

/** More than a frame has, and a power of two. */
const RING = 8_192;
/** Of an ADTS header. */
const HEAD_BYTES = 7;
/** A frame alone is an accident of other bytes: in a stream one of its kind ends so near in front of it. */
const NEAR_BYTES = 1_024;
/** Header and side information of a frame whose length is not told. */
const UNTOLD_BYTES = 13;
/** Frames that follow each other over so much of the bytes leave no room for another row. */
const GAPLESS = 0.999;
/** By chance bytes inside frames look like frames: they make the longest row a little longer than what is played. */
const CHANCE = 1.1;

interface MpegLength {
  /** Of the frames that follow each other from the first one on, which is what decoders play. */
  seconds: number;
  /** Of the longest row: the same as `seconds`, where that row is much longer and a decoder may find it. */
  secondsMax: number;
  /** Of the frames that `seconds` counts. */
  bytes: number;
}

/**
 * Counts the frames of a stream of bytes; claims in a header about the whole are ignored. Decoders differ in where they begin and how
 * they continue after damage, so the longest row of frames that do not overlap counts, wherever it begins.
 */
export class MpegFrames {
  /** By position, modulo its length: seconds, and bytes of their frames, of the longest row that ends there. */
  readonly #seconds = new Float64Array(RING);
  readonly #bytes = new Float64Array(RING);
  readonly #frameAt: typeof mpegFrame;
  /** Where the frame of a kind ends that began last. */
  readonly #endOf = new Float64Array(KINDS).fill(Number.NEGATIVE_INFINITY);
  /** Seconds of that frame, where it was alone until then. */
  readonly #owed = new Float64Array(KINDS);
  #at = 0;
  /** The frames that are played: where the last one ends. */
  #playedTo = 0;
  #playedSeconds = 0;
  #playedBytes = 0;
  /** Of the frames that are played; -1 where they differ. */
  #playedKind: number | undefined;
  #best = 0;
  #bestBytes = 0;
  #carried: Uint8Array = new Uint8Array(0);
  /** Of the first frame that has another beside it. */
  channels = 0;
  frameSeconds = 0;

  /** @param frameAt how a frame is told: those of MPEG audio, unless said otherwise */
  constructor(frameAt: (bytes: Uint8Array, at: number) => FrameHead | undefined = mpegFrame) {
    this.#frameAt = frameAt;
  }

  push(chunk: Uint8Array): void {
    const bytes = joined(this.#carried, chunk);
    this.#count(bytes, bytes.length - HEAD_BYTES);
    this.#carried = bytes.slice(Math.max(0, bytes.length - HEAD_BYTES));
  }

  /** What was found, with the frame that the end may have cut off. */
  end(): MpegLength {
    this.#count(this.#carried, this.#carried.length);
    this.#carried = new Uint8Array(0);
    for (let place = 0; place < RING; place++) this.#arrive(place);
    // A decoder that has begun with such frames finds the next where the last one ends, whatever is inside of them.
    const isGapless = this.#playedKind !== -1 && this.#playedBytes >= this.#at * GAPLESS;
    const secondsMax = isGapless ? this.#playedSeconds : Math.max(this.#best, this.#playedSeconds);
    return secondsMax > this.#playedSeconds * CHANCE
      ? { seconds: secondsMax, secondsMax, bytes: this.#bestBytes }
      : { seconds: this.#playedSeconds, secondsMax, bytes: this.#playedBytes };
  }

  #count(bytes: Uint8Array, end: number): void {
    for (let i = 0; i < end; i++, this.#at++) {
      this.#arrive(this.#at % RING);
      if (bytes[i] === 0xff && bytes[i + 1]! >= 0xe0) this.#look(bytes, i);
    }
  }

  /** A row that ends here is what others continue from. */
  #arrive(place: number): void {
    const seconds = this.#seconds[place]!;
    if (seconds === 0) return;
    this.#seconds[place] = 0;
    if (seconds <= this.#best) return;
    this.#best = seconds;
    this.#bestBytes = this.#bytes[place]!;
  }

  #look(bytes: Uint8Array, i: number): void {
    const frame = this.#frameAt(bytes, i);
    if (frame === undefined) return;
    const length = frame.bytes || UNTOLD_BYTES;
    const isStream = this.#at - this.#endOf[frame.kind]! <= NEAR_BYTES;
    this.#endOf[frame.kind] = this.#at + length;
    if (this.#at === this.#playedTo || (this.#at > this.#playedTo && isStream)) {
      // The one before was alone until now.
      const isFirst = this.#at > this.#playedTo;
      this.#playedSeconds += frame.seconds + (isFirst ? this.#owed[frame.kind]! : 0);
      this.#playedBytes += length + (isFirst && this.#owed[frame.kind]! > 0 ? length : 0);
      this.#playedTo = this.#at + length;
      this.#playedKind = this.#playedKind === undefined || this.#playedKind === frame.kind ? frame.kind : -1;
    }
    if (!isStream) {
      this.#owed[frame.kind] = frame.seconds;
      return;
    }
    this.channels ||= frame.channels;
    this.frameSeconds ||= frame.seconds;
    const place = (this.#at + length) % RING;
    const seconds = this.#best + frame.seconds + this.#owed[frame.kind]!;
    this.#owed[frame.kind] = 0;
    if (seconds <= this.#seconds[place]!) return;
    this.#seconds[place] = seconds;
    this.#bytes[place] = this.#bestBytes + length;
  }
}

/** Two that follow one another. */
export function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other;
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** The tag begins after the side information, whose size goes by version and channels. */
const TAG_BYTES_FROM_MAX = 40;
const FLAGS = [
  { flag: 1, bytes: 4 },
  { flag: 2, bytes: 4 },
  { flag: 4, bytes: 100 },
  { flag: 8, bytes: 4 },
];
/** From the beginning of LAME's part. */
const DELAY_AT = 21;
/** Encoders add less. */
const FRAMES_MAX = 4;

/**
 * Silence that an MP3 file says its encoder added: a first frame that only describes the others, and samples at both ends. The tag
 * is the one of Xing and LAME; decoders leave all of that out.
 *
 * @param head the beginning of the file, after tags of ID3v2
 */
function silentSeconds(head: Uint8Array): number {
  const frame = mpegFrame(head, 0);
  if (frame === undefined || frame.bytes === 0) return 0;
  const view = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, frame.bytes));
  const isXing = ['Xing', 'Info'].map((mark) => view.indexOf(mark)).find((at) => at > 0 && at <= TAG_BYTES_FROM_MAX);
  if (isXing === undefined) return view.indexOf('VBRI') === 36 ? frame.seconds : 0;
  return frame.seconds + delaySeconds(view, isXing, frame);
}

function delaySeconds(view: Buffer, tagAt: number, { seconds, samples }: FrameHead): number {
  if (tagAt + 8 > view.length) return 0;
  const flags = view.readUInt32BE(tagAt + 4);
  const lameAt = FLAGS.reduce((at, { flag, bytes }) => at + ((flags & flag) === 0 ? 0 : bytes), tagAt + 8);
  if (lameAt + DELAY_AT + 3 > view.length) return 0;
  const both = view.readUIntBE(lameAt + DELAY_AT, 3);
  const delaySamples = (both >> 12) + (both & 0xfff);
  return delaySamples > FRAMES_MAX * samples ? 0 : (delaySamples / samples) * seconds;
}

/** By chance raw samples look like one frame often, like two that follow each other rarely. */
const FRAMES = 3;

const LAYERS_I_AND_II = [3, 2];

/**
 * Whose frames are in these bytes, cut anywhere: a recording without its tag, a radio stream that was joined. 4 KiB hold enough of
 * them at any bit rate.
 */
export function mpegStreamIn(bytes: Uint8Array): 'MP3' | 'AAC' | undefined {
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0xff) continue;
    if (isRun(bytes, at, layerIii)) return 'MP3';
    if (isRun(bytes, at, adtsFrame)) return 'AAC';
  }
  return undefined;
}

/** Layers I and II too, which raw samples resemble more often: for files, and only from their first byte on. */
export function mpegFileIn(bytes: Uint8Array): 'MP3' | 'MP2' | 'AAC' | undefined {
  const runs = (frameAt: FrameAt) => isRun(bytes, 0, frameAt, 2);
  if (runs(adtsFrame)) return 'AAC';
  if (runs(layersIAndIi)) return 'MP2';
  return mpegStreamIn(bytes);
}

type FrameAt = (bytes: Uint8Array, at: number) => FrameHead | undefined;

/** The frame of MP3 at a position. */
export const layerIii: FrameAt = (bytes, at) => (layerOf(bytes, at) === LAYER_III ? mpegFrame(bytes, at) : undefined);
const layersIAndIi: FrameAt = (bytes, at) =>
  LAYERS_I_AND_II.includes(layerOf(bytes, at)) ? mpegFrame(bytes, at) : undefined;

function isRun(bytes: Uint8Array, from: number, frameAt: FrameAt, count = FRAMES): boolean {
  const first = frameAt(bytes, from);
  let at = from;
  for (let frames = 0; frames < count; frames++) {
    const frame = at < bytes.length ? frameAt(bytes, at) : undefined;
    if (frame === undefined || frame.bytes === 0 || frame.kind !== first?.kind) return false;
    at += frame.bytes;
  }
  return true;
}

/** Of frames: more than `kind` has values. */
const KINDS = 2_048;

/** Kbit/s by the four bits of a header; 0 where the stream decides. */
const KBPS: Readonly<Record<string, readonly number[]>> = {
  'v1 I': [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  'v1 II': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  'v1 III': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  'v2 I': [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  'v2 II': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
/** By version and layer, as a header has them: the second version's last layer is coded like its second. */
const KBPS_OF = [
  [undefined, KBPS['v2 II'], KBPS['v2 II'], KBPS['v2 I']],
  [undefined, KBPS['v1 III'], KBPS['v1 II'], KBPS['v1 I']],
];
const HERTZ_V1 = [44_100, 48_000, 32_000];
const LAYER_III = 1;
const LAYER_I = 3;
const MONO = 3;
/** Version 2.5, none, 2 and 1: what the rate of version 1 is divided by. */
const DIVISORS = [4, undefined, 2, 1];

/** The layer of a frame of MPEG audio: 1 is III, 2 is II, 3 is I. */
const layerOf = (bytes: Uint8Array, at: number): number => (bytes[at + 1]! >> 1) & 3;

/** The frame of MPEG audio whose header is at `at`, or undefined when there is none; 0 bytes where the stream decides on them. */
export function mpegFrame(bytes: Uint8Array, at: number): FrameHead | undefined {
  if (bytes.length < at + 4 || bytes[at] !== 0xff) return undefined;
  const second = bytes[at + 1]!;
  const third = bytes[at + 2]!;
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const divisor = DIVISORS[version];
  const isFirst = version === 3;
  const kbps = KBPS_OF[isFirst ? 1 : 0]![layer]?.[third >> 4];
  const hertzV1 = HERTZ_V1[(third >> 2) & 3];
  if (second >> 5 !== 7 || divisor === undefined || kbps === undefined || hertzV1 === undefined) return undefined;
  const hertz = hertzV1 / divisor;
  const samples = layer === LAYER_I ? 384 : layer === LAYER_III && !isFirst ? 576 : 1152;
  const slotBytes = layer === LAYER_I ? 4 : 1;
  const slots = Math.floor((samples * 125 * kbps) / hertz / slotBytes) + ((third >> 1) & 1);
  return {
    bytes: kbps === 0 ? 0 : slots * slotBytes,
    samples,
    seconds: samples / hertz,
    channels: bytes[at + 3]! >> 6 === MONO ? 1 : 2,
    kind: ((second & 31) << 4) | (((third >> 2) & 3) << 2) | (bytes[at + 3]! >> 6),
  };
}
