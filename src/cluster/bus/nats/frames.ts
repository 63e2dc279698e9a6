// The form of a bus message before it is sealed: a length of three bytes, JSON `{from, body}`, then optional bytes.
import { isRecord } from '../../../runtime/plain-data.ts';
import type { Address, BusBody } from '../bus.ts';
import { isSafeName, isSafeNode } from './subjects.ts';

const HEAD_BYTES = 3;
const JSON_BYTES_MAX = 0xff_ff_ff;
const TYPE_CHARACTERS_MAX = 128;

export interface Frame {
  from: Address;
  body: BusBody;
  bytes?: Uint8Array;
}

/** Copies `bytes`. Undefined when the body is too long. */
export function encodeFrame(from: Address, body: BusBody, bytes?: Uint8Array): Uint8Array | undefined {
  const json = JSON.stringify({ from, body });
  const jsonBytes = Buffer.byteLength(json);
  if (jsonBytes > JSON_BYTES_MAX) return undefined;
  const frame = Buffer.allocUnsafe(HEAD_BYTES + jsonBytes + (bytes?.byteLength ?? 0));
  frame.writeUIntBE(jsonBytes, 0, HEAD_BYTES);
  frame.write(json, HEAD_BYTES);
  if (bytes !== undefined) frame.set(bytes, HEAD_BYTES + jsonBytes);
  return frame;
}

/** Undefined when it is not a frame; never throws. The bytes are a view of the input, not a copy. */
export function decodeFrame(data: Uint8Array): Frame | undefined {
  if (data.byteLength < HEAD_BYTES) return undefined;
  const frame = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const end = HEAD_BYTES + frame.readUIntBE(0, HEAD_BYTES);
  if (end > frame.byteLength) return undefined;
  let said: unknown;
  try {
    said = JSON.parse(frame.toString('utf8', HEAD_BYTES, end));
  } catch {
    return undefined;
  }
  if (!isRecord(said) || !isAddress(said.from) || !isBody(said.body)) return undefined;
  const { from, body } = said;
  if (end === frame.byteLength) return { from, body };
  return { from, body, bytes: new Uint8Array(data.buffer, data.byteOffset + end, frame.byteLength - end) };
}

/** The node and the actor of an address; undefined when it is not an address. */
export function partsOf(address: string): { node: string; actor: string } | undefined {
  const slash = address.indexOf('/');
  if (slash < 0) return undefined;
  const node = address.slice(0, slash);
  const actor = address.slice(slash + 1);
  return isSafeNode(node) && isSafeName(actor) ? { node, actor } : undefined;
}

const isAddress = (value: unknown): value is Address => typeof value === 'string' && partsOf(value) !== undefined;

/** Whether the value is a message body, with a type. */
export function isBody(value: unknown): value is BusBody {
  if (!isRecord(value)) return false;
  return typeof value.type === 'string' && value.type !== '' && value.type.length <= TYPE_CHARACTERS_MAX;
}
