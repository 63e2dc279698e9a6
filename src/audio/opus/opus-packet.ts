// Whether bytes are a packet of Opus, by how its frames lie in it: what is none never comes to the decoder. RFC 6716, section 3.4.
import { opusFrameMs } from '../length/frames/opus.ts';

/** What the decoder takes at a time: 120 ms at 256 kbit/s. */
export const PACKET_BYTES_MAX = 3_840;
const FRAME_BYTES_MAX = 1275;
const PACKET_MS_MAX = 120;
/** A first byte from here on says with a second one how long the frame is. */
const LONG_FROM = 252;

const VARIABLE = 0x80;
const PADDED = 0x40;

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
