// Money over a real nats-server into a real database: killed servers and owners, repeated and hostile messages; nothing is lost or
// billed twice, and the ledger's own audit agrees.
import { join } from 'node:path';
import { setImmediate as afterOthers } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { natsUsage } from '../../../../src/cluster/bus/nats/jetstream/usage-stream.ts';
import { costMicroUsd } from '../../../../src/config/prices/price.ts';
import { Reservations } from '../../../../src/money/ledger/reservations.ts';
import {
  consumeUsage,
  createStreamedStore,
  usageBody,
  usageId,
  usageKeys,
} from '../../../../src/money/ledger/usage-stream.ts';
import { openSqliteStore, type SqliteStore } from '../../../../src/node/store/sqlite-store.ts';
import { backgroundClock } from '../../../../src/runtime/telemetry/clock.ts';
import { openLink } from '../../../fakes/network/nats-link.ts';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../../fakes/network/nats-server.ts';
import { endOf, headOf, lineOf, OPERATOR, perMinute } from '../../../fakes/store/ledger.ts';
import { temporaryDirectory } from '../../../fakes/temporary-directory.ts';

const KILLS = 20;
const SESSIONS_A_KILL = 25;
const CREDIT = 10n ** 12n;
const PRICE = perMinute(60_001n, 100n);
const keys = usageKeys({ secret: Buffer.from('a secret of the tests of money over NATS') });

let server: NatsServer | undefined;
const stores: SqliteStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await server?.stop();
});

async function begin() {
  server = await startNatsServer({ jetStream: true });
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  stores.push(store);
  const { id: organisationId } = await store.createOrganisation('Customer', 0n, OPERATOR);
  const { key } = await store.createKey(organisationId, {}, OPERATOR);
  await store.addCredit({ organisationId, kind: 'top_up', microUsd: CREDIT, uniqueKey: 'first', note: '' }, OPERATOR);
  const usage = natsUsage(await openLink(server.url), { againMs: 20, ackWaitMs: 500 });
  const faults: string[] = [];
  const reservations = new Reservations({
    store: createStreamedStore({ accounts: store, usage, keys, shardOf: () => '0' }),
    clock: backgroundClock,
    wallNow: () => new Date(),
    node: 'edge01',
    settings: { directory: join(directory, 'usage'), journalSyncMs: 4_000, graceMs: 0, historyDays: 0 },
    onFault: () => {},
  });
  /** Another process that has the database; `until` kills it between a commit and its word for it. */
  const owner = async (applied: (id: string) => void) => {
    const link = await openLink(server!.url);
    const consumed = consumeUsage({
      usage: natsUsage(link, { againMs: 20, ackWaitMs: 500 }),
      shard: '0',
      store,
      keys,
      onSettled: ({ id }) => applied(id),
      onFault: (name) => faults.push(name),
    });
    return {
      stop: consumed,
      kill: () => {
        // The connection first: what is said after it is heard by nobody.
        void link.link.connection.close();
        consumed();
      },
    };
  };
  return { directory, store, who: { organisationId, keyId: key.id }, usage, reservations, owner, faults };
}

