// Commands of operators from a machine without a node, while three nodes keep the accounts: each change is there once, whichever node
// owns them, and one sentence says what is known where none does.
import { beforeAll, describe, expect, it } from 'vitest';
import { Cluster, type ClusterNode, NODE_START_MS, SECRET } from '../../cluster/rig/cluster.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');
const KEEPERS = ['accounts-1', 'accounts-2', 'accounts-3'];

// Skipped without the program; under CI that fails.
describe.skipIf(!natsServerIsHere)('commands over NATS', () => {
  let cluster: Cluster;
  let owner: ClusterNode;
  let organisation = '';

  const elsewhere = (env: Record<string, string> = {}) => ({
    VOXGATE_NATS: cluster.nats.url,
    VOXGATE_SECRET: SECRET,
    VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
    ...env,
  });
  const run = (args: string[], env?: Record<string, string>) => voxgate(args, elsewhere(env));

  beforeAll(async () => {
    cluster = await Cluster.start({}, { VOXGATE_ACCOUNTS_REPLICAS: '3', VOXGATE_VAULT_KEY: VAULT_KEY });
    owner = await cluster.add('accounts-1', { roles: 'accounts' });
    for (const id of KEEPERS.slice(1)) await cluster.make(id, { roles: 'accounts' }).follow();
    await cluster.add('edge', { roles: 'edge,upstream' });
  }, 6 * NODE_START_MS);

  it('create, credit, list and end what the gateway then knows', async () => {
    const made = await run(['orgs', 'create', 'Acme', '--credit-limit', 'none']);
    expect(made).toMatchObject({ code: 0, errors: expect.stringContaining('"Acme" has no credit limit') });
    organisation = made.output.trim();
    expect((await run(['orgs', 'credit', organisation, '12.50'])).output).toContain('is 12.50 USD');
    const { output: secret, errors } = await run(['keys', 'create', '--org', organisation]);
    const models = () =>
      fetch(`${cluster.node('edge').url}/v1/models`, { headers: { Authorization: `Bearer ${secret.trim()}` } });
    expect((await models()).status).toBe(200);
    const [keyId = ''] = /key_[\w-]+/.exec(errors) ?? [];
    expect((await run(['keys', 'revoke', keyId])).output).toContain('is revoked since');
    expect((await models()).status).toBe(401);
    expect((await run(['usage', organisation])).code).toBe(0);
    const audit = await run(['ledger', 'audit', '--json']);
    expect([audit.code, JSON.parse(audit.output)]).toMatchObject([0, { ok: true }]);
  });

  it('store the key of a provider with the vault of the owner', async () => {
    const { code, output, errors } = await run(['vault', 'list', organisation, '--json']);
    expect([code, output.trim(), errors]).toEqual([0, '[]', '']);
    const status = await run(['vault', 'status'], { VOXGATE_VAULT_KEY: VAULT_KEY });
    expect(status.output).toContain('No provider key is kept.');
    expect((await run(['vault', 'status'])).errors).toContain('VOXGATE_VAULT_KEY');
  });

  it(
    'wait for the next owner when the owner is killed, and make each change once',
    async () => {
      const from = KEEPERS.map((id) => cluster.node(id).log.length);
      const running = Array.from({ length: 6 }, (_, n) => run(['orgs', 'create', `Once ${n}`]));
      await owner.end('SIGKILL');
      for (const { code, errors } of await Promise.all(running))
        expect([code, errors]).toEqual([0, expect.any(String)]);
      const { output } = await run(['orgs', 'list', '--json']);
      const names = (JSON.parse(output) as { name: string }[])
        .map(({ name }) => name)
        .filter((name) => /^Once/.test(name));
      expect(names.sort()).toEqual(Array.from({ length: 6 }, (_, n) => `Once ${n}`));
      await Promise.race(
        KEEPERS.slice(1).map((id, index) => cluster.node(id).logged('owns the accounts', () => true, from[index + 1])),
      );
      await owner.follow();
    },
    4 * NODE_START_MS,
  );

  it(
    'reach the next owner while NATS still offers the frozen one',
    async () => {
      const epochOf = ({ log }: ClusterNode) =>
        Number(log.findLast(({ msg }) => msg === 'owns the accounts')?.epoch ?? 0);
      const [frozen, ...others] = KEEPERS.map((id) => cluster.node(id)).sort((a, b) => epochOf(b) - epochOf(a));
      const from = others.map(({ log }) => log.length);
      frozen?.signal('SIGSTOP');
      await Promise.race(others.map((node, at) => node.logged('owns the accounts', undefined, from[at])));
      // Half of the requests that NATS distributes would go to the frozen node.
      const results = await Promise.all(Array.from({ length: 6 }, (_, n) => run(['orgs', 'create', `Beside ${n}`])));
      expect(results.map(({ code }) => code)).toEqual(results.map(() => 0));
      await frozen?.end('SIGKILL');
    },
    // Less than calls to the frozen node take to time out one after the other.
    NODE_START_MS,
  );

  it(
    'say what is known when no owner is left, and leave the file of a replica alone',
    async () => {
      await Promise.all(KEEPERS.map((id) => cluster.node(id).end('SIGKILL')));
      const nowhere = await run(['orgs', 'create', 'Nobody']);
      expect(nowhere).toMatchObject({ code: 75, errors: expect.stringMatching(/no node that owns .* no database in/) });
      const VOXGATE_DATA_DIRECTORY = owner.directory;
      const refused = await run(['orgs', 'create', 'Nobody'], { VOXGATE_DATA_DIRECTORY });
      expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('one of several replicas') });
      expect((await run(['orgs', 'list'], { VOXGATE_DATA_DIRECTORY })).output).toContain('Acme');
      await cluster.nats.stop();
      const alone = await run(['orgs', 'list'], { VOXGATE_DATA_DIRECTORY });
      expect(alone.output).toContain('Acme');
    },
    4 * NODE_START_MS,
  );
});
