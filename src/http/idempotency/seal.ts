// Answers at rest: encrypted, so that the file of the database holds no transcript, and bound to the key they belong to, so
// that none can be put in another's place.
import { keyFor, openBytes, sealBytes } from '../../runtime/sealing.ts';
import type { WholeReply } from '../door.ts';

const PURPOSE = 'voxgate idempotent answers v1';

/** A seal for one purpose, out of the node's secret. */
export class AnswerSeal {
  readonly #key: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#key = keyFor(PURPOSE, secret);
  }

  /** @param about what the answer belongs to; the same is needed to open it */
  seal({ status, headers = {}, body = '' }: WholeReply, about: string): Uint8Array {
    const head = Buffer.from(JSON.stringify({ status, headers, isText: typeof body === 'string' }));
    const headBytes = Buffer.alloc(4);
    headBytes.writeUInt32LE(head.length);
    return new Uint8Array(sealBytes(this.#key, about, headBytes, head, Buffer.from(body as string)));
  }

  /** Undefined for what was sealed with another secret, for something else, or not at all. */
  open(sealed: Uint8Array, about: string): WholeReply | undefined {
    const plain = openBytes(this.#key, about, sealed);
    if (plain === undefined) return undefined;
    const headEnd = 4 + plain.readUInt32LE(0);
    const head = JSON.parse(plain.toString('utf8', 4, headEnd)) as Omit<WholeReply, 'body'> & { isText: boolean };
    const body = plain.subarray(headEnd);
    const { status, headers = {}, isText } = head;
    return { status, headers, body: isText ? body.toString('utf8') : body };
  }
}
