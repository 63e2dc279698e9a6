// The disk with the ledger is lost, and a backup is restored: every edge sends what it knows of since then, and each session is
// billed once.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, type ClusterNode, NODE_START_MS } from '../rig/cluster.ts';
import { beginAll, billedMs, expectAgreement, metric, sessionSeen, settled } from '../rig/crowd.ts';
import type { Talker } from '../rig/talker.ts';

const SESSIONS_A_ROUND = 10;
const ROUNDS = 4;
const SECONDS = 1;
/** What a backup of the machine holds in addition to the copy of the database. */
const KEPT = ['vault-key', 'prices.json'];

async function spoken(node: ClusterNode, key: string): Promise<Talker[]> {
  const talkers = await beginAll(SESSIONS_A_ROUND, { url: node.url, key, seconds: SECONDS });
  await Promise.all(talkers.map((talker) => talker.finish()));
  return talkers;
}

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('a ledger that is restored from a backup', () => {
  let cluster: Cluster;
  let accounts: ClusterNode;
  let edges: readonly [ClusterNode, ClusterNode];
  beforeAll(async () => {
    const edge = { roles: 'edge,upstream' };
    cluster = await Cluster.start({ accounts: { roles: 'accounts' }, 'edge-1': edge, 'edge-2': edge });
    accounts = cluster.node('accounts');
    edges = [cluster.node('edge-1'), cluster.node('edge-2')];
  }, 4 * NODE_START_MS);

  it(
    'bills the sessions that its edges reported between the backup and the loss, each once',
    async () => {
      const { key } = cluster;
      const env = { VOXGATE_DATA_DIRECTORY: accounts.directory };
      const before = await spoken(edges[0], key);
      await settled(accounts, before);
      const backup = join(temporaryDirectory(), 'backup.db');
      expect((await voxgate(['ledger', 'backup', backup], env)).code).toBe(0);
      const after: Talker[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const edge of edges) after.push(...(await spoken(edge, key)));
      }
      await settled(accounts, after);

      await edges[1].end('SIGTERM');
      await accounts.end('SIGKILL');
      for (const name of readdirSync(accounts.directory)) {
        if (!KEPT.includes(name)) rmSync(join(accounts.directory, name), { recursive: true });
      }
      const { code, output } = await voxgate(['ledger', 'restore', backup], env);
      expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('when the gateway starts') });
      const from = accounts.log.length;
      await accounts.start();
      // The edge that runs has asked nothing of it.
      const first = await accounts.logged('usage histories of nodes are settled', () => true, from);
      expect(first).toMatchObject({ sessions: 5 * SESSIONS_A_ROUND, added: ROUNDS * SESSIONS_A_ROUND, refused: 0 });
      const second = accounts.log.length;
      await edges[1].start();
      expect(await accounts.logged('usage histories of nodes are settled', () => true, second)).toMatchObject({
        sessions: ROUNDS * SESSIONS_A_ROUND,
        added: ROUNDS * SESSIONS_A_ROUND,
        refused: 0,
      });
      expect(await metric(accounts, 'voxgate_usage_history_added')).toBe(after.length);
      for (const { sessionId } of [...before, ...after]) {
        const seen = await sessionSeen(edges[0].url, key, sessionId);
        expect(billedMs(seen)).toBe(SECONDS * 1000);
      }
      await expectAgreement(accounts);

      // Neither another start of the edge nor of the accounts sends anything again.
      const third = accounts.log.length;
      for (const node of [accounts, edges[0]]) {
        await node.end('SIGTERM');
        await node.start();
      }
      await settled(accounts, await spoken(edges[0], key));
      expect(accounts.log.slice(third).filter(({ msg }) => msg === 'usage histories of nodes are settled')).toEqual([]);
      await expectAgreement(accounts);
    },
    8 * NODE_START_MS,
  );
});
