// One ceiling on spend, raced by sessions on three nodes: what is spent and held never passes it, and single-use tokens are used once.
import { expect, it } from 'vitest';
import type { SpendCeiling } from '../../src/api/spend-ceilings.ts';
import { createAccountsClient } from '../../src/cluster/accounts/client.ts';
import { createRemoteStore } from '../../src/node/store/remote-store.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import type { StoreError } from '../../src/store/store-error.ts';
import { seeded } from '../fakes/random.ts';
import { endOf, headOf, holdOf, lineOf, OPERATOR, perMinute } from '../fakes/store/ledger.ts';
import { accountsRig, SECRET } from './accounts-rig.ts';

const SESSIONS = 50;
const LIMIT = 1_000n;
const CEILING: SpendCeiling = { usd: '0.001', period: 'day' };

function threeNodes(seed: number) {
  const rig = accountsRig({ random: seeded(seed) });
  const stores = ['edge11', 'edge12', 'edge13'].map((name) => {
    const client = createAccountsClient({ bus: rig.network.open(name), secret: SECRET, clock: systemClock });
    return createRemoteStore(client.ask);
  });
  return { ...rig, stores };
}

it.each([
  ['key', 1],
  ['organisation', 2],
  ['gateway', 3],
  ['provider', 4],
])('holds 50 sessions on three nodes to the ceiling of a %s', async (scope, seed) => {
  const { direct, stores } = threeNodes(seed);
  const { ledger, database } = direct;
  const who = direct.customer({ limit: null });
  const { organisationId, keyId } = who;
  if (scope === 'key') ledger.changeKey(organisationId, keyId, { spendCeilings: [CEILING] }, OPERATOR);
  if (scope === 'organisation') ledger.setSpendCeilings(organisationId, [CEILING], OPERATOR);
  if (scope === 'gateway') ledger.setGatewayCeilings([CEILING]);
  if (scope === 'provider')
    ledger.changeKey(organisationId, keyId, { spendCeilings: [{ ...CEILING, provider: 'loopback' }] }, OPERATOR);
  const used = database
    .prepare<[], bigint>('SELECT spent_micro_usd + held_micro_usd FROM spend_ceilings')
    .pluck()
    .safeIntegers();
  const random = seeded(seed);
  let refused = 0;
  let charged = 0n;

  const runSession = async (index: number): Promise<void> => {
    const store = stores[index % stores.length]!;
    const head = headOf(who, `ses_${index}`);
    const grant = await store.openSession(head, holdOf(BigInt(random.integer(10, 60)), 5n)).catch((error: unknown) => {
      expect((error as StoreError).reason).toBe('spend_ceiling');
      return undefined;
    });
    expect(used.get()).toBeLessThanOrEqual(LIMIT);
    if (grant === undefined) {
      refused++;
      return;
    }
    let cost = 0n;
    let { heldMicroUsd } = grant;
    for (let round = 0; round < 5; round++) {
      // All of the hold is used, or some of it.
      const more = BigInt(random.integer(0, Number(heldMicroUsd)));
      cost += more;
      const lines = cost === 0n ? [] : [lineOf(Number(cost), perMinute(60_000n))];
      ({ heldMicroUsd } = await store.renewHold(head, lines, holdOf(BigInt(random.integer(10, 60)))));
      expect(used.get()).toBeLessThanOrEqual(LIMIT);
    }
    cost += heldMicroUsd;
    await store.settleSession(head, endOf(cost === 0n ? [] : [lineOf(Number(cost), perMinute(60_000n))]));
    charged += cost;
    expect(used.get()).toBeLessThanOrEqual(LIMIT);
  };

  await Promise.all(Array.from({ length: SESSIONS }, (_, index) => runSession(index)));
  expect(charged).toBeLessThanOrEqual(LIMIT);
  // All but a rest that is too little for one more session.
  expect(charged).toBeGreaterThan(LIMIT - 5n);
  expect(refused).toBeGreaterThan(0);
  expect(ledger.auditLedger()).toMatchObject({ ok: true, faults: [], openHolds: 0 });
});

it('redeems a single-use token once over three nodes', async () => {
  const { direct, stores } = threeNodes(5);
  const { organisationId } = direct.customer();
  const expiresAtMs = direct.clock.nowMs + 60_000;
  const asked = Array.from({ length: 30 }, (_, index) =>
    stores[index % 3]!.redeemToken(organisationId, 'one', expiresAtMs),
  );
  expect((await Promise.all(asked)).filter((isFirst) => isFirst)).toHaveLength(1);
});
