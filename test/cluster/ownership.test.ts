// Who keeps the accounts: one node at a time, with revisions that only grow, and a database that takes nothing from the last one.
import { describe, expect, test } from 'vitest';
import { type OwnershipOptions, ownShard } from '../../src/cluster/accounts/ownership.ts';
import { BusError } from '../../src/cluster/bus/bus.ts';
import { ClusterError } from '../../src/cluster/membership/name-lease.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { SimulatedCluster } from '../fakes/network/simulated-cluster.ts';
import { databaseIn, openTables } from '../fakes/store/data-directory.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

function candidate(cluster: SimulatedCluster, name: string, overrides: Partial<OwnershipOptions> = {}) {
  const node = cluster.node(name);
  const claims: number[] = [];
  const revisions: number[] = [];
  const lost: string[] = [];
  const own = () =>
    ownShard({
      bus: node.bus,
      leases: node.leases,
      clock: cluster.clock,
      shard: '0',
      id: `id-${name}`,
      claim: async (revision) => void claims.push(revision),
      onRevision: (revision) => revisions.push(revision),
      onLost: (sentence) => lost.push(sentence),
      ...overrides,
    });
  return { node, claims, revisions, lost, own };
}

/** Passes time until the work is over. */
async function passUntil<Result>(cluster: SimulatedCluster, work: Promise<Result>): Promise<Result> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  ended.catch(() => {});
  for (let steps = 0; steps < 1000 && !isOver; steps++) await cluster.pass(100);
  return ended;
}

