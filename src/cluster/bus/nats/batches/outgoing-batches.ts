// Gathers the messages to each other node that takes batches, and sends what has gathered: at the end of the loop's turn, and where
// much is said, a moment after the batch before. One message is sealed, written, carried and read where there were many.
import type { BusBody } from '../../bus.ts';
import type { AddressPair } from '../address-pairs.ts';
import { Batch, type Posted } from './batch.ts';

/** A batch leaves so long after the one before at the earliest: what is said seldom does not wait. */
const APART_MS = 2;
/** Nodes that are known to take batches; beyond it the oldest is sent single messages again. */
const NODES_MAX = 1_024;
/** Batches whose messages are remembered in case their node is not there: that is told within milliseconds. */
const SENT_MAX = 512;

/** Why a message could not be taken. */
type Untaken = 'overflow' | 'alone';

export interface OutgoingBatchesOptions {
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

  /** Undefined when it was taken. `alone`: it has to be sent by itself, and everything before it was sent. */
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