/** Counts what was settled, and tells when that is as many as wanted. */
function counting() {
  const applied = new Map<string, number>();
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    applied,
    note: (id: string) => {
      applied.set(id, (applied.get(id) ?? 0) + 1);
      for (const { count, resolve } of waiting) if (applied.size >= count) resolve();
    },
    has: (count: number) =>
      new Promise<void>((resolve) => {
        if (applied.size >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('money over NATS', () => {
  test(`NATS killed ${KILLS} times, and the owner as often between a commit and its word: every session is billed once`, async () => {
    const { store, who, reservations, owner, faults } = await begin();
    const counted = counting();
    let killNext = false;
    let ownerKills = 0;
    let current: Awaited<ReturnType<typeof owner>> | undefined;
    let restarted: Promise<void> = Promise.resolve();
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    const succeed = async (): Promise<void> => {
      for (let next: typeof current; next === undefined && !isOver; current = next) {
        await restarted;
        // It may be killed again just now.
        next = await owner(applied).catch(() => undefined);
      }
    };
    const applied = (id: string) => {
      counted.note(id);
      if (!killNext) return;
      killNext = false;
      current?.kill();
      ownerKills++;
      void succeed();
    };
    current = await owner(applied);
    let wanted = 0n;
    const settling: Promise<unknown>[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      for (let session = 0; session < SESSIONS_A_KILL; session++) {
        const audioMs = 1 + ((kill * 7919 + session * 104_729) % 90_000);
        wanted += costMicroUsd(PRICE, audioMs);
        settling.push(reservations.settle(headOf(who, `ses_${kill}_${session}`), endOf([lineOf(audioMs, PRICE)])));
        if (session === 5) killNext = true;
        if (session % 8 === 7) await afterOthers();
        if (session === 15) await server?.kill();
      }
      restarted = server!.restart();
      await restarted;
      await counted.has(kill * SESSIONS_A_KILL + 1);
    }
    await Promise.all(settling);
    await counted.has(KILLS * SESSIONS_A_KILL);
    const { balanceMicroUsd } = await store.balanceOf(who.organisationId);
    expect(CREDIT - balanceMicroUsd).toBe(wanted);
    const audit = await store.auditLedger();
    expect([audit.ok, audit.sessions, reservations.unsettled]).toEqual([true, KILLS * SESSIONS_A_KILL, 0]);
    expect(faults.filter((name) => name === 'usage refused')).toEqual([]);
    console.log(
      JSON.stringify({
        kills: KILLS,
        ownerKills,
        sessions: KILLS * SESSIONS_A_KILL,
        appliedAgain: [...counted.applied.values()].filter((times) => times > 1).length,
      }),
    );
    expect(ownerKills).toBeGreaterThan(KILLS / 2);
    current?.stop();
    await reservations.close(0);
  }, 120_000);

  test('ignores a repeated message that the stream forgot, and one of another gateway', async () => {
    const { store, who, usage, owner, faults } = await begin();
    const counted = counting();
    const head = headOf(who, 'ses_1');
    const body = usageBody(keys, head, endOf([lineOf(60_000, PRICE)]));
    await usage.publish('0', usageId(head), body);
    await usage.publish('0', usageId(head), body);
    await usage.publish('0', 'another id', body);
    const foreign = usageKeys({ secret: Buffer.from('the secret of somebody else') });
    await usage.publish('0', 'hostile', usageBody(foreign, head, endOf([lineOf(10 ** 9, PRICE)])));
    const last = headOf(who, 'ses_2');
    await usage.publish('0', usageId(last), usageBody(keys, last, endOf([lineOf(1, PRICE)])));
    const { stop } = await owner(counted.note);
    await counted.has(2);
    expect(CREDIT - (await store.balanceOf(who.organisationId)).balanceMicroUsd).toBe(60_001n + 100n);
    expect([counted.applied.get('ses_1'), faults]).toEqual([2, ['usage refused']]);
    stop();
  });

  test('keeps messages for an owner that was away', async () => {
    const { store, who, usage, reservations, owner } = await begin();
    const counted = counting();
    const records = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        reservations.settle(headOf(who, `ses_${index}`), endOf([lineOf(60_000, PRICE)])),
      ),
    );
    expect(records.map((record) => record?.costMicroUsd)).toEqual(records.map(() => 60_001n));
    expect([await usage.waiting('0'), (await store.auditLedger()).sessions]).toEqual([50, 0]);
    const { stop } = await owner(counted.note);
    await counted.has(50);
    expect(CREDIT - (await store.balanceOf(who.organisationId)).balanceMicroUsd).toBe(50n * 60_001n);
    stop();
    await reservations.close(0);
  });
});
