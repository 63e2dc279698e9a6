// One accounts node gains two standbys, keeps the accounts alone again, and gains them once more: each time with one restart of that node,
// while sessions run.
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, type ClusterNode, NODE_START_MS, SECRET } from '../rig/cluster.ts';
import { beginAll, billedMs, sessionSeen, settled } from '../rig/crowd.ts';

const VAULT_KEY = { VOXGATE_VAULT_KEY: Buffer.alloc(32, 7).toString('base64') };
const THREE = { VOXGATE_ACCOUNTS_REPLICAS: '3' };
const KEEPERS = ['accounts-1', 'accounts-2', 'accounts-3'];
const SESSIONS = 6;
const SECONDS = 3;

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('an accounts node with and without standbys', () => {
  let cluster: Cluster;
  let edge: ClusterNode;
  let first: ClusterNode;

  const directories = new Map<string, string>();

  /** The same node with other settings. */
  const again = (id: string, env: Record<string, string> = {}) => {
    const directory = directories.get(id) ?? cluster.node(id).directory;
    directories.set(id, directory);
    return cluster.make(id, { roles: 'accounts', env: { VOXGATE_DATA_DIRECTORY: directory, ...env } });
  };
  const run = (...args: string[]) =>
    voxgate(args, {
      ...VAULT_KEY,
      VOXGATE_NATS: cluster.nats.url,
      VOXGATE_SECRET: SECRET,
      VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
    });
  const organisations = async () => {
    const { output } = await run('orgs', 'list', '--json');
    return (JSON.parse(output) as { name: string }[]).map(({ name }) => name).sort();
  };

  beforeAll(async () => {
    cluster = await Cluster.start({}, VAULT_KEY);
    first = await cluster.add('accounts-1', { roles: 'accounts' });
    edge = await cluster.add('edge', { roles: 'edge,upstream' });
    expect((await run('orgs', 'create', 'one')).code).toBe(0);
  }, 4 * NODE_START_MS);

  it(
    'gains standbys with one restart, which running sessions do not notice',
    async () => {
      const talkers = await beginAll(SESSIONS, { url: edge.url, key: cluster.key, seconds: SECONDS });
      await first.end('SIGTERM');
      const startMs = performance.now();
      first = await again('accounts-1', THREE).start();
      // The program takes most of it; a node that takes over waits three seconds more.
      expect(performance.now() - startMs).toBeLessThan(NODE_START_MS / 2);
      for (const id of ['accounts-2', 'accounts-3']) await cluster.make(id, { roles: 'accounts', env: THREE }).follow();
      await Promise.all(talkers.map((talker) => talker.finish()));
      await settled(first, talkers);
      for (const { sessionId } of talkers)
        expect(billedMs(await sessionSeen(edge.url, cluster.key, sessionId))).toBe(SECONDS * 1000);
      expect((await run('orgs', 'create', 'two')).code).toBe(0);
      const verified = await run('accounts', 'verify');
      expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('accounts-3: has the content of')]);
    },
    2 * NODE_START_MS,
  );

  it(
    'keeps the accounts alone again, and no former standby owns them in its place',
    async () => {
      await cluster.node('accounts-3').end('SIGTERM');
      await first.end('SIGTERM');
      // The other one owns the accounts now, and has an entry that this one lacks.
      expect((await run('orgs', 'create', 'three')).code).toBe(0);
      const starting = again('accounts-1');
      const started = starting.start();
      await starting.logged('follows the accounts');
      await cluster.node('accounts-2').end('SIGTERM');
      first = await started;
      await first.logged('keeps the accounts alone');
      expect((await run('accounts', 'status')).output).toMatch(/accounts-1 +single/);
      expect((await run('orgs', 'create', 'four')).code).toBe(0);
      expect(await organisations()).toEqual(expect.arrayContaining(['one', 'two', 'three', 'four']));
      const waiting = again('accounts-2', THREE);
      void waiting.start().catch(() => {});
      await waiting.logged('waiting for the accounts', ({ reason }) =>
        /"accounts-1" keeps the accounts alone/.test(`${reason}`),
      );
      await waiting.end('SIGKILL');
      await first.end('SIGTERM');
      first = await again('accounts-1').start();
      expect((await run('orgs', 'create', 'five')).code).toBe(0);
    },
    2 * NODE_START_MS,
  );

  it(
    'gains standbys once more, each with a copy of what was written alone',
    async () => {
      const waiting = again('accounts-2', THREE);
      const follows = waiting.follow();
      await waiting.logged('waiting for the accounts');
      await first.end('SIGTERM');
      first = await again('accounts-1', THREE).start();
      await follows;
      await again('accounts-3', THREE).follow();
      const { entry: owned } = await first.logged('owns the accounts');
      for (const id of ['accounts-2', 'accounts-3'])
        await cluster.node(id).logged('follows the accounts', ({ entry }) => Number(entry) >= Number(owned));
      const verified = await run('accounts', 'verify', '--json');
      expect([verified.code, verified.output]).toEqual([0, expect.stringContaining('"notCompared":[]')]);
      expect(await organisations()).toEqual(expect.arrayContaining(['three', 'four', 'five']));
    },
    2 * NODE_START_MS,
  );

  it(
    'takes a backup back on all three, each without what was written since',
    async () => {
      const file = join(temporaryDirectory(), 'copy.db');
      expect((await run('accounts', 'snapshot', file)).code).toBe(0);
      expect((await run('orgs', 'create', 'lost')).code).toBe(0);
      await Promise.all(KEEPERS.map((id) => cluster.node(id).end('SIGTERM')));
      const VOXGATE_DATA_DIRECTORY = directories.get('accounts-1') ?? '';
      const restored = await voxgate(['ledger', 'restore', file, '--force'], { VOXGATE_DATA_DIRECTORY, ...VAULT_KEY });
      expect([restored.code, restored.errors]).toEqual([0, expect.any(String)]);
      first = await again('accounts-1', THREE).start();
      const { entry: owned } = await first.logged('owns the accounts');
      for (const id of KEEPERS.slice(1)) {
        const node = await again(id, THREE).follow();
        await node.logged('follows the accounts', ({ entry }) => Number(entry) >= Number(owned));
      }
      expect((await run('accounts', 'verify')).code).toBe(0);
      expect(await organisations()).not.toContain('lost');
      expect((await run('orgs', 'create', 'after')).code).toBe(0);
    },
    2 * NODE_START_MS,
  );

  it(
    'says what to do with a replica that is started without NATS',
    async () => {
      const [line = ''] = (await run('accounts', 'status', '--json')).output.split('\n');
      const { ledger } = JSON.parse(line) as { ledger: string };
      await Promise.all(KEEPERS.map((id) => cluster.node(id).end('SIGTERM')));
      const VOXGATE_DATA_DIRECTORY = directories.get('accounts-1') ?? '';
      const env = { VOXGATE_DATA_DIRECTORY, VOXGATE_SECRET: SECRET, VOXGATE_PORT: '0', ...VAULT_KEY };
      expect(await voxgate(['serve'], env)).toMatchObject({
        code: 78,
        errors: expect.stringMatching(/is one of several replicas/),
      });
      expect((await voxgate(['orgs', 'create', 'six'], env)).errors).toContain('one of several replicas');
      expect((await voxgate(['ledger', 'accept', 'led_wrong'], env)).code).toBe(64);
      expect((await voxgate(['orgs', 'create', 'six'], env)).errors).toContain('one of several replicas');
      expect((await voxgate(['ledger', 'accept', ledger], env)).output).toContain('goes on from where');
      expect((await voxgate(['orgs', 'create', 'six'], env)).code).toBe(0);
    },
    2 * NODE_START_MS,
  );
});
