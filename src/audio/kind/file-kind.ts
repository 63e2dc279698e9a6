// What a file is, by its first bytes: tags of ID3 may stand in front of anything, and silence in front of frames.
import { sniffContainer } from '../container.ts';
import { mpegFileIn } from './mpeg-stream.ts';

export interface FileKind {
  /** For people. */
  title: string;
  /** Where it begins, after tags. */
  at: number;
}

const TAG_HEAD_BYTES = 10;
const FOOTER = 0x10;

/** Undefined where it is none that is known; MP3 where nothing that is known follows a tag in these bytes. */
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

/** Of the ID3v2 tag that begins here; 0 where there is none. */
export function tagBytes(bytes: Uint8Array): number {
  const isTag = bytes.length >= TAG_HEAD_BYTES && String.fromCharCode(...bytes.subarray(0, 3)) === 'ID3';
  if (!isTag || bytes[3] === 0xff || bytes[4] === 0xff) return 0;
  const size = bytes.subarray(6, TAG_HEAD_BYTES);
  if (size.some((byte) => byte > 0x7f)) return 0;
  const footer = (bytes[5]! & FOOTER) === 0 ? 0 : TAG_HEAD_BYTES;
  return TAG_HEAD_BYTES + size.reduce((sum, byte) => sum * 128 + byte, 0) + footer;
}
