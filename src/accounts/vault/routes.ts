// The console's endpoints for provider keys: what is kept, never the secrets. Testing, sealing and what becomes of a key are
// the vault's; the organisation is always that of the session.
import { EmptyBody, ProviderKeyBody, type ProviderKeyList, type ProviderKeyView } from '../../api/console/console.ts';
import { json, type Route } from '../../http/router.ts';
import { apiKeyForm } from '../../vendors/kit/credentials.ts';
import type { Provider } from '../../vendors/kit/provider.ts';
import {
  type ConsoleContext,
  type ConsoleRoute,
  readBody,
  SETTINGS_BYTES_MAX,
} from '../console-login/console-route.ts';
import type { ProviderKey } from './store.ts';
import type { KeptKey, Vault } from './vault.ts';

export interface ProviderKeyRoutesDependencies {
  vault: Pick<Vault, 'save' | 'list' | 'test' | 'remove'>;
  providers: ReadonlyMap<string, Provider>;
}

/** For the console's further routes. */
export const providerKeyRoutes =
  (dependencies: ProviderKeyRoutesDependencies) =>
  (consoleRoute: ConsoleRoute): Route[] => {
    const verified = { verified: true };
    const confirmed = { verified: true, confirmed: true };
    return [
      consoleRoute('GET provider-keys', list(dependencies), verified),
      consoleRoute('POST provider-keys', save(dependencies), confirmed),
      consoleRoute('POST provider-keys/:id/test', test(dependencies), verified),
      // Without asking for the password: removing a leaked key is urgent.
      consoleRoute('DELETE provider-keys/:id', remove(dependencies), verified),
    ];
  };

const list =
  ({ vault, providers }: ProviderKeyRoutesDependencies) =>
  async ({ organisationId }: ConsoleContext) => {
    const keyed = [...providers.values()].filter(({ credential }) => credential === 'required');
    const answer: ProviderKeyList = {
      data: (await vault.list(organisationId)).map(viewOf),
      providers: keyed.map(({ name, title, credentialForm = apiKeyForm }) => ({ name, title, fields: credentialForm })),
    };
    return json(200, answer);
  };

const save =
  ({ vault }: ProviderKeyRoutesDependencies) =>
  async ({ request, organisationId, by }: ConsoleContext) => {
    const { provider, name = provider, fields } = await readBody(request, ProviderKeyBody, SETTINGS_BYTES_MAX);
    return json(201, answerOf(await vault.save(organisationId, { provider, name, fields }, by)));
  };

const test =
  ({ vault }: ProviderKeyRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    return json(200, answerOf(await vault.test(organisationId, params.id ?? '', by)));
  };

const remove =
  ({ vault }: ProviderKeyRoutesDependencies) =>
  async ({ request, params, organisationId, by }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    await vault.remove(organisationId, params.id ?? '', by);
    return json(200, { id: params.id, deleted: true });
  };

const answerOf = ({ key, warning }: KeptKey) => ({ key: viewOf(key), warning: warning ?? null });

const viewOf = (key: ProviderKey): ProviderKeyView => ({
  id: key.id,
  provider: key.provider,
  name: key.name,
  last_four: key.lastFour,
  fields: key.fields ?? null,
  state: key.state,
  created_at: key.createdAt,
  tested_at: key.testedAt,
  used_at: key.usedAt,
});
