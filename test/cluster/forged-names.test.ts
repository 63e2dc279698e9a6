// The name of a node, where anybody may write anything under it: it is given up for a node that is there and called so, and for
// nothing else.
import { expect, test } from 'vitest';
import type { LeaseValue } from '../../src/cluster/bus/leases.ts';
import { joinCluster } from '../../src/cluster/membership/membership.ts';
import { SimulatedCluster } from '../fakes/network/simulated-cluster.ts';

async function join(cluster: SimulatedCluster, name: string, id = `id-${name}`) {
  const node = cluster.node(name);
  const conflicts: string[] = [];
  const members = await joinCluster({
    bus: node.bus,
    leases: node.leases,
    clock: cluster.clock,
    self: { id, roles: ['edge', 'upstream'], version: '1' },
    load: () => ({ sessions: 0, legs: 0, sessionsMax: null }),
    onConflict: (sentence) => conflicts.push(sentence),
  });
  return { node, members, conflicts };
}

test.each<[string, LeaseValue]>([
  ['without an owner', { node: 'nobody', id: 'id-a' }],
  ['of another node of the gateway', { node: 'b', id: 'id-a' }],
  ['of the node itself', { node: 'a', id: 'id-a' }],
  ['without a node', { node: 7 }],
])('survives an entry %s: it is acquired again when that ends', async (_, value) => {
  const cluster = new SimulatedCluster();
  const [a, b] = [await join(cluster, 'a'), await join(cluster, 'b')];
  for (let times = 0; times < 10; times++) {
    cluster.kept.set('node.id-a', { by: 'x', value, revision: 99, untilMs: cluster.clock.now() + 15_000 });
    await cluster.pass(5000);
  }
  expect([a.members.isJoined, a.conflicts]).toEqual([false, []]);
  expect(b.members.nodes().map(({ node }) => node)).toEqual(['b', 'a']);
  await cluster.pass(20_000);
  expect([a.members.isJoined, a.conflicts]).toEqual([true, []]);
});

test('ends at once for a present node of the same name', async () => {
  const cluster = new SimulatedCluster();
  const a = await join(cluster, 'a');
  a.node.setCut(true);
  await cluster.pass(16_000);
  const twin = await join(cluster, 'twin', 'id-a');
  a.node.setCut(false);
  await cluster.pass(1000);
  expect([a.conflicts.length, a.members.isJoined, twin.members.isJoined]).toEqual([1, false, true]);
});
