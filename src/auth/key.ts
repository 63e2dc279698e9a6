// Which API key a text is. Typos are told by the checksum, before the store is asked; what the key may do is decided elsewhere.
import { type Refusal, refuse } from '../api/errors.ts';
import { parseKey } from '../store/secrets.ts';
import type { ApiKey, Store } from '../store/store.ts';
import { StoreError } from '../store/store-error.ts';

const STORE_RETRY_SECONDS = 1;

/**
 * The active key of this text. Nothing is cached, so a new key works and a revoked one stops at once.
 *
 * @throws Refusal `invalid_api_key` for what is mistyped or unknown (in the same words), `key_revoked`, or `overloaded`
 * when the store cannot answer
 */
export async function authenticateKey(store: Pick<Store, 'findKeyByHash'>, text: string): Promise<ApiKey> {
  const trace = parseKey(text);
  if (trace === undefined) throw invalidKey();
  const key = await store.findKeyByHash(trace.hash).catch((error: unknown) => {
    throw unanswered(error);
  });
  if (key === undefined) throw invalidKey();
  if (key.revokedAt !== null) throw keyRevoked();
  return key;
}

/** One refusal for typos and unknown keys alike: it does not tell which keys exist. */
function invalidKey(): Refusal {
  return refuse(
    'invalid_api_key',
    'The API key is mistyped or unknown; a key is `sk_vox_` and 38 letters and digits. Copy it again as it was shown, or mint a new one.',
  );
}

export function keyRevoked(): Refusal {
  return refuse(
    'key_revoked',
    'The API key was revoked, and with it every client token that it minted. Use another key or mint a new one.',
  );
}

/** A store that could not answer is no verdict on the key. The cause is for the log. */
function unanswered(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const refusal = refuse('overloaded', 'The API key could not be checked just now. Try again in a moment.', {
    retryAfterSeconds: STORE_RETRY_SECONDS,
  });
  return Object.assign(refusal, { cause: error });
}