describe('the owner of the accounts', () => {
  test('takes one candidate; the other names it after waiting for a stale lease', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [candidate(cluster, 'a'), candidate(cluster, 'b')];
    const owner = await a.own();
    expect([owner.isSure, owner.revision, a.claims]).toEqual([true, 1, [1]]);
    const refusal = await passUntil(cluster, b.own()).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ClusterError);
    expect((refusal as Error).message).toMatch(
      /^The accounts of shard 0 are kept by the node "id-a": stop it first, or leave `accounts` out/,
    );
    expect([b.claims, owner.isSure, a.lost]).toEqual([[], true, []]);
  });

  test('passes on at once when its owner ends, and after the wait for a stale lease when it is killed', async () => {
    const cluster = new SimulatedCluster();
    const [a, b, c] = [candidate(cluster, 'a'), candidate(cluster, 'b'), candidate(cluster, 'c')];
    const first = await a.own();
    await first.release();
    const second = await b.own();
    expect(second.revision).toBeGreaterThan(first.revision);
    await cluster.pass(7000);
    b.node.kill();
    const third = await passUntil(cluster, c.own());
    expect(third.revision).toBeGreaterThan(second.revision);
    expect([a.lost, first.isSure]).toEqual([[], false]);
  });

  test('takes the name again when the bus goes away while its database is looked at, and ends when that is the wrong one', async () => {
    const cluster = new SimulatedCluster();
    let looks = 0;
    const away = async () => {
      if (++looks < 3) throw new BusError('disconnected', 'NATS is not connected.');
    };
    const owner = await passUntil(cluster, candidate(cluster, 'a', { claim: away }).own());
    expect([looks, owner.isSure]).toEqual([3, true]);
    await owner.release();
    const wrong = candidate(cluster, 'b', {
      claim: async () => {
        throw new ClusterError('Another ledger.');
      },
    });
    await expect(passUntil(cluster, wrong.own())).rejects.toThrow('Another ledger.');
    // It has given the name back.
    expect((await passUntil(cluster, candidate(cluster, 'c').own())).isSure).toBe(true);
  });

  test('continues with a higher revision after five minutes apart without a successor', async () => {
    const cluster = new SimulatedCluster();
    const a = candidate(cluster, 'a');
    const owner = await a.own();
    a.node.setCut(true);
    await cluster.pass(300_000);
    expect([owner.isSure, owner.revision, a.lost]).toEqual([false, 1, []]);
    a.node.setCut(false);
    await cluster.pass(100);
    expect([owner.isSure, owner.revision, a.claims, a.revisions, a.lost]).toEqual([true, 2, [1, 2], [2], []]);
  });

  test('stops once another has taken over meanwhile, with one notice', async () => {
    const cluster = new SimulatedCluster();
    const [a, b] = [candidate(cluster, 'a'), candidate(cluster, 'b')];
    const owner = await a.own();
    a.node.setCut(true);
    const next = await passUntil(cluster, b.own());
    expect(a.lost).toEqual([]);
    a.node.setCut(false);
    await cluster.pass(60_000);
    expect(a.lost).toEqual([expect.stringMatching('kept by the node "id-b"')]);
    expect([owner.isSure, next.isSure, a.claims]).toEqual([false, true, [1]]);
  });

  test('waits for the lock of its database, and ends the start when the database belongs to a higher revision', async () => {
    const cluster = new SimulatedCluster();
    let tries = 0;
    const patient = candidate(cluster, 'a', {
      claim: async () => {
        if (++tries < 3) throw new StoreError('busy', 'locked');
      },
    });
    const owner = await passUntil(cluster, patient.own());
    expect([tries, owner.isSure]).toEqual([3, true]);
    await owner.release();
    const late = candidate(cluster, 'b', {
      claim: async () => {
        throw new StoreError('superseded', 'The database belongs to the node "x".');
      },
    });
    await expect(passUntil(cluster, late.own())).rejects.toThrow('belongs to the node "x"');
    expect((await candidate(cluster, 'c').own()).isSure).toBe(true);
  });

  test('writes nothing more to a shared database once it was overtaken unknowingly', async () => {
    const cluster = new SimulatedCluster();
    const file = databaseIn(temporaryDirectory());
    const [mine, theirs] = [openTables(file), openTables(file)];
    const claimOf =
      ({ tables }: typeof mine, id: string) =>
      async (revision: number) =>
        tables.claimOwnership('0', revision, id);
    const a = candidate(cluster, 'a', { claim: claimOf(mine, 'id-a') });
    const b = candidate(cluster, 'b', { claim: claimOf(theirs, 'id-b') });
    await a.own();
    expect(() => mine.tables.requireOwnership()).not.toThrow();
    a.node.setCut(true);
    await passUntil(cluster, b.own());
    expect(() => mine.tables.requireOwnership()).toThrow('belongs to the node "id-b"');
    expect(() => theirs.tables.requireOwnership()).not.toThrow();
    a.node.setCut(false);
    await cluster.pass(5000);
    expect(a.lost).toHaveLength(1);
  });

  test('takes its name back when that was removed for a moment', async () => {
    const cluster = new SimulatedCluster();
    const a = candidate(cluster, 'a');
    const owner = await a.own();
    cluster.kept.delete('accounts.0');
    await cluster.pass(6000);
    expect([owner.isSure, owner.revision, a.revisions, a.lost]).toEqual([true, 2, [2], []]);
  });

  test('becomes it as soon as NATS is there, where it started without', async () => {
    const cluster = new SimulatedCluster();
    const a = candidate(cluster, 'a');
    a.node.setCut(true);
    const owner = await a.own();
    await cluster.pass(60_000);
    expect([owner.isSure, owner.revision, a.claims]).toEqual([false, 0, []]);
    a.node.setCut(false);
    await cluster.pass(100);
    expect([owner.isSure, owner.revision, a.claims, a.revisions]).toEqual([true, 1, [1], [1]]);
  });

  test('says why a start without JetStream ends', async () => {
    const cluster = new SimulatedCluster();
    const a = candidate(cluster, 'a');
    cluster.isFrozen = true;
    await expect(passUntil(cluster, a.own())).rejects.toThrow(ClusterError);
    expect(a.lost).toEqual([]);
  });
});
