// Nodes of this version beside some of a later one, as during an update: sessions go over both, in both directions, and every
// micro-dollar arrives, whichever of them keeps the accounts.
import { describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { Cluster, NODE_START_MS, SECRET } from '../rig/cluster.ts';
import { beginAll, createKey, expectBilled, FULL, latestMs, metric } from '../rig/crowd.ts';
import { LATER_VERSION, laterVersion } from '../rig/later-version.ts';
import { Talker } from '../rig/talker.ts';

const TALKERS = FULL ? 40 : 4;
const SECONDS = FULL ? 30 : 20;
const LEGS = 'voxgate_queue_depth{queue="upstream_legs"}';

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('a later version next to this one', () => {
  const cases = [
    { keeper: 'this one', ofKeeper: () => undefined },
    { keeper: 'the later one', ofKeeper: laterVersion },
  ];
  it.concurrent.each(cases)(
    'transcribes on legs of both versions, $keeper keeping the accounts, and bills',
    async ({ ofKeeper }) => {
      const cluster = await Cluster.start({
        accounts: { roles: 'accounts', program: await ofKeeper() },
        'later-legs': { roles: 'upstream', program: await laterVersion() },
        'later-edge': { roles: 'edge', program: await laterVersion() },
        edge: { roles: 'edge' },
      });
      const edge = cluster.node('edge');
      const laterEdge = cluster.node('later-edge');
      const laterLegs = cluster.node('later-legs');
      const speech = { key: cluster.key, seconds: SECONDS };
      const begin = async () => [
        ...(await beginAll(TALKERS, { ...speech, url: edge.url })),
        ...(await beginAll(TALKERS, { ...speech, url: laterEdge.url })),
      ];
      const talkers = await begin();
      await Promise.all(talkers.map((talker) => talker.heardFinals(1)));
      expect(await metric(laterLegs, LEGS)).toBe(2 * TALKERS);
      const legs = await cluster.add('legs', { roles: 'upstream' });
      await Promise.all(talkers.map((talker) => talker.said(SECONDS / 4)));
      await laterLegs.end('SIGKILL');
      await Promise.all(talkers.map((talker) => talker.heardFinals(talker.finals.length + 2)));
      expect(await metric(legs, LEGS)).toBeGreaterThan(0);
      await Promise.all(talkers.map((talker) => talker.finish()));
      await expectBilled(cluster, edge.url, talkers.slice(0, TALKERS), SECONDS);
      await expectBilled(cluster, laterEdge.url, talkers.slice(TALKERS), SECONDS);

      const { output, errors } = await voxgate(['nodes'], { VOXGATE_NATS: cluster.nats.url, VOXGATE_SECRET: SECRET });
      expect(errors).toBe('');
      expect(output).toMatch(new RegExp(`later-edge.*${LATER_VERSION}`));
      const key = await createKey(cluster.node('accounts'));
      for (const { url } of [edge, laterEdge]) {
        const talker = await Talker.begin({ url, key, seconds: 1 });
        await talker.finish();
      }
      for (const node of cluster.nodes.values()) {
        expect(node.log.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
      }
      console.info(`${2 * TALKERS} sessions over two versions: the latest final after ${latestMs(talkers)} ms`);
      await cluster.end();
    },
    6 * NODE_START_MS,
  );
});
