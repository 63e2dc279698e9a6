// The ledger in the store's thread: sessions that race for the last credit, and leases that end by themselves.
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openSqliteStore, type SqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { creditOf, endOf, headOf, holdOf, ledgerRig, lineOf, OPERATOR, perMinute } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const opened: SqliteStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function customerOf(store: SqliteStore, credit: bigint, limit: bigint | null = 0n) {
  const { id: organisationId } = await store.createOrganisation('Customer', limit, OPERATOR);
  const { key } = await store.createKey(organisationId, {}, OPERATOR);
  await store.addCredit(creditOf(organisationId, credit), OPERATOR);
  return { organisationId, keyId: key.id };
}

async function open(directory: string): Promise<SqliteStore> {
  const store = await openSqliteStore({ directory });
  opened.push(store);
  return store;
}

test('100 sessions race for the last 0.05 USD: no more than that is lent, and the surplus is refused', async () => {
  const directory = temporaryDirectory();
  const stores = [await open(directory), await open(directory)];
  const who = await customerOf(stores[0]!, 50_000n);
  const heads = Array.from({ length: 100 }, (_, index) => headOf(who, `ses_${index}`));
  const outcomes = await Promise.allSettled(
    heads.map((head, index) => stores[index % 2]!.openSession(head, holdOf(4_300n, 1_000n))),
  );
  const granted = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value.heldMicroUsd] : []));
  expect(granted.sort()).toEqual([2_700n, ...Array.from({ length: 11 }, () => 4_300n)]);
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.reason as string] : []));
  expect(refused).toEqual(Array.from({ length: 88 }, () => 'insufficient_credit'));
  expect(await stores[1]!.balanceOf(who.organisationId)).toMatchObject({
    heldMicroUsd: 50_000n,
    availableMicroUsd: 0n,
  });
  // Each uses what it was lent, at the same time.
  const price = perMinute(60_000n);
  const ends = await Promise.all(
    heads.flatMap((head, index) => {
      const outcome = outcomes[index]!;
      if (outcome.status === 'rejected') return [];
      const line = lineOf(Number(outcome.value.heldMicroUsd), price);
      return [1, 2].map((repeat) => stores[repeat % 2]!.settleSession(head, endOf([line])));
    }),
  );
  expect(ends).toHaveLength(24);
  expect(await stores[0]!.balanceOf(who.organisationId)).toMatchObject({ balanceMicroUsd: 0n, heldMicroUsd: 0n });
  expect(await stores[0]!.auditLedger()).toMatchObject({ ok: true, faults: [], openHolds: 0 });
});

test('gives one welcome credit for any number of simultaneous requests', async () => {
  const store = await open(temporaryDirectory());
  const who = await customerOf(store, 1n);
  const welcome = creditOf(who.organisationId, 2_000_000n, { kind: 'welcome', uniqueKey: 'ada@example.com' });
  const given = await Promise.all(Array.from({ length: 50 }, () => store.addCredit(welcome, OPERATOR)));
  expect(given.filter(Boolean)).toHaveLength(1);
  expect((await store.balanceOf(who.organisationId)).balanceMicroUsd).toBe(2_000_001n);
});

test('releases a hold when its lease ends, without any call', async () => {
  const directory = temporaryDirectory();
  const store = await open(directory);
  const who = await customerOf(store, 50_000n);
  // A key that seems revoked when a hold ends is the signal to wait for: the thread tells of those by itself.
  const { database } = ledgerRig(join(directory, 'voxgate.db'));
  database.exec(`CREATE TRIGGER told AFTER INSERT ON hold_ends BEGIN
    UPDATE api_keys SET revoked_at = new.kind, revocation = 1; END`);
  const told = new Promise((resolve) => store.onKeyRevoked(resolve));
  await store.openSession(headOf(who, 'ses_1'), holdOf(50_000n, 0n, 50));
  await told;
  expect(await store.balanceOf(who.organisationId)).toMatchObject({ heldMicroUsd: 0n });
  expect(database.prepare('SELECT kind FROM hold_ends').pluck().all()).toEqual(['expire']);
  database.close();
});
