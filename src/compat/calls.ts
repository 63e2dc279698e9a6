// Calls of other vendors' clients that a live session begins with: JSON in, and the address of a WebSocket out.

import type { Authenticator, Caller } from '../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../accounts/auth/limits.ts';
import { TOKEN_TTL_SECONDS } from '../api/tokens.ts';
import { warningHeader } from '../files/routes/warnings.ts';
import type { DoorRequest, Reply } from '../http/door.ts';
import { readJson } from '../http/http/json-body.ts';
import type { Route, RouteContext } from '../http/router.ts';
import type { ChainDependencies } from '../live/failover/chain.ts';
import { chainFor } from '../live/socket/admission.ts';
import type { Call, Dialect } from '../vendors/compat/dialect.ts';
import { dialects } from '../vendors/compat/index.ts';
import { headerCredentialOf } from './header-credential.ts';
import { parametersFor, unmetOf } from './live.ts';
import { addressOf, pathOf } from './routes.ts';

interface CallDependencies extends ChainDependencies {
  authenticator: Pick<Authenticator, 'mint'>;
  limits: Pick<KeyLimits, 'takeToken'>;
  jsonBodyBytesMax: number;
  wallNow(): Date;
}

type Post = (context: RouteContext, caller: Caller) => Promise<Reply>;
type Keyed = (handler: Post, credentialOf: (request: DoorRequest) => string | undefined) => Route['handle'];

export const callRoutes = (dependencies: CallDependencies, keyed: Keyed): Route[] =>
  dialects.flatMap((dialect) =>
    Object.entries(dialect.calls ?? {}).map(([path, call]) => ({
      method: 'POST',
      path: pathOf(dialect, path),
      handle: keyed(answerFor(dialect, call, dependencies), headerCredentialOf(dialect)),
      refusal: dialect.refusal,
    })),
  );

const answerFor =
  (dialect: Dialect, call: Call, dependencies: CallDependencies): Post =>
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
