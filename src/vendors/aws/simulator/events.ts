// Events as the service frames them: lengths and headers, and a checksum of each part. Written from the description of the format.
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#event-stream
import { crc32 } from 'node:zlib';

const PRELUDE_BYTES = 12;
const CHECK_BYTES = 4;
const TEXT = 7;

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function headerOf(name: string, value: string): Buffer {
  const text = Buffer.from(value);
  return Buffer.concat([
    ...[Buffer.of(name.length), Buffer.from(name), Buffer.of(TEXT)],
    ...[Buffer.of(text.length >> 8, text.length & 0xff), text],
  ]);
}

/** A message under the name of its event; names of exceptions say so. */
export function framed(message: Readonly<Record<string, unknown>>): Uint8Array {
  const [name = 'none', body] = Object.entries(message)[0] ?? [];
  const kind = name.endsWith('Exception') ? 'exception' : 'event';
  const headers = Buffer.concat([
    headerOf(':message-type', kind),
    headerOf(`:${kind}-type`, name),
    headerOf(':content-type', 'application/json'),
  ]);
  const payload = Buffer.from(JSON.stringify(body) ?? '{}');
  const total = PRELUDE_BYTES + headers.length + payload.length + CHECK_BYTES;
  const prelude = Buffer.concat([number(total), number(headers.length)]);
  const checked = Buffer.concat([prelude, number(crc32(prelude)), headers, payload]);
  return Buffer.concat([checked, number(crc32(checked))]);
}

/** The payload of an audio event; undefined for what is none. */
export function audioOf(frame: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  if (bytes.length < PRELUDE_BYTES + CHECK_BYTES || bytes.readUInt32BE(0) !== bytes.length) return undefined;
  const headersEnd = PRELUDE_BYTES + bytes.readUInt32BE(4);
  const payloadEnd = bytes.length - CHECK_BYTES;
  if (headersEnd > payloadEnd || bytes.readUInt32BE(8) !== crc32(bytes.subarray(0, 8))) return undefined;
  if (bytes.readUInt32BE(payloadEnd) !== crc32(bytes.subarray(0, payloadEnd))) return undefined;
  const headers = bytes.toString('latin1', PRELUDE_BYTES, headersEnd);
  return headers.includes('AudioEvent') ? bytes.subarray(headersEnd, payloadEnd) : undefined;
}
