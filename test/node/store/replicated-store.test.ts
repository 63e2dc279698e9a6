// Databases that are written to through one log, each in a thread of its own.
import { expect, test } from 'vitest';
import { Replica } from '../../../src/cluster/replication/replica.ts';
import type { Answer } from '../../../src/node/store/protocol.ts';
import { createReplicatedStore, replicaStoreOf } from '../../../src/node/store/replicated-store.ts';
import type { SqliteStore } from '../../../src/node/store/sqlite-store.ts';
import {
  KEPT_HOLDS_SINCE,
  LEG_REASONS_SINCE,
  LEG_USAGE_SINCE,
  OWN_SPEND_SINCE,
  REDACTIONS_SINCE,
  TAGS_SINCE,
} from '../../../src/store/migrations.ts';
import { type NewWebhook, USAGE_EVENTS_SINCE } from '../../../src/webhooks/store/calls.ts';
import { LogClient, LogServer } from '../../cluster/replication/faulty-log.ts';
import { seeded } from '../../fakes/random.ts';
import { OPERATOR, openStore } from '../../fakes/store/data-directory.ts';
import { endOf, headOf, holdOf, lineOf } from '../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const clock = {
  now: () => performance.now(),
  setTimeout: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs),
  clearTimeout: (handle: unknown) => clearTimeout(handle as NodeJS.Timeout),
};
const TIMES = { heartbeatMs: 100, sureMs: 10_000, takeoverMs: 300 };

async function replicaOf(server: LogServer, database: SqliteStore, isOwner: boolean) {
  const log = new LogClient(server, clock, seeded(1), { lostRequests: 0, lostAnswers: 0, delayMsMax: 1 });
  let owned = () => {};
  const owns = new Promise<void>((resolve) => {
    owned = resolve;
  });
  const replica = new Replica<Answer>({
    ...{ log, clock, times: TIMES },
    store: replicaStoreOf(database),
    wallNowMs: Date.now,
    ledger: 'led_0',
    // An empty database follows only what it began itself: here both are equal.
    node: 'accounts',
    version: 1,
    mayClaim: async () => isOwner,
    onOwner: () => owned(),
    onEnd: () => {},
  });
  await replica.start();
  return { replica, owns };
}

async function pair() {
  const server = new LogServer();
  const databases = [
    await openStore(temporaryDirectory(), { isReplica: true }),
    await openStore(temporaryDirectory(), { isReplica: true }),
  ] as const;
  const owner = await replicaOf(server, databases[0], true);
  const follower = await replicaOf(server, databases[1], false);
  await owner.owns;
  const store = createReplicatedStore(databases[0], (calls) => owner.replica.propose(calls));
  const followed = async () => {
    const { number } = owner.replica.position;
    await expect.poll(() => follower.replica.position.number).toBeGreaterThanOrEqual(number);
    expect(follower.replica.role).toBe('following');
  };
  const stop = () => Promise.all([owner.replica.release(), follower.replica.release()]);
  return { databases, store, followed, stop };
}

/** A store whose other replica is of the version before that one, until `replicas.version` says otherwise; and what is proposed to both. */
async function beforeVersion(version: number) {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  const proposed: (readonly unknown[])[] = [];
  const replicas = { version: version - 1 };
  const propose = async (calls: readonly { args: readonly unknown[] }[]) => {
    proposed.push(...calls.map(({ args }) => args));
    return calls.map((_, id) => ({ id, value: undefined }));
  };
  const store = createReplicatedStore(database, propose, {
    commonVersion: () => replicas.version,
    olderThan: () => ['accounts-2'],
  });
  return { store, proposed, replicas };
}

