// The tokens of mailed links and the ids of console sessions: made here, known to the mail or the cookie alone. On its way to
// the mail a token lies in the outbox sealed, so that the database by itself opens no link.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const TOKEN_FORM = /^[\w-]{43}$/;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';
const CONTEXT = 'voxgate mail token v1';

/** 256 random bits as 43 characters of base64url. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** What is kept of a token; undefined for a text that is none. */
export function tokenHash(token: string): Uint8Array | undefined {
  return TOKEN_FORM.test(token) ? createHash('sha256').update(token).digest() : undefined;
}

export interface SealedToken {
  hash: Uint8Array;
  sealed: string;
}

/** Seals tokens for the outbox and opens them for the mail, with a key of its own drawn from the node's secret. */
export class TokenSeal {
  readonly #key: Uint8Array;
  readonly #previousKey: Uint8Array | undefined;

  /** @param previousSecret opens what was sealed before the secret was changed; seals nothing */
  constructor(secret: Uint8Array, previousSecret?: Uint8Array) {
    this.#key = keyOf(secret);
    this.#previousKey = previousSecret === undefined ? undefined : keyOf(previousSecret);
  }

  /** A new token, sealed; nobody but `open` ever sees it. */
  issue(): SealedToken {
    const token = newToken();
    return { hash: tokenHash(token)!, sealed: this.seal(token) };
  }

  seal(token: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(CONTEXT));
    const sealed = Buffer.concat([nonce, cipher.update(token, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${sealed.toString('base64url')}`;
  }

  /** Undefined for what was sealed with neither secret. */
  open(text: string): string | undefined {
    const [version, body = ''] = text.split('.');
    const bytes = Buffer.from(body, 'base64url');
    if (version !== VERSION || bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    return openedWith(this.#key, bytes) ?? (this.#previousKey && openedWith(this.#previousKey, bytes));
  }
}

function openedWith(key: Uint8Array, bytes: Buffer): string | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(CONTEXT));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyOf(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, new Uint8Array(0), CONTEXT, KEY_BYTES));
}
