// Requests of other vendors' clients for a short-lived credential: a client token, as `POST /v1/tokens` gives it.

import type { Authenticator, Caller } from '../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../accounts/auth/limits.ts';
import { refuse } from '../api/errors.ts';
import { TOKEN_TTL_SECONDS } from '../api/tokens.ts';
import type { DoorRequest, Reply } from '../http/door.ts';
import { readJson } from '../http/http/json-body.ts';
import type { Route, RouteContext } from '../http/router.ts';
import type { TokenEndpoint } from '../vendors/compat/dialect.ts';
import { dialects } from '../vendors/compat/index.ts';
import { type JsonObject, objectIn } from '../vendors/kit/json.ts';
import { headerCredentialOf } from './header-credential.ts';
import { pathOf } from './routes.ts';

interface TokenDependencies {
  authenticator: Pick<Authenticator, 'mint'>;
  limits: Pick<KeyLimits, 'takeToken'>;
  jsonBodyBytesMax: number;
}

type Handler = (context: RouteContext, caller: Caller) => Promise<Reply>;
type Keyed = (handler: Handler, credentialOf: (request: DoorRequest) => string | undefined) => Route['handle'];

export const tokenRoutes = (dependencies: TokenDependencies, keyed: Keyed): Route[] =>
  dialects.flatMap((dialect) =>
    Object.entries(dialect.tokens ?? {}).map(([place, door]) => {
      const [method, path] = place.split(' ') as [string, string];
      return {
        method,
        path: pathOf(dialect, path),
        handle: keyed(mintAt(door, dependencies), headerCredentialOf(dialect)),
        refusal: dialect.refusal,
      };
    }),
  );

/** No body is one without members. Throws a Refusal. */
async function membersOf(request: DoorRequest, bytesMax: number): Promise<JsonObject> {
  const body = (await readJson(request, bytesMax)) ?? {};
  if (objectIn(body) === body) return body as JsonObject;
  throw refuse('invalid_request', 'The body is a JSON object, or absent.');
}

const mintAt =
  (door: TokenEndpoint, { authenticator, limits, jsonBodyBytesMax }: TokenDependencies): Handler =>
  async ({ request, requestId }, caller) => {
    const handshake = { query: new URLSearchParams(request.query), headers: request.headers, requestId };
    const body = request.method === 'GET' ? {} : await membersOf(request, jsonBodyBytesMax);
    const { min, max, default: usual } = TOKEN_TTL_SECONDS;
    const asked = Math.floor(door.open(handshake, body) ?? usual);
    const headers = limits.takeToken(caller.key);
    const { token, expires_at, ttl_seconds } = authenticator.mint(caller, Math.min(max, Math.max(min, asked)));
    const answered = door.answer({ token, seconds: ttl_seconds, expiresAt: expires_at }, body, handshake);
    return { ...answered, headers: { ...headers, ...answered.headers } };
  };
