// The bytes of one stream in the packets of a WMA or WMV file. Microsoft, "Advanced Systems Format Specification", section 5.
import { type Scan, viewOf } from '../scan.ts';

/** Bytes of a number, by the two bits of its type. */
const NUMBER_BYTES = [0, 1, 2, 4];
const HAS_ERROR_CORRECTION = 0x80;
const HAS_SEVERAL_PAYLOADS = 1;
const TIME_BYTES = 6;

/** @param span of the packets, each of `packetBytes` */
export function* everyPayload(
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
