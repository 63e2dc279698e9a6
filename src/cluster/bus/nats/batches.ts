// Gathers the messages to each other node that takes batches, and sends what has gathered: at the end of the loop's turn, and where
// much is said, a moment after the batch before. One message is sealed, written, carried and read where there were many.
import type { BusBody } from '../bus.ts';
import type { AddressPair } from './address-pairs.ts';
import { isBody } from './frames.ts';
import { isSafeName } from './subjects.ts';

/** A batch leaves so long after the one before at the earliest: what is said seldom does not wait. */
const APART_MS = 2;
/** Nodes that are known to take batches; beyond it the oldest is sent single messages again. */
const NODES_MAX = 1_024;
/** Batches whose messages are remembered in case their node is not there: that is told within milliseconds. */
const SENT_MAX = 512;

/** Why a message could not be taken. */
type Untaken = 'overflow' | 'alone';

interface OutgoingBatchesOptions {
  /** Sends it; what could not be sent is lost, and told. */
  post(node: string, id: number, plain: Uint8Array): boolean;
  /** Whether so many bytes may still be on their way. */
  fits(bytes: number): boolean;
  /** A message that was accepted was not sent. */
  dropped(posted: Posted): void;
}

export class OutgoingBatches {
  readonly #options: OutgoingBatchesOptions;
  /** By node; only of nodes that take them. */
  readonly #batches = new Map<string, Batch>();
  readonly #waiting = new Set<Batch>();
  /** By number. */
  readonly #sent = new Map<number, Posted[]>();
  #waitingBytes = 0;
  #lastId = 0;
  #leftAtMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(options: OutgoingBatchesOptions) {
    this.#options = options;
  }

  /** The node has said that it takes them. */
  begin(node: string): void {
    if (this.#batches.has(node)) return;
    if (this.#batches.size === NODES_MAX) {
      this.send();
      for (const oldest of this.#batches.keys()) {
        this.end(oldest);
        break;
      }
    }
    this.#batches.set(node, new Batch(node));
  }

  /** The node is gone. */
  end(node: string): void {
    const batch = this.#batches.get(node);
    if (batch === undefined || !batch.isEmpty) return;
    this.#batches.delete(node);
  }

  /** Undefined when it was taken. `alone`: it has to be sent on its own, and everything before it was sent. */
  add(pair: AddressPair, body: BusBody, bytes: Uint8Array | undefined): Untaken | undefined {
    const batch = this.#batches.get(pair.node);
    if (batch === undefined) return 'alone';
    if (!this.#options.fits(this.#waitingBytes + (bytes?.byteLength ?? 0))) return 'overflow';
    const before = batch.bytes;
    if (!batch.add(pair, body, bytes)) {
      this.send();
      if (!batch.add(pair, body, bytes)) return 'alone';
      this.#waitingBytes += batch.bytes;
    } else this.#waitingBytes += batch.bytes - before;
    this.#waiting.add(batch);
    this.#later();
    return undefined;
  }

  /** Everything that has gathered leaves now. */
  send(): void {
    if (this.#waiting.size === 0) return;
    this.#stopWaiting();
    this.#leftAtMs = performance.now();
    // Who is told of a loss may send something.
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const batch of waiting) {
      const { plain, posted } = batch.take();
      const id = ++this.#lastId;
      if (this.#options.post(batch.node, id, plain)) this.#remember(id, posted);
      else for (const each of posted) this.#options.dropped(each);
    }
  }

  /** The connection is lost, and what has gathered with it. */
  drop(): void {
    this.#stopWaiting();
    this.#sent.clear();
    const dropped = [...this.#waiting].flatMap((batch) => batch.take().posted);
    this.#waiting.clear();
    for (const each of dropped) this.#options.dropped(each);
  }

  /** What was in that batch; nothing when it is not remembered. */
  sent(id: number): readonly Posted[] {
    const posted = this.#sent.get(id) ?? [];
    this.#sent.delete(id);
    return posted;
  }

  #remember(id: number, posted: Posted[]): void {
    this.#sent.set(id, posted);
    if (this.#sent.size <= SENT_MAX) return;
    for (const oldest of this.#sent.keys()) {
      this.#sent.delete(oldest);
      return;
    }
  }

  #later(): void {
    if (this.#cancel !== undefined) return;
    const waitMs = Math.ceil(this.#leftAtMs + APART_MS - performance.now());
    if (waitMs > 0) {
      const timer = setTimeout(() => this.send(), waitMs);
      this.#cancel = () => clearTimeout(timer);
    } else {
      const immediate = setImmediate(() => this.send());
      this.#cancel = () => clearImmediate(immediate);
    }
  }

  #stopWaiting(): void {
    this.#waitingBytes = 0;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

/** What leaves in one NATS message; a larger message leaves alone. */
export const BATCH_BYTES_MAX = 131_072;
export const BATCH_MESSAGES_MAX = 256;
const BUFFER_BYTES = 8_192;

/** What is remembered of a message that has left, in case it finds nobody. */
export interface Posted {
  pair: AddressPair;
  type: string;
}

/** Messages to one other node that leave together. Each is written as it is sent, into a buffer that is reused. */
export class Batch {
  readonly node: string;
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #bytes = 0;
  #posted: Posted[] = [];

  constructor(node: string) {
    this.node = node;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#posted.length === 0;
  }

  /** Copies `bytes`. Whether it was written: what does not fit beside the others may fit behind them. */
  add(pair: AddressPair, body: BusBody, bytes: Uint8Array | undefined): boolean {
    const { id, names } = pair;
    if (names === undefined || this.#posted.length === BATCH_MESSAGES_MAX) return false;
    const json = JSON.stringify(body);
    const end = this.#bytes + entryBytesMax(names, json, bytes);
    if (end > BATCH_BYTES_MAX) return false;
    if (end > this.#buffer.length) this.#grow(end);
    this.#bytes = writeEntry(this.#buffer, this.#bytes, id, names, json, bytes);
    this.#posted.push({ pair, type: body.type });
    return true;
  }

  /** What has gathered; the bytes are valid until the next message is added. */
  take(): { plain: Uint8Array; posted: Posted[] } {
    const taken = { plain: this.#buffer.subarray(0, this.#bytes), posted: this.#posted };
    this.#bytes = 0;
    this.#posted = [];
    return taken;
  }

  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(BATCH_BYTES_MAX, Math.max(bytes, 2 * this.#buffer.length)));
    larger.set(this.#buffer.subarray(0, this.#bytes));
    this.#buffer = larger;
  }
}

/** The body is JSON, with its length before it. */
const JSON_FORM = 0;

const LENGTH_BYTES = 4;
/** Form, pair, and the two lengths of names. */
const HEAD_BYTES = 1 + 4 + 2;
/** Of a character of JavaScript in UTF-8. */
const CHARACTER_BYTES_MAX = 3;

/**
 * One message in a batch: its length, the form of its body, the number of its pair of addresses, the names of recipient and
 * sender on their nodes, its body, and its bytes. Integers are big-endian. Entries of an unknown form are skipped, so that a
 * newer node may add forms.
 */
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
function entryBytesMax(names: Uint8Array, json: string, bytes: Uint8Array | undefined): number {
  const bodyBytes = LENGTH_BYTES + json.length * CHARACTER_BYTES_MAX;
  return LENGTH_BYTES + HEAD_BYTES + names.length + bodyBytes + (bytes?.byteLength ?? 0);
}

/** Returns where it ends. */
function writeEntry(
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