test('a write at the owner is in the other replica, with the same ids and the same key', async () => {
  const { databases, store, followed, stop } = await pair();
  const organisation = await store.createOrganisation('Acme', null, OPERATOR);
  const { key, secret } = await store.createKey(organisation.id, { name: 'first' }, OPERATOR);
  expect(secret).toMatch(/^sk_vox_/);
  await followed();
  expect(await databases[1].listKeys(organisation.id)).toEqual(await store.listKeys(organisation.id));
  expect((await databases[1].listKeys(organisation.id))[0]?.id).toBe(key.id);
  await stop();
});

test('a refusal is the outcome at both, and the next write is accepted', async () => {
  const { databases, store, followed, stop } = await pair();
  const organisation = await store.createOrganisation('Acme', null, OPERATOR);
  await expect(store.createKey('org_none', { name: 'x' }, OPERATOR)).rejects.toMatchObject({ reason: 'not_found' });
  await store.createKey(organisation.id, { name: 'second' }, OPERATOR);
  await followed();
  expect(await databases[1].listKeys(organisation.id)).toHaveLength(1);
  await stop();
});

test('a replica takes no write but by the log, and is read as before', async () => {
  const { databases, store, stop } = await pair();
  const organisation = await store.createOrganisation('Acme', null, OPERATOR);
  await expect(databases[0].createOrganisation('Other', null, OPERATOR)).rejects.toMatchObject({
    reason: 'conflict',
    message: expect.stringContaining('one of several replicas'),
  });
  expect((await databases[0].listOrganisations()).map(({ id }) => id)).toEqual([organisation.id]);
  await stop();
});

test('an operation that not every replica knows is refused, with the replicas to upgrade, and never proposed', async () => {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  const proposed: unknown[] = [];
  const store = createReplicatedStore(
    database,
    async (calls, version) => {
      proposed.push(version);
      return calls.map((_, id) => ({ id, value: undefined }));
    },
    { commonVersion: () => (older.length > 0 ? 0 : 1), olderThan: () => older },
  );
  let older = ['accounts-2'];
  await expect(store.createOrganisation('Acme', null, OPERATOR)).rejects.toMatchObject({
    reason: 'conflict',
    isUnsent: true,
    message: expect.stringMatching(/createOrganisation\. Not yet upgraded: accounts-2\. Upgrade all/),
  });
  expect(await store.listOrganisations()).toEqual([]);
  older = [];
  await store.createOrganisation('Acme', null, OPERATOR);
  expect(proposed).toEqual([1]);
});

test('a key with a scope that not every replica knows is refused, also in a command of an operator', async () => {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  const proposed: unknown[] = [];
  const propose = async (calls: readonly unknown[], version: number) => {
    proposed.push(version);
    return calls.map((_, id) => ({ id, value: undefined }));
  };
  const store = createReplicatedStore(database, propose, { commonVersion: () => 3, olderThan: () => ['accounts-2'] });
  const args = ['org_1', { scopes: ['webhooks'] as const }, OPERATOR] as const;
  const refused = { reason: 'conflict', isUnsent: true };
  await expect(store.createKey(...args)).rejects.toMatchObject(refused);
  await expect(store.operate({ id: 'call', name: 'createKey', args })).rejects.toMatchObject(refused);
  await store.createKey('org_1', { scopes: ['listen'] }, OPERATOR);
  expect(proposed).toEqual([1]);
});

test('rules with classes that not every replica knows are refused, and others are not', async () => {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  const proposed: unknown[] = [];
  const propose = async (calls: readonly { args: readonly unknown[] }[]) => {
    proposed.push(...calls.map(({ args: [, settings] }) => settings));
    return calls.map((_, id) => ({ id, value: undefined }));
  };
  const store = createReplicatedStore(database, propose, { commonVersion: () => 10, olderThan: () => ['accounts-2'] });
  const names = { redact: ['card', 'name'] as const };
  const refused = { reason: 'conflict', isUnsent: true };
  await expect(store.setRedactionRule('org_1', names, OPERATOR)).rejects.toMatchObject(refused);
  await expect(store.changeKey('org_1', 'key_1', names, OPERATOR)).rejects.toMatchObject(refused);
  await store.setRedactionRule('org_1', { redact: ['card'] }, OPERATOR);
  expect(proposed).toEqual([{ redact: ['card'] }]);
});

