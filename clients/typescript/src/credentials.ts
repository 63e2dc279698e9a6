// The credential of the next request or connection. Tokens are asked for anew for every connection, and again where the one
// that came is about to end. A credential goes into a header or a subprotocol, never into a URL, an error or a log.
import { AuthenticationError, ConnectionError, VoxgateError } from './errors.ts';
import type { Credential, TokenGrant } from './settings.ts';

/** A token with less left may end before the handshake is judged. */
const REMAINING_MS_MIN = 5_000;

export class Credentials {
  readonly #credential: Credential;

  constructor(credential: Credential) {
    this.#credential = credential;
  }

  /** Whether a refused token can be replaced. */
  get isRenewable(): boolean {
    return this.#credential.kind === 'getToken';
  }

  /** For a REST request. @param takesTokens whether the gateway takes client tokens for it, where their key allows that */
  async forRequest(takesTokens = false): Promise<string> {
    if (takesTokens) return this.forConnection();
    if (this.#credential.kind === 'apiKey') return this.#credential.secret;
    throw new AuthenticationError(
      'A client token opens live sessions and uploads files. Call this on your server, with `apiKey`.',
      {
        code: 'token_not_allowed',
      },
    );
  }

  /** For a connection. Throws what `getToken` threw, as the cause of an error that may be tried again. */
  async forConnection(): Promise<string> {
    const credential = this.#credential;
    if (credential.kind !== 'getToken') return credential.secret;
    const grant = await granted(credential.getToken);
    return isEnding(grant) ? (await granted(credential.getToken)).token : grant.token;
  }
}

async function granted(getToken: () => string | TokenGrant | Promise<string | TokenGrant>): Promise<TokenGrant> {
  let answer: string | TokenGrant;
  try {
    answer = await getToken();
  } catch (cause) {
    // What an error of ours says about trying again holds.
    if (cause instanceof VoxgateError) throw cause;
    throw new ConnectionError('`getToken` failed; its error is the cause.', { code: 'token_unavailable', cause });
  }
  const grant = typeof answer === 'string' ? { token: answer } : answer;
  if (typeof grant?.token === 'string' && /^[\w.~+/=-]+$/.test(grant.token)) return grant;
  throw new AuthenticationError('`getToken` gave no token: it gives a string, or {token, expires_at}.', {
    code: 'token_unavailable',
  });
}

function isEnding({ expires_at, ttl_seconds }: TokenGrant): boolean {
  if (ttl_seconds !== undefined) return ttl_seconds * 1000 < REMAINING_MS_MIN;
  const endsAt = expires_at === undefined ? Number.NaN : Date.parse(expires_at);
  return endsAt - Date.now() < REMAINING_MS_MIN;
}
