// Client tokens for the console's playground. They belong to an API key of the organisation that is made for it at the first use,
// whose secret nobody has: it stands in the list of keys like any other, with its limits, and can be revoked there.
import { EmptyBody } from '../../../api/console/console.ts';
import { TOKEN_TTL_SECONDS } from '../../../api/tokens.ts';
import type { Authenticator } from '../../../auth/authenticate.ts';
import type { KeyLimits } from '../../../auth/limits.ts';
import type { ApiKey, Store } from '../../../store/store.ts';
import { json, type Route } from '../../router.ts';
import type { ConsoleContext, ConsoleRoute } from './console-route.ts';
import { ACTIVE_KEYS_MAX, statusOf } from './keys.ts';
import { readBody } from './read-body.ts';

const NAME = 'Playground';

export interface PlaygroundDependencies {
  store: Pick<Store, 'listKeys' | 'createKey'>;
  authenticator: Pick<Authenticator, 'mint'>;
  limits: Pick<KeyLimits, 'takeToken'>;
  /** Wall-clock milliseconds. */
  nowMs(): number;
}

export function playgroundRoutes(consoleRoute: ConsoleRoute, dependencies: PlaygroundDependencies): Route[] {
  return [consoleRoute('POST playground', mint(dependencies), { verified: true })];
}

const mint =
  (dependencies: PlaygroundDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    const key = await keyOf(dependencies, organisationId, by);
    const headers = dependencies.limits.takeToken(key);
    const caller = { organisationId, keyId: key.id, key, via: 'key' } as const;
    return json(200, dependencies.authenticator.mint(caller, TOKEN_TTL_SECONDS.default), headers);
  };

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
