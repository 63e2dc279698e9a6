// Three edges of a cluster, with their memberships: each chooses by what all of them have met, also after lost messages and a death.
import { expect, it } from 'vitest';
import { MODELS_MEASURED } from '../../src/cluster/bus/subjects.ts';
import { joinCluster } from '../../src/cluster/membership/membership.ts';
import { ModelMeasures } from '../../src/live/failover/choice/measures.ts';
import { SHARE_MS, shareMeasures } from '../../src/live/failover/choice/share-measures.ts';
import { SimulatedCluster } from '../fakes/network/simulated-cluster.ts';

const SLUG = 'a/one';
const ALL_MS = 300_000;

async function join(cluster: SimulatedCluster, name: string) {
  const { bus, leases } = cluster.node(name);
  const members = await joinCluster({
    ...{ bus, leases, clock: cluster.clock },
    wallMs: () => 1e12 + cluster.clock.now(),
    self: { id: `id-${name}`, roles: ['edge'], version: '1.2.3' },
    load: () => ({ sessions: 0, legs: 0, sessionsMax: 100 }),
    onConflict: (sentence) => expect.fail(sentence),
  });
  const measures = new ModelMeasures(cluster.clock);
  shareMeasures({
    ...{ bus, clock: cluster.clock, measures },
    edges: () => members.count('edge'),
    onNodes: (listener) => members.onNodes(listener),
    onGone: (listener) => members.onGone(listener),
    knows: () => true,
    onDrop: (name) => expect.fail(name),
  });
  return { name, members, measures, attempts: () => measures.figuresOf('live', SLUG).attempts };
}

it('gives every edge the counts of all, half a minute after they are met', async () => {
  const cluster = new SimulatedCluster();
  const edges = [await join(cluster, 'node01'), await join(cluster, 'node02'), await join(cluster, 'node03')] as const;
  const attempts = () => edges.map((edge) => edge.attempts());
  await cluster.pass(SHARE_MS);
  for (const [index, { measures }] of edges.entries())
    for (let time = 0; time <= index; time++) measures.outcome('live', SLUG, 'error', `org_${index}`);
  expect(attempts()).toEqual([1, 2, 3]);
  await cluster.pass(SHARE_MS);
  expect(attempts()).toEqual([6, 6, 6]);

  cluster.loses = (topic, to) => topic === MODELS_MEASURED && to === 'node03';
  edges[0].measures.outcome('live', SLUG, 'good');
  await cluster.pass(SHARE_MS);
  expect(attempts()).toEqual([7, 7, 6]);
  cluster.loses = undefined;
  await cluster.pass(ALL_MS);
  expect(attempts()).toEqual([7, 7, 7]);

  const late = await join(cluster, 'node04');
  await cluster.pass(2 * SHARE_MS);
  expect(late.attempts()).toBe(7);
  await edges[2].members.leave();
  await cluster.pass(SHARE_MS);
  expect([edges[0].attempts(), edges[1].attempts(), late.attempts()]).toEqual([4, 4, 4]);
});
