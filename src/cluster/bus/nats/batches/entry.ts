// The form of one message in a batch: its length, the form of its body, the number of its pair of addresses, the names of recipient
// and sender on their nodes, its body, and its bytes. Integers are big-endian. An entry of a form that is not known here is passed
// over, so that a newer node may say more.
import type { BusBody } from '../../bus.ts';
import { isBody } from '../frames.ts';
import { isSafeName } from '../subjects.ts';

/** The body is JSON, with its length before it. */
const JSON_FORM = 0;

const LENGTH_BYTES = 4;
/** Form, pair, and the two lengths of names. */
const HEAD_BYTES = 1 + 4 + 2;
/** Of a character of JavaScript in UTF-8. */
const CHARACTER_BYTES_MAX = 3;

export interface Entry {
  /** The sender's number for the two addresses. */
  pair: number;
  /** Names on their nodes. */
  to: string;
  from: string;
  body: BusBody;
  bytes: Uint8Array | undefined;
}

/** How large it is at most. */
export function entryBytesMax(names: Uint8Array, json: string, bytes: Uint8Array | undefined): number {
  const bodyBytes = LENGTH_BYTES + json.length * CHARACTER_BYTES_MAX;
  return LENGTH_BYTES + HEAD_BYTES + names.length + bodyBytes + (bytes?.byteLength ?? 0);
}

/** Returns where it ends. */
export function writeEntry(
  into: Buffer,
  start: number,
  pair: number,
  names: Uint8Array,
  json: string,
  bytes: Uint8Array | undefined,
): number {
  let at = start + LENGTH_BYTES;
  into[at++] = JSON_FORM;
  at = into.writeUInt32BE(pair, at);
  into.set(names, at);
  at += names.length;
  const bodyBytes = into.write(json, at + LENGTH_BYTES);
  into.writeUInt32BE(bodyBytes, at);
  at += LENGTH_BYTES + bodyBytes;
  if (bytes !== undefined) {
    into.set(bytes, at);
    at += bytes.byteLength;
  }
  into.writeUInt32BE(at - start - LENGTH_BYTES, start);
  return at;
}

/** Calls `take` for each message, with bytes that are a view of the batch; returns how many could not be read. Never throws for them. */
export function readEntries(plain: Buffer, take: (entry: Entry) => void): number {
  let unreadable = 0;
  for (let at = 0; at < plain.length; ) {
    const end =
      at + LENGTH_BYTES <= plain.length ? at + LENGTH_BYTES + plain.readUInt32BE(at) : Number.POSITIVE_INFINITY;
    // Where it ends is not known: nothing behind it can be found.
    if (end > plain.length) return unreadable + 1;
    const entry = readEntry(plain, at + LENGTH_BYTES, end);
    if (entry === undefined) unreadable++;
    else take(entry);
    at = end;
  }
  return unreadable;
}

function readEntry(plain: Buffer, start: number, end: number): Entry | undefined {
  const namesAt = start + HEAD_BYTES;
  if (namesAt > end || plain[start] !== JSON_FORM) return undefined;
  const fromAt = namesAt + (plain[namesAt - 2] as number);
  const lengthAt = fromAt + (plain[namesAt - 1] as number);
  const bodyAt = lengthAt + LENGTH_BYTES;
  if (bodyAt > end) return undefined;
  const bytesAt = bodyAt + plain.readUInt32BE(lengthAt);
  if (bytesAt > end) return undefined;
  const to = plain.toString('latin1', namesAt, fromAt);
  const from = plain.toString('latin1', fromAt, lengthAt);
  const body = bodyOf(plain.toString('utf8', bodyAt, bytesAt));
  if (!isSafeName(to) || !isSafeName(from) || !isBody(body)) return undefined;
  const bytes = bytesAt === end ? undefined : new Uint8Array(plain.buffer, plain.byteOffset + bytesAt, end - bytesAt);
  return { pair: plain.readUInt32BE(start + 1), to, from, body, bytes };
}

function bodyOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
