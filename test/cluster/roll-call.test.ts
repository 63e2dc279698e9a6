// Which nodes an operator is shown: those that are there, and those that the others do not hear any more.
import { describe, expect, test } from 'vitest';
import { MissingNodes } from '../../src/cluster/membership/heartbeat.ts';
import { joinCluster, type Membership } from '../../src/cluster/membership/membership.ts';
import { callRoll, type NodeAnswer } from '../../src/cluster/membership/roll-call.ts';
import type { Role } from '../../src/config/schema-cluster.ts';
import { SimulatedCluster } from '../fakes/network/simulated-cluster.ts';

async function join(cluster: SimulatedCluster, name: string, roles: Role[], id = `id-${name}`): Promise<Membership> {
  const node = cluster.node(name);
  return joinCluster({
    bus: node.bus,
    leases: node.leases,
    clock: cluster.clock,
    wallMs: () => 1e12 + cluster.clock.now(),
    self: { id, roles, version: '1.2.3' },
    load: () => ({ sessions: 0, legs: 0, sessionsMax: 100 }),
    onConflict: () => {},
  });
}

/** From a process that is no node. */
async function roll(cluster: SimulatedCluster): Promise<unknown[]> {
  const { bus, leases } = cluster.node('command');
  const answers = await callRoll(bus, leases, () => 1e12 + cluster.clock.now());
  cluster.nodes.delete('command');
  return answers.map(({ id, node, status, missing }: NodeAnswer) => {
    // The last heartbeat was sent up to two seconds before.
    const heardSecondsAgo = missing === undefined ? undefined : Math.floor(missing.heardMsAgo / 5000) * 5;
    return [id, node, status?.roles ?? missing?.roles, heardSecondsAgo];
  });
}

describe('the list of nodes', () => {
  test('shows a frozen accounts node, with its silence, until it continues', async () => {
    const cluster = new SimulatedCluster();
    await join(cluster, 'a', ['accounts']);
    await join(cluster, 'b', ['edge']);
    await join(cluster, 'c', ['upstream']);
    await cluster.pass(10_000);
    const present = [
      ['id-b', 'b', ['edge'], undefined],
      ['id-c', 'c', ['upstream'], undefined],
    ];
    expect(await roll(cluster)).toEqual([['id-a', 'a', ['accounts'], undefined], ...present]);
    // It neither sends nor receives, and does not know it.
    const frozen = cluster.nodes.get('a');
    if (frozen === undefined) throw new Error('The node is not there.');
    frozen.isCut = true;
    await cluster.pass(600_000);
    expect(await roll(cluster)).toEqual([['id-a', 'a', ['accounts'], 600], ...present]);
    frozen.setCut(false);
    await cluster.pass(5_000);
    expect(await roll(cluster)).toEqual([['id-a', 'a', ['accounts'], undefined], ...present]);
  });

  test('shows a killed node before and after its lease, until its successor has joined', async () => {
    const cluster = new SimulatedCluster();
    await join(cluster, 'a', ['accounts']);
    await join(cluster, 'b', ['edge'], 'edge-1');
    await cluster.pass(10_000);
    cluster.nodes.get('b')?.kill();
    await cluster.pass(10_000);
    const accounts = ['id-a', 'a', ['accounts'], undefined];
    expect(await roll(cluster)).toEqual([['edge-1', 'b', ['edge'], 10], accounts]);
    await cluster.pass(30_000);
    expect(await roll(cluster)).toEqual([['edge-1', 'b', ['edge'], 40], accounts]);
    await join(cluster, 'b2', ['edge'], 'edge-1');
    await cluster.pass(5_000);
    expect(await roll(cluster)).toEqual([['edge-1', 'b2', ['edge'], undefined], accounts]);
  });

  test('does not have a node that left, or one that has been silent for an hour', async () => {
    const cluster = new SimulatedCluster();
    await join(cluster, 'a', ['accounts']);
    const leaving = await join(cluster, 'b', ['edge']);
    await join(cluster, 'c', ['edge']);
    await cluster.pass(10_000);
    await leaving.leave();
    cluster.nodes.get('c')?.kill();
    await cluster.pass(3_590_000);
    const accounts = ['id-a', 'a', ['accounts'], undefined];
    expect(await roll(cluster)).toEqual([accounts, ['id-c', 'c', ['edge'], 3590]]);
    await cluster.pass(20_000);
    expect(await roll(cluster)).toEqual([accounts]);
  });
});

test('forgets the longest missing node beyond its capacity', () => {
  const missing = new MissingNodes(2);
  for (const [id, atMs] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    missing.add({ id, node: `n-${id}`, roles: ['edge'] }, atMs);
  expect(missing.list(10).map(({ id, heardMsAgo }) => [id, heardMsAgo])).toEqual([
    ['a', 7],
    ['c', 6],
  ]);
});
