// The commands of operators at the node that owns the accounts: each change is made once, also when its answer is lost.
import { expect, test } from 'vitest';
import { createAccountsClient } from '../../src/cluster/accounts/client.ts';
import { operatorService } from '../../src/cluster/bus/subjects.ts';
import { answerOperatorCalls, createOperatorStore } from '../../src/node/store/operator-store.ts';
import { answerStoreCalls, STORE_GROUP } from '../../src/node/store/remote-store.ts';
import { CALL_NAMES } from '../../src/node/store/store.ts';
import type { Ask } from '../../src/store/operation.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { directStore } from '../fakes/store/direct-store.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';
import { accountsRig, reasonOf, SECRET } from './accounts-rig.ts';

const WAIT_MS = 600;

function rig() {
  const base = accountsRig();
  const serve = (store = base.direct.store) =>
    base.serve({ service: operatorService('0'), groups: new Map([[STORE_GROUP, answerOperatorCalls(store)]]) });
  const client = createAccountsClient({ bus: base.edge, secret: SECRET, serviceOf: operatorService });
  const store = createOperatorStore({ ask: client.ask, waitMs: WAIT_MS });
  return { ...base, serve, store, client };
}

/** Asks the store itself. `lost`: whether the answer of this call is lost, or the call before it was made. */
function losing(lost: (call: number) => 'answer' | 'call' | undefined) {
  const { store } = directStore();
  const answer = answerOperatorCalls(store);
  let calls = 0;
  const ask: Ask = async (_, organisationId, call, args) => {
    const fate = lost(calls++);
    if (fate === 'call') throw new StoreError('unreachable', 'No owner.', { isUnsent: true });
    const answered = await answer({ organisationId, call, args });
    if (fate === 'answer') throw new StoreError('unreachable', 'The owner is gone.');
    return answered;
  };
  return { direct: store, ask, store: createOperatorStore({ ask, waitMs: WAIT_MS }) };
}

test('a key is created at the owner, and its text never leaves the command', async () => {
  const { store, serve, direct, carried } = rig();
  serve();
  const organisation = await store.createOrganisation('Acme', null, OPERATOR);
  const { key, secret } = await store.createKey(organisation.id, { name: 'first' }, OPERATOR);
  expect(secret).toMatch(/^sk_vox_/);
  expect(await direct.store.findKey(organisation.id, key.id)).toMatchObject({ name: 'first' });
  expect(JSON.stringify(carried)).not.toContain(secret);
});

test('a change whose answer was lost is repeated and made once', async () => {
  const { store, direct } = losing((call) => (call === 0 ? 'answer' : undefined));
  const made = await store.createOrganisation('Acme', 5n, OPERATOR);
  expect(await direct.listOrganisations()).toEqual([made]);
});

test('a change that another owner has made already gets its answer from there', async () => {
  const lost = losing((call) => (call < 2 ? 'answer' : undefined));
  const organisation = await lost.direct.createOrganisation('Acme', 5n, OPERATOR);
  const credit = { organisationId: organisation.id, kind: 'top_up', microUsd: 7n, uniqueKey: 'one', note: '' } as const;
  // Repeated under its unique key alone, it would be answered with false.
  expect(await lost.store.addCredit(credit, OPERATOR)).toBe(true);
  expect(await lost.store.balanceOf(organisation.id)).toMatchObject({ balanceMicroUsd: 7n });
});

test('a command whose calls reached no owner says that nothing was changed', async () => {
  const { store } = losing(() => 'call');
  await expect(store.createOrganisation('Acme', 5n, OPERATOR)).rejects.toThrow(
    /No node that owns .* Nothing was changed/,
  );
  await expect(store.listOrganisations()).rejects.toThrow(/No node that owns the accounts answered within 1 s/);
});

test('a command whose owner was lost for good says that the change may have been made', async () => {
  const { store, direct } = losing((call) => (call === 0 ? 'answer' : 'call'));
  await expect(store.createOrganisation('Acme', 5n, OPERATOR)).rejects.toThrow(/The change may have been made: list/);
  expect(await direct.listOrganisations()).toHaveLength(1);
});

test('a command waits for an owner that begins a moment later', async () => {
  const { store, serve } = rig();
  const made = store.createOrganisation('Acme', 5n, OPERATOR);
  setTimeout(serve, 300);
  expect(await made).toMatchObject({ name: 'Acme' });
});

test('what the owner refuses is refused once, in its words', async () => {
  const { store, serve } = rig();
  serve();
  expect(await reasonOf(store.setCreditLimit('org_none', 5n, OPERATOR))).toBe('not_found');
  await expect(store.setCreditLimit('org_none', 5n, OPERATOR)).rejects.toThrow(/There is no organisation "org_none"/);
});

test('what only the machine with the database does is refused', async () => {
  const { store, ask } = losing(() => undefined);
  for (const name of ['backup', 'claimOwnership', 'noteLedger', 'acceptLedger'] as const) {
    expect(await reasonOf((store[name] as (...args: unknown[]) => Promise<unknown>)('x', 1, 'y'))).toBe('invalid');
    expect(await reasonOf(ask(STORE_GROUP, null, name, ['x', 1, 'y']))).toBe('invalid');
    const nested = { id: '01890a5d-ac96-774b-bcce-b302099a8057', name, args: [] };
    expect(await reasonOf(ask(STORE_GROUP, null, 'operate', [nested]))).toBe('invalid');
  }
  for (const call of [undefined, {}, { id: 'short', name: 'createOrganisation', args: [] }])
    expect(await reasonOf(ask(STORE_GROUP, null, 'operate', [call]))).toBe('invalid');
});

test('a node may not make the calls of an operator at its own service', async () => {
  const { direct } = rig();
  const asNode = answerStoreCalls(direct.store);
  for (const call of CALL_NAMES.filter((name) => ['operate', 'addCredit', 'markContent'].includes(name)))
    expect(await reasonOf(asNode({ organisationId: null, call, args: [] }))).toBe('invalid');
});
