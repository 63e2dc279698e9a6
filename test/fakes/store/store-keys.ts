// Keys with settings of their own, made in the data directory of a running gateway as the console or the command line does.
import type { ApiKey, CreatedKey, KeySettings } from '../../../src/accounts/keys/calls.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Store } from '../../../src/node/store/store.ts';

const by = { type: 'operator', id: 'test' } as const;

async function within<Result>(directory: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openSqliteStore({ directory });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** One key for each of the settings, in the first organisation. */
export function createKeys(directory: string, settings: readonly Partial<KeySettings>[]): Promise<CreatedKey[]> {
  return within(directory, async (store) => {
    const [organisation] = await store.listOrganisations();
    return Promise.all(settings.map((each) => store.createKey(organisation!.id, each, by)));
  });
}

/** Revokes them in their order; resolves when all are revoked. */
export function revokeKeys(directory: string, keys: readonly ApiKey[]): Promise<void> {
  return within(directory, async (store) => {
    await Promise.all(keys.map(({ id }) => store.revokeKey(null, id, by)));
  });
}
