// Tells a container or a compressed stream from raw samples by its first bytes, so that a file sent as PCM is refused by name.
// Magic numbers: the formats' own specifications.

import { mpegStreamIn } from './kind/mpeg-stream.ts';
import { isLayerIii, mpegFrame } from './length/frames/mpeg-frame.ts';
import { paddingAfter } from './wav/wav-chunks.ts';

interface Magic {
  readonly name: string;
  /** Each at a position. */
  readonly marks: readonly (readonly [at: number, text: string])[];
}

/** Files of QuickTime may begin without `ftyp`. */
const MP4_BOXES = ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'];

const MAGIC: readonly Magic[] = [
  { name: 'WAV', marks: [[0, 'RIFF']] },
  { name: 'WAV (big-endian)', marks: [[0, 'RIFX']] },
  { name: 'WAV (64-bit)', marks: [[0, 'RF64']] },
  { name: 'Wave64', marks: [[0, 'riff\x2e\x91\xcf\x11']] },
  { name: 'Ogg', marks: [[0, 'OggS']] },
  { name: 'FLAC', marks: [[0, 'fLaC']] },
  { name: 'WebM or Matroska', marks: [[0, '\x1a\x45\xdf\xa3']] },
  ...MP4_BOXES.map((box): Magic => ({ name: 'MP4', marks: [[4, box]] })),
  ...['AIFF', 'AIFC'].map(
    (form): Magic => ({
      name: 'AIFF',
      marks: [
        [0, 'FORM'],
        [8, form],
      ],
    }),
  ),
  { name: 'AU', marks: [[0, '.snd']] },
  { name: 'CAF', marks: [[0, 'caff\0\x01']] },
  { name: 'AMR', marks: [[0, '#!AMR']] },
  { name: 'WMA', marks: [[0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11']] },
];

/** Bytes after which {@link ContainerSniffer} has made up its mind: three MP3 frames of most bit rates fit, cut anywhere. */
const SNIFF_BYTES_MAX = 4096;

/**
 * The name of the container that `bytes` begin with, or undefined for anything else. The more bytes, the more is seen:
 * 12 bytes tell every container, 3 KiB tell a bare MP3 stream.
 */
export function sniffContainer(bytes: Uint8Array): string | undefined {
  for (const { name, marks } of MAGIC) if (marks.every(([at, text]) => matches(bytes, at, text))) return name;
  return isId3(bytes) || isMp3(bytes) ? 'MP3' : undefined;
}

/** Looks at the beginning of a stream that comes in chunks of any size. Holds 4 KiB until it is `settled`, and none then. */
export class ContainerSniffer {
  #seen: Uint8Array | undefined = new Uint8Array(SNIFF_BYTES_MAX);
  #length = 0;

  /** No further chunk can change the answer. */
  get settled(): boolean {
    return this.#seen === undefined;
  }

  /** The container's name as soon as it is certain; undefined until then, and for ever when there is none. */
  look(chunk: Uint8Array): string | undefined {
    if (this.#seen === undefined || chunk.length === 0) return undefined;
    const fresh = chunk.subarray(0, SNIFF_BYTES_MAX - this.#length);
    this.#seen.set(fresh, this.#length);
    this.#length += fresh.length;
    const seen = this.#seen.subarray(0, this.#length);
    const isEnough = seen.length === SNIFF_BYTES_MAX;
    const name = sniffContainer(seen) ?? (isEnough ? mpegStreamIn(seen) : undefined);
    if (name !== undefined || isEnough) this.#seen = undefined;
    return name;
  }
}

function matches(bytes: Uint8Array, at: number, text: string): boolean {
  if (bytes.length < at + text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** An ID3v2 tag: versions are never 0xFF and the size has no high bits, which loud PCM would soon contradict. */
function isId3(bytes: Uint8Array): boolean {
  if (bytes.length < 10 || !matches(bytes, 0, 'ID3')) return false;
  return bytes[3] !== 0xff && bytes[4] !== 0xff && ((bytes[6]! | bytes[7]! | bytes[8]! | bytes[9]!) & 0x80) === 0;
}

/** Twelve sync bits are common in PCM (a sample near -1); two frames, the second where the first says, are not. */
function isMp3(bytes: Uint8Array): boolean {
  const length = mp3FrameBytes(bytes, 0);
  if (length === 0 || mp3FrameBytes(bytes, length) === 0) return false;
  // Version, layer and sampling rate never change within a stream.
  return bytes[1] === bytes[length + 1] && (bytes[2]! & 0x0c) === (bytes[length + 2]! & 0x0c);
}

const mp3FrameBytes = (bytes: Uint8Array, at: number): number =>
  (isLayerIii(bytes, at) ? mpegFrame(bytes, at)?.bytes : undefined) ?? 0;

/** What the header of a WAV file says of its length. */
export interface WavLength {
  /** Where the samples begin. */
  samplesAt: number;
  /** Bytes of samples; undefined where the writer did not know them yet. */
  sampleBytes: number | undefined;
  bytesPerSecond: number;
  channels: number;
  /**
   * Whether bytes say how long it is, to every decoder: samples that are not packed, in one format whose fields agree. Where
   * samples are said to be larger than they are, a long file would seem to be a short one.
   */
  isPlain: boolean;
}

/** Integers and floating point; all others are packed, whatever their header says of a sample. */
const PLAIN_CODINGS = [1, 3];
/** The coding stands further behind. */
const EXTENSIBLE = 0xfffe;

/**
 * Looks for the length of a WAV file (RIFF or RF64) in its beginning. Undefined when the samples do
 * not begin within `bytes`, or the header makes no sense: whoever reads the samples says what is wrong with it.
 */
export function wavLength(bytes: Uint8Array): WavLength | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let bytesPerSecond = 0;
  let channels = 0;
  let isPlain = false;
  let formats = 0;
  let longBytes: number | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    if (matches(bytes, at, 'data')) {
      // Writers that do not know the length yet leave one of these; RF64 says it elsewhere.
      const sampleBytes = size === 0 || size === 0xffff_ffff ? longBytes : size;
      return bytesPerSecond > 0 ? { samplesAt: at + 8, sampleBytes, bytesPerSecond, channels, isPlain } : undefined;
    }
    if (matches(bytes, 0, 'RF64') && matches(bytes, at, 'ds64') && at + 24 <= bytes.length) {
      longBytes = Number(view.getBigUint64(at + 16, true)) || undefined;
    }
    // Rate times bytes of a sample of all channels; the field that says their product is often wrong.
    if (matches(bytes, at, 'fmt ') && at + 22 <= bytes.length) {
      const frameBytes = view.getUint16(at + 20, true);
      bytesPerSecond = view.getUint32(at + 12, true) * frameBytes;
      const bits = at + 24 <= bytes.length ? view.getUint16(at + 22, true) : 0;
      channels = view.getUint16(at + 10, true);
      const said = view.getUint16(at + 8, true);
      const coding = said === EXTENSIBLE && at + 34 <= bytes.length ? view.getUint16(at + 32, true) : said;
      // Some decoders go by the first of several, some by the last.
      formats++;
      isPlain = formats === 1 && PLAIN_CODINGS.includes(coding) && frameBytes === channels * Math.ceil(bits / 8);
    }
    at += 8 + size + paddingAfter(size, bytes.subarray(at + 8 + size));
  }
  return undefined;
}
