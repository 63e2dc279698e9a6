// Answers at rest: encrypted, so that the file of the database holds no transcript, and bound to the key they belong to, so
// that none can be put in another's place.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Reply } from './door.ts';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE = 'voxgate idempotent answers v1';

/** A seal for one purpose, out of the node's secret. */
export class AnswerSeal {
  readonly #key: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), PURPOSE, 32));
  }

  /** @param about what the answer belongs to; the same is needed to open it */
  seal({ status, headers = {}, body = '' }: Reply, about: string): Uint8Array {
    const head = Buffer.from(JSON.stringify({ status, headers, isText: typeof body === 'string' }));
    const headBytes = Buffer.alloc(4);
    headBytes.writeUInt32LE(head.length);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce);
    cipher.setAAD(Buffer.from(about));
    const sealed = [
      cipher.update(headBytes),
      cipher.update(head),
      cipher.update(Buffer.from(body as string)),
      cipher.final(),
    ];
    return new Uint8Array(Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]));
  }

  /** Undefined for what was sealed with another secret, for something else, or not at all. */
  open(sealed: Uint8Array, about: string): Reply | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, sealed.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(about));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const plain = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      const headEnd = 4 + plain.readUInt32LE(0);
      const head = JSON.parse(plain.toString('utf8', 4, headEnd)) as Omit<Reply, 'body'> & { isText: boolean };
      const body = plain.subarray(headEnd);
      const { status, headers = {}, isText } = head;
      return { status, headers, body: isText ? body.toString('utf8') : body };
    } catch {
      return undefined;
    }
  }
}
