// Calls of other vendors' clients that a live session begins with: JSON in, and the address of a WebSocket out.

import { TOKEN_TTL_SECONDS } from '../../api/tokens.ts';
import type { Authenticator, Caller } from '../../auth/authenticate.ts';
import type { KeyLimits } from '../../auth/limits.ts';
import type { Call, Dialect } from '../../dialects/dialect.ts';
import { dialects } from '../../dialects/index.ts';
import type { ChainDependencies } from '../../failover/chain.ts';
import type { DoorRequest, Reply } from '../door.ts';
import { readJson } from '../http/json-body.ts';
import { chainFor } from '../listen/admission.ts';
import type { Route, RouteContext } from '../router.ts';
import { warningHeader } from '../routes/transcriptions/warnings.ts';
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
