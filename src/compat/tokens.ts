// What other vendors' clients request before a live session: a client token, as `POST /v1/tokens` gives it, or a call, whose answer is
// the address of a WebSocket with such a token in it.
import type { Authenticator } from '../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../accounts/auth/limits.ts';
import { apiError } from '../api/errors.ts';
import { TOKEN_TTL_SECONDS } from '../api/tokens.ts';
import { warningHeader } from '../files/routes/answer.ts';
import { readJson } from '../http/json-body.ts';
import type { Route } from '../http/router.ts';
import type { ServerRequest } from '../http/server.ts';
import type { ChainDependencies } from '../live/failover/chain.ts';
import { chainFor } from '../live/socket/admission.ts';
import type { Call, Dialect, TokenEndpoint } from '../vendors/compat/dialect.ts';
import { type JsonObject, objectIn } from '../vendors/kit/json.ts';
import { parametersFor, unmetOf } from './parameters.ts';
import { addressOf, dialectRoutes, type Handler, type Keyed } from './routes.ts';

interface TokenDependencies {
  authenticator: Pick<Authenticator, 'mint'>;
  limits: Pick<KeyLimits, 'takeToken'>;
  jsonBodyBytesMax: number;
}

export const tokenRoutes = (dependencies: TokenDependencies, keyed: Keyed): Route[] =>
  dialectRoutes(
    ({ tokens }) => tokens,
    (endpoint) => mintAt(endpoint, dependencies),
    keyed,
  );

/** No body is one without members. Throws an ApiError. */
async function membersOf(request: ServerRequest, bytesMax: number): Promise<JsonObject> {
  const body = (await readJson(request, bytesMax)) ?? {};
  if (objectIn(body) === body) return body as JsonObject;
  throw apiError('invalid_request', 'The body is a JSON object, or absent.');
}

const mintAt =
  (endpoint: TokenEndpoint, { authenticator, limits, jsonBodyBytesMax }: TokenDependencies): Handler =>
  async ({ request, requestId }, caller) => {
    const handshake = { query: new URLSearchParams(request.query), headers: request.headers, requestId };
    const body = request.method === 'GET' ? {} : await membersOf(request, jsonBodyBytesMax);
    const { min, max, default: usual } = TOKEN_TTL_SECONDS;
    const asked = Math.floor(endpoint.open(handshake, body) ?? usual);
    const headers = limits.takeToken(caller.key);
    const { token, expires_at, ttl_seconds } = authenticator.mint(caller, Math.min(max, Math.max(min, asked)));
    const answered = endpoint.answer({ token, seconds: ttl_seconds, expiresAt: expires_at }, body, handshake);
    return { ...answered, headers: { ...headers, ...answered.headers } };
  };

interface CallDependencies extends TokenDependencies, ChainDependencies {
  wallNow(): Date;
}

export const callRoutes = (dependencies: CallDependencies, keyed: Keyed): Route[] =>
  dialectRoutes(
    ({ calls }) => calls,
    (call, dialect) => answerFor(dialect, call, dependencies),
    keyed,
  );

const answerFor =
  (dialect: Dialect, call: Call, dependencies: CallDependencies): Handler =>
  async ({ request, requestId }, caller) => {
    const { authenticator, limits, jsonBodyBytesMax, wallNow } = dependencies;
    const handshake = { query: new URLSearchParams(request.query), headers: request.headers, requestId };
    const { request: clientRequest, answer } = call.open(handshake, await readJson(request, jsonBodyBytesMax));
    // Refused here, where the client can read it, and not by the handshake.
    await chainFor(parametersFor(dialect, clientRequest, caller.key), caller, dependencies);
    const headers = limits.takeToken(caller.key);
    const answered = answer({
      mint: () => authenticator.mint(caller, TOKEN_TTL_SECONDS.default).token,
      socketUrl: (path) => addressOf(dialect, path, request, 'ws'),
      at: wallNow(),
    });
    const warnings = warningHeader(unmetOf(dialect, clientRequest, caller.key));
    return { ...answered, headers: { ...headers, ...warnings, ...answered.headers } };
  };
