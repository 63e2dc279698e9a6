// Bills that nobody waits for: they share a commit, and nobody can tell from what is asked after them.
import { beforeEach, expect, test } from 'vitest';
import type { SqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { OPERATOR, openStore } from '../../fakes/store/data-directory.ts';
import { creditOf, endOf, headOf, holdOf, lineOf, perMinute } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

let directory: string;
let store: SqliteStore;
let customer: { organisationId: string; keyId: string };

beforeEach(async () => {
  directory = temporaryDirectory();
  store = await openStore(directory);
  const { id: organisationId } = await store.createOrganisation('Prepaid', 0n, OPERATOR);
  await store.addCredit(creditOf(organisationId, 100n), OPERATOR);
  customer = { organisationId, keyId: (await store.createKey(organisationId, {}, OPERATOR)).key.id };
});

const head = (id: string) => headOf(customer, id, { mode: 'batch' });
const bill = (microUsd: bigint) => endOf([lineOf(60_000, perMinute(microUsd))]);

test('are written before anything that is requested after them', async () => {
  const settled = store.settleSoon(head('one'), bill(30n));
  expect(await store.balanceOf(customer.organisationId)).toMatchObject({ balanceMicroUsd: 70n });
  expect(await settled).toMatchObject({ costMicroUsd: 30n });
});

test('are written after a moment when nothing is requested', async () => {
  const settled = [store.settleSoon(head('one'), bill(30n)), store.settleSoon(head('two'), bill(20n))];
  expect(store.waitingCalls).toBe(2);
  expect(await Promise.all(settled)).toMatchObject([{ costMicroUsd: 30n }, { costMicroUsd: 20n }]);
});

test('are written when the store is closed', async () => {
  const settled = store.settleSoon(head('one'), bill(30n));
  await store.close();
  expect(await settled).toMatchObject({ costMicroUsd: 30n });
  const again = await openStore(directory);
  expect(await again.balanceOf(customer.organisationId)).toMatchObject({ balanceMicroUsd: 70n });
});

test('let a hold pass that there is room for', async () => {
  await store.openSession(head('one'), holdOf(40n, 40n));
  const order: string[] = [];
  const settled = store.settleSoon(head('one'), bill(30n)).then(() => order.push('bill'));
  await store.openSession(head('two'), holdOf(60n, 60n)).then(() => order.push('hold'));
  await settled;
  expect(order).toEqual(['hold', 'bill']);
});

test('make room for a hold before it is refused', async () => {
  await store.openSession(head('one'), holdOf(100n, 100n));
  void store.settleSoon(head('one'), bill(30n));
  expect(await store.openSession(head('two'), holdOf(70n, 70n))).toMatchObject({ heldMicroUsd: 70n });
  void store.settleSoon(head('two'), bill(10n));
  await expect(store.openSession(head('three'), holdOf(61n, 61n))).rejects.toMatchObject({
    reason: 'insufficient_credit',
  });
  expect(store.waitingCalls).toBe(0);
});

test('make room for a hold that may be less than it wants', async () => {
  await store.openSession(head('one'), holdOf(100n, 100n));
  void store.settleSoon(head('one'), bill(30n));
  expect(await store.openSession(head('two'), holdOf(90n, 1n))).toMatchObject({ heldMicroUsd: 70n });
});

test('come before another attempt at the same file', async () => {
  void store.settleSoon(head('one'), bill(30n));
  expect(await store.openSession(head('one'), holdOf(20n, 20n))).toMatchObject({ settled: true });
  expect(await store.balanceOf(customer.organisationId)).toMatchObject({ balanceMicroUsd: 70n, heldMicroUsd: 0n });
});

test('follow a hold that was requested before them', async () => {
  void store.listKeys();
  const held = store.openSession(head('one'), holdOf(40n, 40n));
  const settled = store.settleSoon(head('one'), bill(30n));
  expect(await held).toMatchObject({ heldMicroUsd: 40n });
  expect(await settled).toMatchObject({ costMicroUsd: 30n });
  expect(await store.balanceOf(customer.organisationId)).toMatchObject({ balanceMicroUsd: 70n, heldMicroUsd: 0n });
});

test('leave at once when there are many', async () => {
  const settled = Array.from({ length: 600 }, (_, index) => store.settleSoon(head(`file ${index}`), bill(0n)));
  expect((await Promise.all(settled)).map(({ id }) => id)).toEqual(settled.map((_, index) => `file ${index}`));
});