test('tags wait until every replica knows them: a session is billed without, and a key with some is refused', async () => {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  const proposed: unknown[] = [];
  let known = TAGS_SINCE - 1;
  const propose = async (calls: readonly { args: readonly unknown[] }[]) => {
    proposed.push(...calls.map(({ args: [first] }) => first));
    return calls.map((_, id) => ({ id, value: undefined }));
  };
  const versions = { commonVersion: () => known, olderThan: () => ['accounts-2'] };
  const store = createReplicatedStore(database, propose, versions);
  const head = headOf({ organisationId: 'org_1', keyId: 'key_1' }, 'ses_1');
  const tagged = { ...head, tags: '{"customer":"acme"}' };
  await expect(store.createKey('org_1', { tags: { customer: 'acme' } }, OPERATOR)).rejects.toMatchObject({
    reason: 'conflict',
  });
  await store.createKey('org_1', { tags: null }, OPERATOR);
  await store.openSession(tagged, holdOf(1n));
  await store.settleSession(tagged, endOf([]));
  known = TAGS_SINCE;
  await store.createKey('org_2', { tags: { customer: 'acme' } }, OPERATOR);
  await store.openSession(tagged, holdOf(1n));
  await store.settleSession(tagged, endOf([]));
  expect(proposed).toEqual(['org_1', head, head, 'org_2', tagged, tagged]);
});

test('events of usage wait until every replica knows them: no webhook asks for them, or for CloudEvents', async () => {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  const proposed: number[] = [];
  const propose = async (calls: readonly unknown[], version: number) => {
    proposed.push(version);
    return calls.map((_, id) => ({ id, value: undefined }));
  };
  let known = USAGE_EVENTS_SINCE - 1;
  const store = createReplicatedStore(database, propose, {
    commonVersion: () => known,
    olderThan: () => ['accounts-2'],
  });
  const settings = { url: 'https://a.example/', description: '', balanceLowMicroUsd: 0n, transcripts: false };
  const webhook = { ...settings, id: 'we_1', secret: new Uint8Array(1) };
  const create = (more: Pick<NewWebhook, 'events' | 'format'>) =>
    store.createWebhook('org_1', { ...webhook, ...more }, OPERATOR);
  const refused = { reason: 'conflict', isUnsent: true };
  await expect(create({ events: ['usage.recorded'] })).rejects.toMatchObject(refused);
  await expect(create({ events: ['session.ended'], format: 'cloudevents' })).rejects.toMatchObject(refused);
  await expect(store.changeWebhook('org_1', 'we_1', { events: ['usage.recorded'] }, OPERATOR)).rejects.toMatchObject(
    refused,
  );
  await create({ events: ['session.ended'], format: 'standard' });
  await store.changeWebhook('org_1', 'we_1', { description: 'usage.recorded' }, OPERATOR);
  known = USAGE_EVENTS_SINCE;
  await create({ events: ['usage.recorded'] });
  expect(proposed).toEqual([4, 4, USAGE_EVENTS_SINCE]);
});

test('what was sent again, and counts of redactions, wait until every replica keeps them: a session is billed without', async () => {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  const proposed: unknown[] = [];
  let known = LEG_USAGE_SINCE - 1;
  const propose = async (calls: readonly { args: readonly unknown[] }[]) => {
    proposed.push(...calls.map(({ args: [, end] }) => end));
    return calls.map((_, id) => ({ id, value: undefined }));
  };
  const store = createReplicatedStore(database, propose, { commonVersion: () => known, olderThan: () => [] });
  const head = headOf({ organisationId: 'org_1', keyId: 'key_1' }, 'ses_1');
  const leg = { model: 'loopback/script', own: false, legs: 1, audioMs: 0 };
  const failed = { ...leg, reason: 'failed', audioMs: 5 } as const;
  const end = { ...endOf([]), sentAgain: [failed] };
  const redacted = { ...end, redactions: { card: 1 } };
  const counted = { ...redacted, sentAgain: [failed, { ...leg, reason: 'standby', connectionMs: 5 } as const] };
  await store.settleSession(head, counted);
  known = LEG_USAGE_SINCE;
  await store.settleSession(head, counted);
  known = REDACTIONS_SINCE;
  await store.settleSession(head, counted);
  known = LEG_REASONS_SINCE;
  await store.settleSession(head, counted);
  expect(proposed).toEqual([endOf([]), end, redacted, counted]);
});

