// Messages to one other node that leave together. Each is written as it is sent, into a buffer that is used again; entry.ts has
// its form.
import type { BusBody } from '../../bus.ts';
import type { AddressPair } from '../address-pairs.ts';
import { entryBytesMax, writeEntry } from './entry.ts';

/** What leaves in one NATS message; a larger message leaves alone. */
export const BATCH_BYTES_MAX = 131_072;
export const BATCH_MESSAGES_MAX = 256;
const BUFFER_BYTES = 8_192;

/** What is remembered of a message that has left, in case it finds nobody. */
export interface Posted {
  pair: AddressPair;
  type: string;
}

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
