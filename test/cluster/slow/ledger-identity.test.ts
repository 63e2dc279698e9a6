// Ledgers that are not the one of the gateway: another database, an empty directory, an older copy. Each is refused with one sentence
// that says what to do; who speaks goes on meanwhile, and is served by the right one at once.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate, voxgateProcess } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, ClusterNode, NODE_START_MS, SECRET } from '../rig/cluster.ts';
import { createKey, expectAgreement, expectBilled } from '../rig/crowd.ts';
import { Talker } from '../rig/talker.ts';

const CONFIG = 78;

const identityOf = async (directory: string) => {
  const store = await openSqliteStore({ directory });
  try {
    return await store.findLedger();
  } finally {
    await store.close();
  }
};

/** What a start that is refused says: one sentence, with 78. */
async function refusalOf(cluster: Cluster, env: Record<string, string>): Promise<string> {
  const { code, errors } = await voxgateProcess(['serve'], {
    VOXGATE_PORT: '0',
    VOXGATE_SECRET: SECRET,
    VOXGATE_NATS: cluster.nats.url,
    VOXGATE_ROLES: 'accounts',
    VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
    ...env,
  });
  expect({ code, errors }).toEqual({ code: CONFIG, errors: expect.stringMatching(/^voxgate: [^\n]+\n$/) });
  return errors;
}

