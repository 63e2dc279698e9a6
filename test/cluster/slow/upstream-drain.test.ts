// A node that holds connections to providers is told to end: sessions of other nodes have their next turn elsewhere, and nobody
// who speaks notices. CLUSTER_FULL=1: 100 of them.
import { afterEach, describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { Caller, secondsOf } from '../rig/caller.ts';
import { Cluster, type ClusterNode } from '../rig/cluster.ts';

const isFull = process.env.CLUSTER_FULL === '1';
const SESSIONS = isFull ? 100 : 12;
const TURN_SECONDS = 2;
const LEGS = /^voxgate_queue_depth\{queue="far_legs"[^}]*\} (\d+)$/m;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function legsOf({ url }: ClusterNode): Promise<number> {
  const response = await fetch(`${url}/metrics`);
  return Number(LEGS.exec(await response.text())?.[1]);
}

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('an upstream node that is shutting down', () => {
  it('hands its legs over at the ends of turns, unnoticed by callers', { timeout: 90_000 }, async () => {
    const cluster = await Cluster.start({
      front: { roles: 'edge,accounts' },
      left: { roles: 'upstream' },
      right: { roles: 'upstream' },
    });
    const people: Caller[] = [];
    for (let index = 0; index < SESSIONS; index++) {
      const caller = new Caller(cluster.node('front').url, cluster.key, TURN_SECONDS);
      ends.push(() => caller.terminate());
      people.push(caller);
      await caller.started;
    }
    await Promise.all(people.map((caller) => caller.final(1)));

    let handedOver = 0;
    for (const [node, other] of [
      ['left', 'right'],
      ['right', 'left'],
    ].map((names) => names.map((id) => cluster.node(id)) as [ClusterNode, ClusterNode])) {
      const legs = await legsOf(node);
      handedOver += legs;
      const startedAtMs = performance.now();
      expect(await node.end('SIGTERM')).toBe(0);
      console.info(`${node.id}: ${legs} legs handed over in ${Math.round(performance.now() - startedAtMs)} ms`);
      await Promise.all(people.map((caller) => caller.final(caller.finals.length + 1)));
      expect(await legsOf(other)).toBe(SESSIONS);
      await node.start();
    }

    await Promise.all(people.map((caller) => caller.finish()));
    // Whichever had them, the second to go had all of them.
    expect(handedOver).toBeGreaterThanOrEqual(SESSIONS);
    const told = people.flatMap((caller) => caller.of('warning').map(({ code }) => code));
    expect(told).toEqual(Array.from({ length: handedOver }, () => 'upstream_replaced'));
    for (const caller of people) {
      expect(caller.connections).toHaveLength(1);
      expect(caller.of('failover')).toEqual([]);
      // A turn that was cut by the hand-over would be shorter.
      const seconds = caller.finals.slice(0, -1).map(secondsOf);
      expect(seconds).toEqual(seconds.map(() => TURN_SECONDS));
    }
  });
});
