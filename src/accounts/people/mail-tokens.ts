// The tokens of mailed links and the ids of console sessions: made here, known to the mail or the cookie alone. On its way to
// the mail a token lies in the outbox sealed, so that the database on its own opens no link.
import { createHash, randomBytes } from 'node:crypto';
import { keyFor, openBytes, sealBytes } from '../../runtime/sealing.ts';

const TOKEN_BYTES = 32;
const TOKEN_FORM = /^[\w-]{43}$/;
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
    this.#key = keyFor(CONTEXT, secret);
    this.#previousKey = previousSecret === undefined ? undefined : keyFor(CONTEXT, previousSecret);
  }

  /** A new token, sealed; only `open` can read it. */
  issue(): SealedToken {
    const token = newToken();
    return { hash: tokenHash(token)!, sealed: this.seal(token) };
  }

  seal(token: string): string {
    const sealed = sealBytes(this.#key, CONTEXT, Buffer.from(token, 'utf8'));
    return `${VERSION}.${sealed.toString('base64url')}`;
  }

  /** Undefined for what was sealed with neither secret. */
  open(text: string): string | undefined {
    const [version, body = ''] = text.split('.');
    const bytes = Buffer.from(body, 'base64url');
    if (version !== VERSION) return undefined;
    const opened =
      openBytes(this.#key, CONTEXT, bytes) ?? (this.#previousKey && openBytes(this.#previousKey, CONTEXT, bytes));
    return opened?.toString('utf8');
  }
}
