// Suspending an organisation: every process on the file hears of it, once, and what a gateway remembers of its keys goes.
import { expect, test } from 'vitest';
import type { SuspensionChange } from '../../../src/accounts/keys/calls.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const BY = { type: 'operator', id: 'test' } as const;

/** The next so many that a store hears. */
function heard(store: Store, count: number): Promise<SuspensionChange[]> {
  const news: SuspensionChange[] = [];
  return new Promise((resolve) => {
    const leave = store.onSuspension((each) => {
      news.push(each);
      if (news.length < count) return;
      leave();
      resolve(news);
    });
  });
}

test('reaches every store on the directory once, and so does its end', async () => {
  const directory = temporaryDirectory();
  const [here, there] = [await openSqliteStore({ directory }), await openSqliteStore({ directory })];
  const { id } = await here.createOrganisation('A', 0n, BY);
  const both = Promise.all([heard(here, 2), heard(there, 2)]);
  const suspendedThere = heard(there, 1);
  await here.setSuspended(id, true, BY);
  await here.setSuspended(id, true, BY);
  // The other one reads the file when it is told that something has changed: one change after the other.
  await suspendedThere;
  await here.setSuspended(id, false, BY);
  expect(await both).toEqual([
    [
      { organisationId: id, suspended: true },
      { organisationId: id, suspended: false },
    ],
    [
      { organisationId: id, suspended: true },
      { organisationId: id, suspended: false },
    ],
  ]);
  await Promise.all([here.close(), there.close()]);
});

test('causes no event in a store opened later', async () => {
  const directory = temporaryDirectory();
  const first = await openSqliteStore({ directory });
  const { id } = await first.createOrganisation('A', 0n, BY);
  await first.setSuspended(id, true, BY);
  await first.close();
  const second = await openSqliteStore({ directory });
  const news = heard(second, 1);
  await second.setSuspended(id, false, BY);
  expect(await news).toEqual([{ organisationId: id, suspended: false }]);
  await second.close();
});
