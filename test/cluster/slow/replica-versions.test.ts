// Three nodes that keep the accounts are upgraded one after the other to a version with another operation, another schema and other
// answers.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { Cluster, type ClusterNode, NODE_START_MS, SECRET } from '../rig/cluster.ts';
import { beginAll } from '../rig/crowd.ts';
import { type Edit, versionWith } from '../rig/later-version.ts';

const SECONDS = 1;
const ENV = { VOXGATE_ACCOUNTS_REPLICAS: '3', VOXGATE_VAULT_KEY: Buffer.alloc(32, 7).toString('base64') };
const KEEPERS = ['accounts-1', 'accounts-2', 'accounts-3'] as const;

/** A store that makes keys in another way. */
const EDITS: readonly Edit[] = [
  {
    file: 'src/store/migrations.ts',
    from: 'export const MIGRATIONS: readonly string[] = [',
    to: "const later = 'CREATE TABLE later (number INTEGER PRIMARY KEY) STRICT;';\n\nexport const MIGRATIONS: readonly string[] = [",
  },
  { file: 'src/store/migrations.ts', from: ',\n];', to: ',\n  later,\n];' },
  { file: 'src/store/migrations.ts', from: 'export const STORE_VERSION = ', to: 'export const STORE_VERSION = 90 + ' },
  {
    file: 'src/accounts/keys/calls.ts',
    from: 'createKey: drawing(',
    to: 'createKey: ((each) => ({ ...each, since: 90 }))(drawing(',
  },
  {
    file: 'src/accounts/keys/calls.ts',
    from: "writes(first('text', 'object', 'object', 'number?'))),",
    to: "writes(first('text', 'object', 'object', 'number?')))) as never,",
  },
  {
    file: 'src/money/store/holds.ts',
    from: 'return isTooLittle ? { ...grant, heldMicroUsd: 0n } : grant;',
    to: "return Object.assign({}, isTooLittle ? { ...grant, heldMicroUsd: 0n } : grant, { later: 'new' });",
  },
];

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('a rolling upgrade of the replicas of the accounts', () => {
  it(
    'holds back an operation of the later version until every replica has it, and has no way back',
    async () => {
      const program = await versionWith(EDITS);
      const cluster = await Cluster.start({}, ENV);
      await cluster.add(KEEPERS[0], { roles: 'accounts' });
      for (const id of KEEPERS.slice(1)) await cluster.make(id, { roles: 'accounts' }).follow();
      const edge = await cluster.add('edge', { roles: 'edge,upstream' });
      const directories = new Map(KEEPERS.map((id) => [id as string, cluster.node(id).directory]));
      const again = (id: string, isLater: boolean): ClusterNode => {
        const own = { VOXGATE_DATA_DIRECTORY: directories.get(id) as string };
        return cluster.make(id, { roles: 'accounts', env: own, program: isLater ? program : undefined });
      };
      const key = cluster.key;
      const talk = async () => {
        const talkers = await beginAll(2, { url: edge.url, key, seconds: SECONDS });
        await Promise.all(talkers.map((talker) => talker.finish()));
      };
      const env = { VOXGATE_NATS: cluster.nats.url, VOXGATE_SECRET: SECRET, VOXGATE_DATA_DIRECTORY: edge.directory };
      const createKey = () => voxgate(['keys', 'create', '--name', randomUUID()], env);

      await talk();
      expect(await createKey()).toMatchObject({ code: 0 });
      // The standbys first: they apply what the owner of the version before writes.
      const [first, second, third] = KEEPERS;
      for (const id of [third, second]) {
        await cluster.node(id).end('SIGTERM');
        await again(id, true).follow();
        await talk();
      }
      const later = [second, third].map((id) => cluster.node(id));
      const owns = Promise.race(later.map(async (node) => node.logged('owns the accounts')));
      await cluster.node(first).end('SIGTERM');
      await owns;
      // A replica of the version before applies what the owner of the later version writes.
      const old = await again(first, false).follow();
      await talk();
      expect(await createKey()).toMatchObject({
        code: 1,
        errors: expect.stringContaining('Not yet upgraded: accounts-1'),
      });
      for (const node of [old, ...later]) {
        expect(node.log.filter(({ msg }) => msg === 'the replica of the accounts ends')).toEqual([]);
      }
      await old.end('SIGTERM');
      const upgraded = await again(first, true).follow();
      await expect.poll(async () => (await createKey()).code, { timeout: 10_000 }).toBe(0);
      await talk();
      await upgraded.end('SIGTERM');
      await expect(again(first, false).follow()).rejects.toThrow(
        /ended with 78 .*has schema \d+ and this version knows/,
      );
    },
    12 * NODE_START_MS,
  );
});
