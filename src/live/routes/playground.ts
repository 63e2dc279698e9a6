// Client tokens for the console's playground. They belong to an API key of the organisation that is made for it at the first use,
// whose secret nobody has: it stands in the list of keys like any other, with its limits, and can be revoked there.

import type { Authenticator } from '../../accounts/auth/authenticate.ts';
import type { KeyLimits } from '../../accounts/auth/limits.ts';
import { type ConsoleContext, type ConsoleRoute, readBody } from '../../accounts/console-login/console-route.ts';
import type { ApiKey, KeyStore } from '../../accounts/keys/calls.ts';
import { ACTIVE_KEYS_MAX, statusOf } from '../../accounts/keys/routes.ts';
import { BreakBody, EmptyBody } from '../../api/console/console.ts';
import { apiError } from '../../api/errors.ts';
import { TOKEN_TTL_SECONDS } from '../../api/tokens.ts';
import { json, type Route } from '../../http/router.ts';
import type { BreakRequest, Broken } from '../session/watch/provider-break.ts';

const NAME = 'Playground';

export interface PlaygroundDependencies {
  store: Pick<KeyStore, 'listKeys' | 'createKey'>;
  authenticator: Pick<Authenticator, 'mint'>;
  limits: Pick<KeyLimits, 'takeToken'>;
  /** Lets the simulated provider of a person's own session fail, on any node. */
  breakProvider(request: BreakRequest): Promise<Broken>;
  /** Wall-clock milliseconds. */
  nowMs(): number;
}

export function playgroundRoutes(consoleRoute: ConsoleRoute, dependencies: PlaygroundDependencies): Route[] {
  return [
    consoleRoute('POST playground', mint(dependencies), { verified: true }),
    consoleRoute('POST playground/sessions/:id/break', breakDown(dependencies)),
  ];
}

function mint(dependencies: PlaygroundDependencies) {
  const keyFor = sharedKeys(dependencies);
  return async ({ request, organisationId, by, current }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    const key = await keyFor(organisationId, by);
    const headers = dependencies.limits.takeToken(key);
    const caller = { organisationId, keyId: key.id, key, via: 'key' } as const;
    const token = dependencies.authenticator.mint(caller, TOKEN_TTL_SECONDS.default, {}, current.person.id);
    return json(200, token, headers);
  };
}

/** Only where a simulator stands in the place of the provider, and in the caller's own session. */
const breakDown =
  ({ breakProvider }: PlaygroundDependencies) =>
  async ({ request, params, organisationId, current }: ConsoleContext) => {
    const { fault } = await readBody(request, BreakBody);
    const sessionId = params.id ?? '';
    const broken = await breakProvider({ sessionId, organisationId, personId: current.person.id, fault });
    if (broken === 'unknown') {
      throw apiError('not_found', 'This is not a running session that you started in the playground.', { param: 'id' });
    }
    if (broken === 'real') {
      throw apiError(
        'invalid_request',
        'No simulated provider serves this session now. Real providers cannot be broken: point the gateway at `voxgate simulate`.',
      );
    }
    if (broken === 'unreachable') {
      throw apiError('overloaded', 'The node of this session does not answer. Try again in a moment.', {
        retryAfterSeconds: 1,
      });
    }
    return { status: 204 };
  };

/** The key of an organisation: whoever comes while it is looked for shares the search, so that pages opened at once make one key. */
function sharedKeys(dependencies: PlaygroundDependencies) {
  const searches = new Map<string, Promise<ApiKey>>();
  return (organisationId: string, by: ConsoleContext['by']): Promise<ApiKey> => {
    const search =
      searches.get(organisationId) ??
      keyOf(dependencies, organisationId, by).finally(() => searches.delete(organisationId));
    searches.set(organisationId, search);
    return search;
  };
}

async function keyOf(
  { store, nowMs }: PlaygroundDependencies,
  organisationId: string,
  by: ConsoleContext['by'],
): Promise<ApiKey> {
  const keys = await store.listKeys(organisationId);
  const kept = keys.find(
    (key) => key.name === NAME && statusOf(key, nowMs()) === 'active' && key.scopes.includes('listen'),
  );
  if (kept !== undefined) return kept;
  const { key } = await store.createKey(
    organisationId,
    { name: NAME, scopes: ['listen', 'tokens'] },
    by,
    ACTIVE_KEYS_MAX,
  );
  return key;
}
