// Opus without decoding it: how long a packet sounds, whether bytes are a packet at all, and the head of a stream in a container.
// RFC 6716, sections 3.1 and 3.4; RFC 7845, section 5.1.

/** No decoder takes a longer one. */
const SECONDS_MAX = 0.12;
/** In ms by configuration: of SILK four sizes each, of both codecs two, of CELT four. */
const SILK_MS = [10, 20, 40, 60];
const HYBRID_MS = [10, 20];
const CELT_MS = [2.5, 5, 10, 20];

/** What says how long a packet is. */
export const OPUS_HEAD_BYTES = 2;

/** For how long a packet sounds, by its first two bytes. */
export function opusSeconds(packet: Uint8Array): number {
  const first = packet[0];
  if (first === undefined) return 0;
  const frames = [1, 2, 2, (packet[1] ?? 0) & 63][first & 3]!;
  return Math.min((frames * opusFrameMs(first)) / 1_000, SECONDS_MAX);
}

/** Of each frame of a packet, by its first byte. */
function opusFrameMs(first: number): number {
  const configuration = first >> 3;
  if (configuration < 12) return SILK_MS[configuration & 3]!;
  return configuration < 16 ? HYBRID_MS[configuration & 1]! : CELT_MS[configuration & 3]!;
}

/** What the decoder takes at a time: 120 ms at 256 kbit/s. */
export const PACKET_BYTES_MAX = 3_840;
const FRAME_BYTES_MAX = 1275;
const PACKET_MS_MAX = 120;
/** A first byte from here on says with a second one how long the frame is. */
const LONG_FROM = 252;

const VARIABLE = 0x80;
const PADDED = 0x40;

/** By how frames lie in the bytes: anything else never reaches the decoder. */
export function isOpusPacket(packet: Uint8Array): boolean {
  const { length } = packet;
  if (length === 0 || length > PACKET_BYTES_MAX) return false;
  const code = packet[0]! & 3;
  if (code === 0) return length - 1 <= FRAME_BYTES_MAX;
  if (code === 1) return areAlike(length - 1, 2);
  if (code === 2) return areFramed(packet, 1, length, 1);
  return isCounted(packet);
}

/** Any number of frames, in front of padding. */
function isCounted(packet: Uint8Array): boolean {
  const second = packet[1];
  if (second === undefined) return false;
  const frames = second & 0x3f;
  if (frames === 0 || frames * opusFrameMs(packet[0]!) > PACKET_MS_MAX) return false;
  let at = 2;
  let end = packet.length;
  if ((second & PADDED) !== 0) {
    let more = 255;
    while (more === 255) {
      if (at >= end) return false;
      more = packet[at++]!;
      end -= more === 255 ? 254 : more;
    }
  }
  if (end < at) return false;
  return (second & VARIABLE) === 0 ? areAlike(end - at, frames) : areFramed(packet, at, end, frames - 1);
}

const areAlike = (bytes: number, frames: number): boolean => bytes % frames === 0 && bytes / frames <= FRAME_BYTES_MAX;

/** So many frames with their length in front, and the last one with what is left. */
function areFramed(packet: Uint8Array, from: number, end: number, frames: number): boolean {
  let at = from;
  let left = end;
  for (let frame = 0; frame < frames; frame++) {
    if (at >= end) return false;
    const first = packet[at++]!;
    let bytes = first;
    if (first >= LONG_FROM) {
      if (at >= end) return false;
      bytes += packet[at++]! * 4;
    }
    left -= bytes;
    if (left < at) return false;
  }
  return left - at <= FRAME_BYTES_MAX;
}

/** Opus counts what it skips at this rate, whatever it is decoded to. */
export const OPUS_HERTZ = 48_000;

/** What the head of a stream says. The last three are for more than two channels. */
export interface OpusHead {
  channels: number;
  /** Samples at 48 kHz that the encoder needs before the sound begins. */
  preSkip: number;
  streamCount?: number;
  coupledStreamCount?: number;
  channelMappingTable?: number[];
}

const FAMILY_AT = 18;

/** Undefined where it is cut off. */
export function opusHead(bytes: Uint8Array): OpusHead | undefined {
  if (bytes.length <= FAMILY_AT) return undefined;
  const head = { channels: bytes[9]!, preSkip: bytes[10]! + bytes[11]! * 256 };
  if (bytes[FAMILY_AT] === 0) return head;
  const [streamCount = 0, coupledStreamCount = 0, ...table] = bytes.subarray(FAMILY_AT + 1);
  return { ...head, streamCount, coupledStreamCount, channelMappingTable: table.slice(0, head.channels) };
}