const statusOf = async ({ url }: ClusterNode, key: string): Promise<number> =>
  (await fetch(`${url}/v1/models`, { headers: { Authorization: `Bearer ${key}` } })).status;

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('a gateway with a ledger', () => {
  let cluster: Cluster;
  let accounts: ClusterNode;
  let edge: ClusterNode;
  let key: string;
  let id: string;
  beforeAll(async () => {
    cluster = await Cluster.start({ accounts: { roles: 'accounts' }, edge: { roles: 'edge,upstream' } });
    accounts = cluster.node('accounts');
    edge = cluster.node('edge');
    key = cluster.key;
    ({ id } = await identityOf(accounts.directory));
  }, 3 * NODE_START_MS);

  const accept = (directory: string, ledger: string) =>
    voxgate(['ledger', 'accept', ledger], { VOXGATE_DATA_DIRECTORY: directory });

  it('says when it made a new one, and its nodes remember which it is', async () => {
    expect(await accounts.logged('created a new ledger')).toMatchObject({ ledger: id, directory: accounts.directory });
    expect(await statusOf(edge, key)).toBe(200);
    expect(JSON.parse(readFileSync(join(edge.directory, 'ledger'), 'utf8'))).toMatchObject({ id, generation: 1 });
  });

  it(
    'refuses an impostor that takes over when the right one is killed; no session ends, and a good key works at once',
    async () => {
      const talker = await Talker.begin({ url: edge.url, key, seconds: 12 });
      await talker.heardFinals(1);
      await accounts.end('SIGKILL');
      const sentence = await refusalOf(cluster, { VOXGATE_NODE_ID: 'impostor' });
      expect(sentence).toMatch(
        new RegExp(
          `holds the ledger led_[0-9a-f]{24}, and the one of this gateway is ${id}: .*voxgate ledger accept ${id}`,
        ),
      );
      await accounts.start();
      expect(await statusOf(edge, key)).toBe(200);
      const ended = await talker.finish();
      expect(ended.reason).toBe('client_closed');
      await expectBilled(cluster, edge.url, [talker], 12);
      await expectAgreement(accounts);
    },
    4 * NODE_START_MS,
  );

  it(
    'refuses the right node on a volume that is not mounted',
    async () => {
      await accounts.end('SIGKILL');
      const sentence = await refusalOf(cluster, { VOXGATE_NODE_ID: 'accounts' });
      expect(sentence).toMatch(/is a volume not mounted, or VOXGATE_DATA_DIRECTORY another\?/);
      await accounts.start();
      expect(await statusOf(edge, key)).toBe(200);
    },
    4 * NODE_START_MS,
  );

  it(
    'refuses an older copy, until it is restored, or a person says that it counts',
    async () => {
      const env = { VOXGATE_DATA_DIRECTORY: accounts.directory };
      const copy = join(temporaryDirectory(), 'copy.db');
      expect((await voxgate(['ledger', 'backup', copy], env)).code).toBe(0);
      await createKey(accounts);
      await accounts.end('SIGTERM');

      const old = temporaryDirectory();
      cpSync(copy, join(old, 'voxgate.db'));
      cpSync(join(accounts.directory, 'vault-key'), join(old, 'vault-key'));
      const refused = { VOXGATE_NODE_ID: 'accounts', VOXGATE_DATA_DIRECTORY: old };
      const sentence = await refusalOf(cluster, refused);
      expect(sentence).toMatch(
        new RegExp(`older copy of the ledger ${id} .*voxgate ledger restore FILE.*voxgate ledger accept ${id}`),
      );
      // It does not catch up by being started again and again.
      expect(await refusalOf(cluster, refused)).toBe(sentence);

      expect((await voxgate(['ledger', 'restore', copy, '--force'], env)).code).toBe(0);
      await accounts.start();
      expect(await statusOf(edge, key)).toBe(200);
      await accounts.end('SIGTERM');

      expect((await accept(old, id)).code).toBe(0);
      const older = await cluster.add('older', { roles: 'accounts', env: { VOXGATE_DATA_DIRECTORY: old } });
      expect(await statusOf(edge, key)).toBe(200);
      await older.end('SIGTERM');
      // And now the other one is the older.
      expect(await refusalOf(cluster, { VOXGATE_DATA_DIRECTORY: accounts.directory })).toMatch(/older copy/);
      await accept(accounts.directory, id);
      await accounts.start();
    },
    8 * NODE_START_MS,
  );

  it(
    'stays trusted by its nodes when NATS has forgotten everything',
    async () => {
      await accounts.end('SIGKILL');
      await cluster.nats.kill();
      rmSync(cluster.nats.storeDirectory, { recursive: true });
      await cluster.nats.restart();
      const before = edge.log.length;
      const impostor = await cluster.add('impostor', { roles: 'accounts' });
      const { id: other } = await identityOf(impostor.directory);
      expect(await statusOf(edge, 'sk_vox_00000000000000000000000000000000000000')).toBe(401);
      const unknown = await createKey(impostor);
      expect(await statusOf(edge, unknown)).toBe(503);
      const sentence = `The node that keeps the accounts has the ledger ${other}, and this node knows ${id}`;
      // Once: the edge asks for the keys in use as soon as a node answers.
      await edge.logged('accounts fault', ({ reason }) => String(reason).includes(sentence), before);
      const refused = await refusalOf(cluster, {
        VOXGATE_NODE_ID: 'edge-2',
        VOXGATE_ROLES: 'edge',
        VOXGATE_DATA_DIRECTORY: edge.directory,
      });
      expect(refused).toContain(sentence);
      expect(refused).toContain(`voxgate ledger accept ${id}`);

      // A person says that it is meant: the node that runs takes it without being started again.
      await impostor.end('SIGTERM');
      expect((await accept(impostor.directory, id)).output).toContain(`The ledger ${other} takes the place of ${id}`);
      await impostor.start();
      expect(await statusOf(edge, unknown)).toBe(200);
      expect(JSON.parse(readFileSync(join(edge.directory, 'ledger'), 'utf8'))).toMatchObject({ id: other });
      await impostor.end('SIGTERM');
      expect(await refusalOf(cluster, { VOXGATE_DATA_DIRECTORY: accounts.directory })).toContain(
        `voxgate ledger accept ${other}`,
      );
    },
    8 * NODE_START_MS,
  );
});

it('creates no new database on a node that was configured to stop, and says so', async () => {
  const directory = temporaryDirectory();
  const env = { VOXGATE_PORT: '0', VOXGATE_DATA_DIRECTORY: directory, VOXGATE_DATABASE_MISSING: 'stop' };
  const { code, errors } = await voxgateProcess(['serve'], env);
  expect({ code, errors }).toEqual({
    code: CONFIG,
    errors: expect.stringMatching(
      /^voxgate: There is no database in [^\n]+ mount what VOXGATE_DATA_DIRECTORY names[^\n]+\n$/,
    ),
  });
  const node = new ClusterNode('alone', { VOXGATE_DATA_DIRECTORY: directory, VOXGATE_NATS: '' });
  await node.start().finally(() => node.end('SIGTERM'));
  expect(await node.logged('created a new ledger')).toMatchObject({ directory });
  const again = new ClusterNode('alone', { ...env, VOXGATE_NATS: '' });
  await again.start().finally(() => again.end('SIGTERM'));
});
