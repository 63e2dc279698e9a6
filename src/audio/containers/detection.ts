// Which format audio has, by its first bytes: a container or a compressed stream is told from raw samples, so that a file sent as PCM
// is refused by name. Magic numbers: the formats' own specifications.
import { layerIii, mpegFileIn, mpegStreamIn } from './mpeg.ts';

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
  return tagBytes(bytes) > 0 || isMp3(bytes) ? 'MP3' : undefined;
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

/** Twelve sync bits are common in PCM (a sample near -1); two frames, the second where the first says, are not. */
function isMp3(bytes: Uint8Array): boolean {
  const length = mp3FrameBytes(bytes, 0);
  if (length === 0 || mp3FrameBytes(bytes, length) === 0) return false;
  // Version, layer and sampling rate never change within a stream.
  return bytes[1] === bytes[length + 1] && (bytes[2]! & 0x0c) === (bytes[length + 2]! & 0x0c);
}

const mp3FrameBytes = (bytes: Uint8Array, at: number): number => layerIii(bytes, at)?.bytes ?? 0;

interface FileKind {
  /** For people. */
  title: string;
  /** Where it begins, after tags. */
  at: number;
}

const TAG_HEAD_BYTES = 10;
const FOOTER = 0x10;

/**
 * What a file is: tags of ID3 may precede anything, and silence may precede frames. Undefined where it is none that is known; MP3
 * where nothing that is known follows a tag in these bytes.
 */
export function fileKindOf(head: Uint8Array): FileKind | undefined {
  let at = 0;
  for (let bytes = tagBytes(head); bytes > 0; bytes = tagBytes(head.subarray(at))) {
    at += bytes;
    if (at >= head.length) return { title: 'MP3', at: 0 };
  }
  const rest = head.subarray(at);
  const zeros = rest.findIndex((byte) => byte !== 0);
  const title = sniffContainer(rest) ?? transportStreamIn(rest) ?? mpegFileIn(zeros > 0 ? rest.subarray(zeros) : rest);
  if (title !== undefined) return { title, at };
  return at > 0 ? { title: 'MP3', at: 0 } : undefined;
}

const SYNC_BYTE = 0x47;
/** Of a packet; cameras put four bytes of time in front of each. */
const PACKETS = [
  { bytes: 188, syncAt: 0 },
  { bytes: 192, syncAt: 4 },
];
const PACKETS_MIN = 4;

/** Frames of AAC or MP3 can be found inside it, cut in pieces by the heads of packets. */
function transportStreamIn(bytes: Uint8Array): 'MPEG-TS' | undefined {
  const isStream = PACKETS.some((packet) => {
    let packets = 0;
    for (let at = packet.syncAt; at < bytes.length; at += packet.bytes, packets++)
      if (bytes[at] !== SYNC_BYTE) return false;
    return packets >= PACKETS_MIN;
  });
  return isStream ? 'MPEG-TS' : undefined;
}

/** Of the ID3v2 tag that begins here; 0 where there is none: versions are never 0xFF and no byte of the size has its high bit set. */
export function tagBytes(bytes: Uint8Array): number {
  const isTag = bytes.length >= TAG_HEAD_BYTES && matches(bytes, 0, 'ID3');
  if (!isTag || bytes[3] === 0xff || bytes[4] === 0xff) return 0;
  const size = bytes.subarray(6, TAG_HEAD_BYTES);
  if (size.some((byte) => byte > 0x7f)) return 0;
  const footer = (bytes[5]! & FOOTER) === 0 ? 0 : TAG_HEAD_BYTES;
  return TAG_HEAD_BYTES + size.reduce((sum, byte) => sum * 128 + byte, 0) + footer;
}
