// Nodes that cannot be part of the gateway as they were started: each ends with one sentence that says what to do, with 78 where
// the settings are wrong and 75 where another start may succeed. Those that were there go on. And the one that may begin without NATS.
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type NatsServer, natsServerIsHere, startNatsServer } from '../../fakes/network/nats-server.ts';
import { type Outcome, voxgateProcess } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, ClusterNode, NODE_START_MS, SECRET } from '../rig/cluster.ts';
import { expectAgreement } from '../rig/crowd.ts';
import { Talker } from '../rig/talker.ts';

const CONFIG = 78;
const TEMPORARY = 75;
const OTHER_SECRET = 'a-secret-that-none-of-the-other-nodes-of-it-has';
/** How long a stale lease of a name is waited for: 20 s. */
const REFUSED_MS_MAX = 60_000;
const EVERYTHING = 'edge,upstream,accounts';

/** One sentence for people, and nothing of how the program is made. */
function expectSentence({ code, errors }: Outcome, sentence: RegExp, expected = CONFIG): void {
  expect({ code, errors }).toEqual({ code: expected, errors: expect.stringMatching(sentence) });
  expect(errors.trim().split('\n')).toHaveLength(1);
}

const serve = (env: Record<string, string>): Promise<Outcome> =>
  voxgateProcess(['serve'], {
    VOXGATE_PORT: '0',
    VOXGATE_DATA_DIRECTORY: temporaryDirectory(),
    VOXGATE_SECRET: SECRET,
    ...env,
  });

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('a node next to a running gateway', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start({ accounts: { roles: 'accounts' }, edge: { roles: 'edge,upstream' } });
  }, 2 * NODE_START_MS);

  const refused = [
    {
      name: 'a node with the name of another one',
      env: () => ({ VOXGATE_NODE_ID: 'edge', VOXGATE_ROLES: 'edge,upstream' }),
      sentence: /^voxgate: Another node is called "edge": .*VOXGATE_NODE_ID/,
    },
    {
      name: 'another node that would keep the accounts',
      env: () => ({ VOXGATE_NODE_ID: 'other', VOXGATE_ROLES: EVERYTHING }),
      code: TEMPORARY,
      sentence: /^voxgate: The accounts of shard 0 are kept by the node "accounts": .*VOXGATE_ROLES/,
    },
    {
      name: 'another node on the same data directory',
      env: () => ({
        VOXGATE_NODE_ID: 'same',
        VOXGATE_ROLES: 'accounts',
        VOXGATE_DATA_DIRECTORY: cluster.node('accounts').directory,
      }),
      code: TEMPORARY,
      sentence: /^voxgate: The accounts of shard 0 are kept by the node "accounts": /,
    },
    {
      name: 'a node with another secret',
      env: () => ({ VOXGATE_NODE_ID: 'stranger', VOXGATE_ROLES: 'edge', VOXGATE_SECRET: OTHER_SECRET }),
      sentence: /^voxgate: The node that keeps the accounts cannot read .*VOXGATE_SECRET/,
    },
    {
      name: 'the same node a second time',
      env: () => ({
        VOXGATE_NODE_ID: 'accounts',
        VOXGATE_ROLES: 'accounts',
        VOXGATE_DATA_DIRECTORY: cluster.node('accounts').directory,
      }),
      sentence: /^voxgate: Another node is called "accounts": /,
    },
  ];
  const replica = { VOXGATE_ACCOUNTS_REPLICAS: '3', VOXGATE_NODE_ID: 'replica', VOXGATE_ROLES: 'accounts' };
  const vault = { VOXGATE_VAULT_KEY: Buffer.alloc(32, 7).toString('base64') };
  refused.push(
    {
      name: 'a replica of the accounts without the key of the vault',
      env: () => ({ ...replica }),
      sentence: /^voxgate: Replicas of the accounts open the same vault.*VOXGATE_VAULT_KEY/,
    },
    {
      name: 'a replica of the accounts that would serve clients',
      env: () => ({ ...replica, ...vault, VOXGATE_NODE_ID: 'replica-edge', VOXGATE_ROLES: EVERYTHING }),
      sentence: /^voxgate: A replica of the accounts serves no clients.*VOXGATE_ROLES=accounts/,
    },
  );
  it.concurrent.each(refused)(
    '$name ends, and says why',
    async ({ env, sentence, code }) => {
      const fromMs = performance.now();
      expectSentence(await serve({ VOXGATE_NATS: cluster.nats.url, ...env() }), sentence, code);
      expect(performance.now() - fromMs).toBeLessThan(REFUSED_MS_MAX);
    },
    REFUSED_MS_MAX,
  );

  it.concurrent(
    'leaves a running session undisturbed',
    async () => {
      const talker = await Talker.begin({ url: cluster.node('edge').url, key: cluster.key, seconds: 25 });
      expect(await talker.finish()).toMatchObject({ reason: 'client_closed' });
    },
    REFUSED_MS_MAX,
  );
});