test('a key with replacement rules is refused until every replica knows them', async () => {
  const database = await openStore(temporaryDirectory(), { isReplica: true });
  let known = 11;
  const propose = async (calls: readonly unknown[]) => calls.map((_, id) => ({ id, value: undefined }));
  const store = createReplicatedStore(database, propose, {
    commonVersion: () => known,
    olderThan: () => ['accounts-2'],
  });
  const rules = { replace: [{ from: 'vox gate', to: 'Voxgate' }] };
  await expect(store.createKey('org_1', rules, OPERATOR)).rejects.toMatchObject({ reason: 'conflict' });
  await store.createKey('org_1', { replace: null }, OPERATOR);
  known = 12;
  await store.createKey('org_1', rules, OPERATOR);
});

test('what is kept of a hold for a dearer model waits until every replica knows it', async () => {
  const { store, proposed, replicas } = await beforeVersion(KEPT_HOLDS_SINCE);
  const head = headOf({ organisationId: 'org_1', keyId: 'key_1' }, 'ses_1');
  const hold = { ...holdOf(1n), keptMicroUsdMax: 0n };
  await store.renewHold(head, [], hold);
  await store.holdOwn(head, [], hold);
  replicas.version = KEPT_HOLDS_SINCE;
  await store.renewHold(head, [], hold);
  expect(proposed).toEqual([
    [head, [], holdOf(1n)],
    [head, [], holdOf(1n)],
    [head, [], hold],
  ]);
});

test('what own keys count for and what is reached wait until every replica knows them, and so do ceilings that leave cheap models', async () => {
  const { store, proposed, replicas } = await beforeVersion(OWN_SPEND_SINCE);
  const head = headOf({ organisationId: 'org_1', keyId: 'key_1' }, 'ses_1');
  const [hold, plain] = [{ ...holdOf(1n), keepsReached: true, minuteMicroUsd: 5n } as const, holdOf(1n)];
  const [counted, line] = [lineOf(5, undefined, { own: true, counted: true }), lineOf(5, undefined, { own: true })];
  const ceilings = [{ usd: '1', period: 'day', only_up_to: '0.01' }] as const;
  const refused = { reason: 'conflict', isUnsent: true };
  await store.openSession(head, hold);
  await store.renewHold(head, [counted], hold);
  await store.settleSession(head, endOf([counted]));
  expect(proposed.splice(0)).toEqual([
    [head, plain],
    [head, [line], plain],
    [head, endOf([line])],
  ]);
  await expect(store.holdOwn(head, [], hold)).rejects.toMatchObject(refused);
  await expect(store.setSpendCeilings('org_1', ceilings, OPERATOR)).rejects.toMatchObject(refused);
  await expect(store.setGatewayCeilings(ceilings)).rejects.toMatchObject(refused);
  await expect(store.createKey('org_1', { spendCeilings: ceilings }, OPERATOR)).rejects.toMatchObject(refused);
  replicas.version = OWN_SPEND_SINCE;
  await store.renewHold(head, [counted], hold);
  await store.holdOwn(head, [], hold);
  await store.setSpendCeilings('org_1', ceilings, OPERATOR);
  expect(proposed).toEqual([
    [head, [counted], hold],
    [head, [], hold],
    ['org_1', ceilings, OPERATOR],
  ]);
});
