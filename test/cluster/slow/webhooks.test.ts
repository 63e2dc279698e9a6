// Webhooks of a gateway of several nodes: managed on one edge, told by another, sent by the owner of the accounts, which is killed.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NewWebhookAnswer, WebhookDelivery } from '../../../src/api/webhooks.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { LiveClient } from '../../fakes/processes/live-gateway.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { Cluster, type ClusterNode, NODE_START_MS, SECRET } from '../rig/cluster.ts';

const REPLICAS = {
  VOXGATE_ACCOUNTS_REPLICAS: '3',
  VOXGATE_VAULT_KEY: Buffer.alloc(32, 7).toString('base64'),
};

interface Posted {
  id: string;
  data: { id?: string; transcript?: { text: string }[] };
}

const posted: Posted[] = [];
const watchers = new Set<() => void>();
/** Takes the next post to a path in the place of an answer. */
const held = new Map<string, (response: ServerResponse) => void>();
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  posted.push({ id: request.headers['webhook-id'] as string, data: JSON.parse(body).data });
  const path = request.url ?? '';
  const hold = held.get(path);
  held.delete(path);
  if (hold === undefined) response.writeHead(204).end();
  else hold(response);
  for (const watch of [...watchers]) watch();
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const when = (isSo: () => boolean) =>
  new Promise<void>((resolve) => {
    const watch = () => {
      if (!isSo()) return;
      watchers.delete(watch);
      resolve();
    };
    watchers.add(watch);
    watch();
  });

// It says itself why, when nats-server is not here. Both at once: each waits half a minute for the delivery
// of a killed owner.
describe.skipIf(!natsServerIsHere).concurrent.each([
  ['one accounts node', ['accounts'], {}],
  ['three accounts nodes', ['accounts-1', 'accounts-2', 'accounts-3'], REPLICAS],
] as const)('webhooks on several nodes, with %s', (_, keepers, env) => {
  let cluster: Cluster;
  let one: ClusterNode;
  let two: ClusterNode;
  let key: string;
  let webhook: string;
  const path = `/${keepers.length}`;

  beforeAll(async () => {
    const settings = { ...env, VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' };
    const [first, ...rest] = keepers;
    cluster = await Cluster.start({ [first]: { roles: 'accounts' } }, settings);
    for (const id of rest) await cluster.make(id, { roles: 'accounts' }).follow();
    one = await cluster.add('one', { roles: 'edge,upstream' });
    two = await cluster.add('two', { roles: 'edge,upstream' });
    const command = ['keys', 'create', '--name', 'hooks', '--scope', 'webhooks,listen'];
    const operator = { VOXGATE_NATS: cluster.nats.url, VOXGATE_SECRET: SECRET, VOXGATE_DATA_DIRECTORY: one.directory };
    const { code, output } = await voxgate(command, operator);
    expect(code).toBe(0);
    key = output.trim();
  }, 6 * NODE_START_MS);

  async function ask<Answer>(node: ClusterNode, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${node.url}/v1/webhooks${path}`, {
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    expect([response.ok, answer]).toEqual([true, answer]);
    return answer as Answer;
  }

  it.sequential(
    'receive the end and the text of a session on another node than they are managed on',
    async () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
      const body = { url, events: ['session.ended'], transcripts: true };
      webhook = (await ask<NewWebhookAnswer>(one, '', body)).id;
      const address = `${two.url.replace('http', 'ws')}/v1/listen?model=loopback/script`;
      const client = new LiveClient(address, [], { headers: { Authorization: `Bearer ${key}` } });
      const { session_id: sessionId } = await client.event('session_started');
      client.send(new Uint8Array(64_000));
      client.send({ type: 'finalize' });
      const { text } = await client.event('transcript', ({ is_final }) => is_final);
      client.send({ type: 'close' });
      await client.close();
      await when(() => posted.some(({ data }) => data.id === sessionId));
      const { data } = posted.find((each) => each.data.id === sessionId) as Posted;
      expect(data.transcript).toMatchObject([{ text }]);
    },
    2 * NODE_START_MS,
  );

  it.sequential(
    'are sent again with the same id when the owner of the accounts is killed meanwhile',
    async () => {
      const received = new Promise<void>((resolve) => held.set(path, () => resolve()));
      const { id } = await ask<WebhookDelivery>(two, `/${webhook}/test`, {});
      await received;
      const owner = cluster.node(keepers[0]);
      await owner.end('SIGKILL');
      if (keepers.length === 1) await owner.start();
      await when(() => posted.filter((each) => each.id === id).length === 2);
      const find = async () => {
        const { data } = await ask<{ data: WebhookDelivery[] }>(one, `/${webhook}/deliveries`);
        return data.find((each) => each.id === id);
      };
      // `expect.poll` knows one test at a time.
      const isDelivered = async () => expect(await find()).toMatchObject({ state: 'delivered', attempts: 1 });
      await vi.waitFor(isDelivered, { timeout: NODE_START_MS });
    },
    6 * NODE_START_MS,
  );
});