// It says itself why, when something that it needs is not here.
describe.skipIf(!natsServerIsHere)('an unusual NATS at the start', () => {
  const nats = async (options?: Parameters<typeof startNatsServer>[0]): Promise<NatsServer> => {
    const server = await startNatsServer({ jetStream: true, ...options });
    onTestFinished(() => server.stop());
    return server;
  };

  it('ends a replica of the accounts that has none', async () => {
    const outcome = await serve({ VOXGATE_ACCOUNTS_REPLICAS: '3', VOXGATE_ROLES: EVERYTHING });
    expectSentence(outcome, /^voxgate: Replicas of the accounts \(VOXGATE_ACCOUNTS_REPLICAS\).*VOXGATE_NATS/);
  });

  it('ends a replica of the accounts whose NATS accepts smaller messages', async () => {
    const server = await nats({ config: 'max_payload: 65536' });
    const env = { VOXGATE_ACCOUNTS_REPLICAS: '3', VOXGATE_ROLES: 'accounts', VOXGATE_NODE_ID: 'small' };
    const vault = { VOXGATE_VAULT_KEY: Buffer.alloc(32, 7).toString('base64') };
    const outcome = await serve({ VOXGATE_NATS: server.url, ...env, ...vault });
    expectSentence(
      outcome,
      /^voxgate: Replicas of the accounts need NATS servers that accept messages of 1048576 bytes/,
    );
  });

  it('ends a node with 75 after the configured time when it is missing', async () => {
    const server = await nats();
    await server.kill();
    const fromMs = performance.now();
    const outcome = await serve({ VOXGATE_NATS: server.url, VOXGATE_NATS_START_MS: '1500' });
    expectSentence(outcome, /^voxgate: NATS \(nats:\/\/127\.0\.0\.1:\d+\) let no node in within 1500 ms: /, TEMPORARY);
    expect(performance.now() - fromMs).toBeGreaterThan(1500);
  });

  it('ends a node with 78 for a wrong password, and shows neither', async () => {
    const server = await nats({ config: 'authorization { user: node, password: right-password }' });
    const wrong = { VOXGATE_NATS_USER: 'node', VOXGATE_NATS_PASSWORD: 'wrong-password' };
    const outcome = await serve({ VOXGATE_NATS: server.url, VOXGATE_NATS_START_MS: '1500', ...wrong });
    expectSentence(outcome, /Authorization Violation/i);
    expect(outcome.errors + outcome.output).not.toMatch(/wrong-password|right-password/);
  });

  it(
    'serves on a node that may be alone when it is missing, until others join',
    async () => {
      const server = await nats();
      await server.kill();
      const env = { VOXGATE_NATS: server.url, VOXGATE_NATS_MISSING: 'alone', VOXGATE_NATS_START_MS: '1000' };
      const alone = new ClusterNode('alone', env);
      onTestFinished(() => void alone.end('SIGKILL'));
      await alone.start();
      const key = alone.key ?? '';
      await (await Talker.begin({ url: alone.url, key, seconds: 2 })).finish();

      const talker = await Talker.begin({ url: alone.url, key, seconds: 12 });
      await server.restart();
      await alone.logged('the bus is back');
      const edge = new ClusterNode('edge', { VOXGATE_NATS: server.url, VOXGATE_ROLES: 'edge' });
      onTestFinished(() => void edge.end('SIGKILL'));
      await edge.start();
      await (await Talker.begin({ url: edge.url, key, seconds: 2 })).finish();
      await talker.finish();
    },
    3 * NODE_START_MS,
  );

  it(
    'explains once why a node with another secret gets no answer from later accounts',
    async () => {
      const env = { VOXGATE_SECRET: OTHER_SECRET };
      const cluster = await Cluster.start({ stranger: { roles: 'edge', env } });
      const stranger = cluster.node('stranger');
      await cluster.add('accounts', { roles: 'accounts' });
      for (let asked = 1; asked <= 2; asked++) {
        const headers = { Authorization: `Bearer ${cluster.key}` };
        const response = await fetch(`${stranger.url}/v1/models`, { headers });
        expect({ status: response.status, body: await response.json() }).toMatchObject({
          status: 503,
          body: { error: { code: 'overloaded' } },
        });
      }
      const told = stranger.log.filter(({ msg }) => msg === 'bus fault');
      expect(told).toEqual([expect.objectContaining({ reason: expect.stringContaining('the same VOXGATE_SECRET') })]);
    },
    3 * NODE_START_MS,
  );

  it(
    'stops the first of two gateways on one data directory, which writes nothing more',
    async () => {
      const cluster = await Cluster.start({ first: { roles: EVERYTHING } });
      const first = cluster.node('first');
      const { url, directory } = first;
      const talker = await Talker.begin({ url, key: cluster.key, seconds: 4 });
      const env = { VOXGATE_NATS_PREFIX: 'other', VOXGATE_DATA_DIRECTORY: directory };
      const second = await cluster.add('second', { roles: EVERYTHING, env });
      // Its end is the first that has to be written.
      expect(await talker.finish()).toMatchObject({ reason: 'client_closed' });
      const { reason, err } = await first.logged('the node ends');
      expect({ reason, err }).toMatchObject({
        reason: 'store fault',
        err: { message: expect.stringMatching(/"second"/) },
      });
      await first.logged('stopped');
      await (await Talker.begin({ url: second.url, key: cluster.key, seconds: 1 })).finish();
      await expectAgreement(first);
    },
    3 * NODE_START_MS,
  );

  it('may be missing, except for a node without all roles', async () => {
    const server = await nats();
    await server.kill();
    const alone = { VOXGATE_NATS_MISSING: 'alone', VOXGATE_NATS_START_MS: '1000', VOXGATE_ROLES: 'edge,upstream' };
    expectSentence(await serve({ VOXGATE_NATS: server.url, ...alone }), /VOXGATE_ROLES|VOXGATE_NATS_MISSING/);
  });
});
