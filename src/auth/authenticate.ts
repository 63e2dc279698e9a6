// Who is calling: turns a credential into a caller or a refusal, and mints client tokens. Where the credential came from is
// the edge's business, what the caller may use is decided later.
import { type Refusal, refuse } from '../api/errors.ts';
import { TOKEN_TTL_SECONDS, type TokenResponse } from '../api/tokens.ts';
import { uuidv7 } from '../runtime/uuid.ts';
import type { Store } from '../store/store.ts';
import { authenticateKey, keyRevoked } from './key.ts';
import { judgeToken, mintToken, TOKEN_PREFIX, verifyToken } from './token.ts';

/** On whose behalf a request is made. A token's caller has the organisation, the bill and the limits of the key `keyId`. */
export interface Caller {
  organisationId: string;
  keyId: string;
  via: 'key' | 'token';
  /** Only with `via: 'token'`. */
  tokenId?: string;
}

export interface Authenticator {
  /** Takes API keys. Throws a Refusal; `token_not_allowed` for every client token. */
  rest(credential: string | undefined): Promise<Caller>;
  /** Takes API keys and client tokens, at the handshake only. Throws a Refusal. */
  socket(credential: string | undefined): Promise<Caller>;
  /** A client token of the caller's key. Throws a Refusal when the caller is one itself. */
  mint(caller: Caller, ttlSeconds: number): TokenResponse;
  /** Stops listening to the store. */
  close(): void;
}

export interface AuthenticatorOptions {
  store: Pick<Store, 'findKeyByHash' | 'revokedKeyIds' | 'onKeyRevoked'>;
  /** Signs client tokens; the same on every node. */
  secret: Uint8Array;
  /** Wall-clock milliseconds. */
  now: () => number;
}

/** Rejects when the store cannot say which keys are revoked. */
export async function createAuthenticator({ store, secret, now }: AuthenticatorOptions): Promise<Authenticator> {
  // As large as the number of revoked keys: forgetting one would bring its tokens back to life.
  const revokedKeys = new Set<string>();
  // Listening first leaves no gap between what was revoked before and what is revoked from now on.
  const stopListening = store.onKeyRevoked((keyId) => revokedKeys.add(keyId));
  try {
    for (const keyId of await store.revokedKeyIds()) revokedKeys.add(keyId);
  } catch (error) {
    stopListening();
    throw error;
  }

  async function callerOfKey(credential: string): Promise<Caller> {
    const key = await authenticateKey(store, credential);
    return { organisationId: key.organisationId, keyId: key.id, via: 'key' };
  }

  function callerOfToken(credential: string): Caller {
    const nowMs = now();
    const payload = verifyToken(secret, credential, nowMs);
    if (payload === undefined) throw invalidToken();
    const decision = judgeToken(payload, nowMs, revokedKeys.has(payload.key));
    if (decision !== 'allowed') throw TOKEN_REFUSALS[decision]();
    return { organisationId: payload.org, keyId: payload.key, via: 'token', tokenId: payload.jti };
  }

  return {
    rest: async (credential) => {
      if (credential === undefined || credential === '') throw missingCredential();
      if (credential.startsWith(TOKEN_PREFIX)) throw tokenNotAllowed();
      return callerOfKey(credential);
    },
    socket: async (credential) => {
      if (credential === undefined || credential === '') throw missingCredential();
      return credential.startsWith(TOKEN_PREFIX) ? callerOfToken(credential) : callerOfKey(credential);
    },
    mint: (caller, ttlSeconds) => {
      if (caller.via === 'token') throw tokenNotAllowed();
      requireTtl(ttlSeconds);
      const issuedAtMs = now();
      const expiresAtMs = issuedAtMs + ttlSeconds * 1000;
      const token = mintToken(secret, {
        v: 1,
        jti: uuidv7(issuedAtMs),
        key: caller.keyId,
        org: caller.organisationId,
        iat: issuedAtMs,
        exp: expiresAtMs,
      });
      return { token, expires_at: new Date(expiresAtMs).toISOString(), ttl_seconds: ttlSeconds };
    },
    close: stopListening,
  };
}

function requireTtl(ttlSeconds: number): void {
  const { min, max } = TOKEN_TTL_SECONDS;
  if (Number.isInteger(ttlSeconds) && ttlSeconds >= min && ttlSeconds <= max) return;
  throw refuse('invalid_request', `\`ttl_seconds\` is ${ttlSeconds}; it is an integer from ${min} to ${max}.`, {
    param: 'ttl_seconds',
  });
}

function missingCredential(): Refusal {
  return refuse(
    'missing_credential',
    'No credential was given. Send an API key in the header `Authorization: Bearer sk_vox_…`.',
  );
}

function tokenNotAllowed(): Refusal {
  return refuse(
    'token_not_allowed',
    'A client token opens `/v1/listen` only; it takes no REST request and mints no token. Use an API key from a server.',
  );
}

function invalidToken(): Refusal {
  return refuse(
    'invalid_token',
    'The client token is malformed or was not signed here. Mint a new one with `POST /v1/tokens`.',
  );
}

function tokenExpired(): Refusal {
  return refuse('token_expired', 'The client token’s lifetime is over. Mint a new one with `POST /v1/tokens`.');
}

const TOKEN_REFUSALS = { token_expired: tokenExpired, key_revoked: keyRevoked, token_not_allowed: tokenNotAllowed };
