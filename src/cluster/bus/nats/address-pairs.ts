// Pairs of sender and recipient on another node: the subject to send to, and the reply subject on which an undelivered message is
// reported. Bounded: an undelivered message of a pair that is no longer remembered is counted without addresses.
import type { Address } from '../bus.ts';
import { isOfNode } from '../subjects.ts';
import { partsOf } from './frames.ts';
import { MESSAGE, type Subjects, UNDELIVERED } from './subjects.ts';

const PAIRS_MAX = 65_536;

export interface AddressPair {
  readonly id: number;
  readonly from: Address;
  readonly to: Address;
  /** The node of `to`. */
  readonly node: string;
  readonly subject: string;
  /** The message's type is appended. */
  readonly reply: string;
  /** Recipient and sender on their nodes, as they stand in a batch; undefined where the sender is none of this node. */
  readonly names: Uint8Array | undefined;
}

export class AddressPairs {
  readonly #subjects: Subjects;
  readonly #node: string;
  readonly #max: number;
  readonly #bySender = new Map<Address, Map<Address, AddressPair>>();
  readonly #byId = new Map<number, AddressPair>();
  #lastId = 0;

  constructor(subjects: Subjects, node: string, max = PAIRS_MAX) {
    this.#subjects = subjects;
    this.#node = node;
    this.#max = max;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Undefined when `to` is not an address. */
  of(from: Address, to: Address): AddressPair | undefined {
    return this.#bySender.get(from)?.get(to) ?? this.#make(from, to);
  }

  /** Undefined when the pair is not remembered. */
  byId(id: number): AddressPair | undefined {
    return this.#byId.get(id);
  }

  /** The sender has ended. */
  forget(from: Address): void {
    for (const { id } of this.#bySender.get(from)?.values() ?? []) this.#byId.delete(id);
    this.#bySender.delete(from);
  }

  #make(from: Address, to: Address): AddressPair | undefined {
    const parts = partsOf(to);
    if (parts === undefined) return undefined;
    if (this.#byId.size >= this.#max) this.#dropOldest();
    const id = ++this.#lastId;
    const pair: AddressPair = {
      id,
      from,
      to,
      node: parts.node,
      subject: `${this.#subjects.ofNode(parts.node)}${MESSAGE}.${parts.actor}`,
      reply: undeliveredReply(this.#subjects, this.#node, id),
      names: isOfNode(from, this.#node) ? namesBytes(parts.actor, partsOf(from)?.actor) : undefined,
    };
    this.#byId.set(id, pair);
    const pairs = this.#bySender.get(from) ?? new Map<Address, AddressPair>();
    this.#bySender.set(from, pairs.set(to, pair));
    return pair;
  }

  #dropOldest(): void {
    for (const { id, from, to } of this.#byId.values()) {
      this.#byId.delete(id);
      const pairs = this.#bySender.get(from);
      pairs?.delete(to);
      if (pairs?.size === 0) this.#bySender.delete(from);
      return;
    }
  }
}

/** Where the sender is told that a message of a pair was not delivered; the message's type is appended. */
export const undeliveredReply = (subjects: Subjects, node: string, pair: number): string =>
  `${subjects.ofNode(node)}${UNDELIVERED}.${pair.toString(36)}.`;

/** The lengths of both names, and both; a safe name is no longer than a byte can say. */
function namesBytes(to: string, from: string | undefined): Uint8Array | undefined {
  return from === undefined
    ? undefined
    : Buffer.from(`${String.fromCharCode(to.length, from.length)}${to}${from}`, 'latin1');
}
