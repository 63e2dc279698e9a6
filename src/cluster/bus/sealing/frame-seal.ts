// Seals a message on its way between nodes, and opens it: AES-256-GCM under a key of this start of the sender, with a counter as
// nonce, bound to the subject and the reply subject. senders.ts detects replays.
//
// Layout: wire version (one byte), lengths of name and hint, the sender's node, the hint of its key, the counter, milliseconds
// since the sender's start, the ciphertext, its tag.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { NONCE_BYTES } from '../../../runtime/sealing.ts';
import { HINT_BYTES, type KeyRing } from './key-ring.ts';

/** Increase it when older nodes could not read the message. Nodes with different wire versions refuse each other's messages. */
export const WIRE_VERSION = 2;
const ALGORITHM = 'aes-256-gcm';
const TAG_BYTES = 16;
const OPTIONS = { authTagLength: TAG_BYTES } as const;
const NUMBER_BYTES = 6;
const LENGTHS_BYTES = 3;
const NUMBERS_BYTES = 2 * NUMBER_BYTES;

export class Sealer {
  readonly #key: Uint8Array;
  readonly #head: Buffer;
  readonly #nonce = Buffer.alloc(NONCE_BYTES);
  readonly #now: () => number;
  readonly #sinceMs: number;
  #counter = 0;

  /** @param now monotonic milliseconds */
  constructor(ring: KeyRing, node: string, now = () => performance.now()) {
    const { key, hint } = ring.fresh();
    this.#key = key;
    this.#head = Buffer.concat([
      Buffer.from([WIRE_VERSION, node.length, hint.length]),
      Buffer.from(node, 'latin1'),
      hint,
      Buffer.alloc(NUMBERS_BYTES),
    ]);
    this.#now = now;
    this.#sinceMs = now();
  }

  /** Every message gets its own counter, even if it is not sent in the end. */
  seal(subject: string, reply: string, plain: Uint8Array): Buffer {
    const head = this.#head;
    const counterAt = head.length - NUMBERS_BYTES;
    this.#counter++;
    head.writeUIntBE(this.#counter, counterAt, NUMBER_BYTES);
    head.writeUIntBE(Math.floor(this.#now() - this.#sinceMs), counterAt + NUMBER_BYTES, NUMBER_BYTES);
    this.#nonce.writeUIntBE(this.#counter, NONCE_BYTES - NUMBER_BYTES, NUMBER_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, this.#nonce, OPTIONS);
    cipher.setAAD(about(head, subject, reply));
    const sealed = Buffer.allocUnsafe(head.length + plain.byteLength + TAG_BYTES);
    sealed.set(head);
    sealed.set(cipher.update(plain), head.length);
    cipher.final();
    sealed.set(cipher.getAuthTag(), head.length + plain.byteLength);
    return sealed;
  }
}

/** The unencrypted header of a message. */
export interface SealedHead {
  node: string;
  hint: Uint8Array;
  /** Identifies the sender's node and key, that is, one start of one node. */
  sender: string;
  counter: number;
  sentMs: number;
  length: number;
}

/** Undefined when it is not a sealed message; `version` when it may be one of another wire version. */
export function readHead(data: Buffer): SealedHead | 'version' | undefined {
  if (data.length < LENGTHS_BYTES) return undefined;
  const [version, nodeBytes, hintBytes] = data as unknown as [number, number, number];
  if (version !== WIRE_VERSION) return version > 0 && version < 32 ? 'version' : undefined;
  const hintAt = LENGTHS_BYTES + nodeBytes;
  const counterAt = hintAt + hintBytes;
  const length = counterAt + NUMBERS_BYTES;
  if (nodeBytes === 0 || !HINT_BYTES.includes(hintBytes) || data.length < length + TAG_BYTES) return undefined;
  return {
    node: data.toString('latin1', LENGTHS_BYTES, hintAt),
    hint: data.subarray(hintAt, counterAt),
    sender: data.toString('latin1', LENGTHS_BYTES, counterAt),
    counter: data.readUIntBE(counterAt, NUMBER_BYTES),
    sentMs: data.readUIntBE(counterAt + NUMBER_BYTES, NUMBER_BYTES),
    length,
  };
}

/** A copy of the plain bytes; undefined when the key or the subject is another one, or the message was altered. */
export function openFrame(
  key: Uint8Array,
  head: SealedHead,
  subject: string,
  reply: string,
  data: Buffer,
): Buffer | undefined {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUIntBE(head.counter, NONCE_BYTES - NUMBER_BYTES, NUMBER_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, OPTIONS);
  decipher.setAAD(about(data.subarray(0, head.length), subject, reply));
  decipher.setAuthTag(data.subarray(-TAG_BYTES));
  const plain = decipher.update(data.subarray(head.length, -TAG_BYTES));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}

const about = (head: Uint8Array, subject: string, reply: string): Buffer =>
  Buffer.concat([head, Buffer.from(`${subject}\n${reply}`)]);
