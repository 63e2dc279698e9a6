// Nodes with connections to providers that are killed or stand still in the middle of a sentence: nobody who speaks hears of it.
import { beforeAll, describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { Cluster, type ClusterNode, NODE_START_MS } from '../rig/cluster.ts';
import { beginAll, expectBilled, FULL, latestMs, metric } from '../rig/crowd.ts';

const TALKERS = FULL ? 100 : 6;
const SECONDS = FULL ? 30 : 10;
const RECOVERED_MS_MAX = 5_000;
const LEGS = 'voxgate_queue_depth{queue="upstream_legs"}';
const UPSTREAM = { roles: 'upstream' };

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('two upstream nodes', () => {
  let cluster: Cluster;
  let url: string;
  beforeAll(async () => {
    cluster = await Cluster.start({
      accounts: { roles: 'accounts' },
      one: UPSTREAM,
      two: UPSTREAM,
      edge: { roles: 'edge' },
    });
    url = cluster.node('edge').url;
  }, 4 * NODE_START_MS);

  /** The one that has most of the legs. */
  const busiest = async (): Promise<{ node: ClusterNode; legs: number }> => {
    const both = ['one', 'two'].map((id) => cluster.node(id));
    const seen = await Promise.all(both.map(async (node) => ({ node, legs: await metric(node, LEGS) })));
    return seen.sort((a, b) => b.legs - a.legs)[0] as { node: ClusterNode; legs: number };
  };

  const faults = [
    {
      name: 'stands still and is counted out',
      begin: async (node: ClusterNode) => node.signal('SIGSTOP'),
      end: (node: ClusterNode) => node.signal('SIGCONT'),
    },
    { name: 'is killed', begin: (node: ClusterNode) => node.end('SIGKILL'), end: () => {} },
  ];
  it.each(faults)(
    'lose no sample when one $name mid-sentence, and no word is 5 s late',
    async ({ name, begin, end }) => {
      const talkers = await beginAll(TALKERS, { url, key: cluster.key, seconds: SECONDS });
      await Promise.all(talkers.map((talker) => talker.said(SECONDS * 0.45)));
      const { node, legs } = await busiest();
      expect(legs).toBeGreaterThan(0);
      await begin(node);
      const ended = await Promise.all(talkers.map((talker) => talker.finish()));
      expect(new Set(ended.map(({ reason }) => reason))).toEqual(new Set(['client_closed']));
      const lateMs = latestMs(talkers);
      end(node);
      await expectBilled(cluster, url, talkers, SECONDS);
      console.info(`${TALKERS} sessions, a node with ${legs} legs ${name}: the latest final after ${lateMs} ms`);
      expect(lateMs).toBeLessThan(RECOVERED_MS_MAX);
    },
    30_000 + SECONDS * 2_000 + NODE_START_MS,
  );
});
