// Jobs of a node that is killed and never comes back, or is paused for longer than its lease: other nodes finish them, each charged once.
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavOf } from '../../fakes/audio/audio-files.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { voxgate } from '../../fakes/processes/voxgate.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, type ClusterNode, NODE_START_MS, type NodeSettings, SECRET } from '../rig/cluster.ts';

const LEASE_MS = 4_000;
/** The lease, the time in which a node may renew it, two looks, and what a busy machine takes. */
const TAKEN_MS = 60_000;
const WAV = wavOf(16_000);
const EDGE: NodeSettings = { roles: 'edge,upstream' };

/** A speech server of the operator's own, which answers when the test says so. */
const held = new Set<ServerResponse>();
const server = createServer((request, response) => {
  if (request.method === 'GET') return response.writeHead(200, { 'Content-Type': 'audio/wav' }).end(WAV);
  held.add(response);
  response.once('close', () => held.delete(response));
  return request.resume();
});
const isHeld = (count: number) => expect.poll(() => held.size, { timeout: TAKEN_MS }).toBe(count);
function answerAll(): void {
  for (const response of held) {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ text: 'held speech' }));
  }
  held.clear();
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function settings(): Record<string, string> {
  const path = join(temporaryDirectory(), 'voxgate.json');
  const models = [{ name: 'own', model: 'own-1', batch: '0.6' }];
  writeFileSync(path, JSON.stringify({ custom: [{ shape: 'openai', url: `${url()}/v1`, models }] }));
  return {
    VOXGATE_CONFIG: path,
    VOXGATE_SESSION_DRAIN_MS: '0',
    VOXGATE_JOB_LEASE_MS: String(LEASE_MS),
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
    VOXGATE_UNTAKEN_FILES_FREE: '1000',
    VOXGATE_FILES_PER_KEY_MAX: '2',
  };
}

type Job = { id: string; status: string; attempts: number; result?: { text: string } };

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('jobs of a node that is gone', () => {
  let cluster: Cluster;
  let one: ClusterNode;

  const get = async <Answer>(node: ClusterNode, path: string, init: RequestInit = {}): Promise<Answer> => {
    const reply = await fetch(`${node.url}/v1/${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${cluster.key}`, ...(init.headers as Record<string, string>) },
    });
    const text = await reply.text();
    return (text === '' ? { status: reply.status } : JSON.parse(text)) as Answer;
  };
  const job = (node: ClusterNode, id: string) => get<Job>(node, `jobs/${id}`);
  const until = (node: ClusterNode, id: string, status: string) =>
    expect.poll(async () => (await job(node, id)).status, { timeout: TAKEN_MS, interval: 200 }).toBe(status);
  const create = async (node: ClusterNode): Promise<string> => {
    const body = new FormData();
    body.append('model', 'custom/own');
    body.append('file', new Blob([WAV]), 'a.wav');
    const { id, ...others } = await get<Job>(node, 'jobs', { method: 'POST', body });
    expect(id, JSON.stringify(others)).toBeDefined();
    return id;
  };
  const charges = async (node: ClusterNode, id: string): Promise<number> => {
    const { data } = await get<{ data: { cost_usd: string }[] }>(node, `sessions?id=job_${id}&limit=100`);
    return data.filter(({ cost_usd }) => Number(cost_usd) > 0).length;
  };
  const isFinished = async (node: ClusterNode, ids: readonly string[]) => {
    for (const id of ids) {
      await until(node, id, 'completed');
      expect((await job(node, id)).result).toMatchObject({ text: 'held speech' });
      await expect.poll(() => charges(node, id), { timeout: 10_000 }).toBe(1);
    }
  };
  const onNats = async <Result>(work: (streams: JetStreamManager['streams']) => Promise<Result>): Promise<Result> => {
    const connection = await connect({ servers: cluster.nats.url });
    const manager = await jetstreamManager(connection);
    return work(manager.streams).finally(() => connection.close());
  };
  const audioOnNats = () => onNats(async (streams) => (await streams.info('voxgate-job-audio')).state.messages);

  beforeAll(async () => {
    cluster = await Cluster.start({ accounts: { roles: 'accounts' } }, settings());
    one = await cluster.add('one', EDGE);
  }, 3 * NODE_START_MS);

  it.each<[string, Record<string, string>]>([
    ['a name', {}],
    ['no name', { VOXGATE_NODE_ID: '' }],
  ])(
    'with %s, queued and in progress, are finished by another one, and charged once',
    async (_, env) => {
      const lost = await cluster.add(`lost-${Object.keys(env).length}`, { ...EDGE, env });
      const ids = [await create(lost), await create(lost)];
      await isHeld(2);
      ids.push(await create(lost));
      const body = JSON.stringify({ model: 'custom/own', audio_url: `${url()}/a.wav` });
      const headers = { 'Content-Type': 'application/json' };
      ids.push((await get<Job>(lost, 'jobs', { method: 'POST', body, headers })).id);
      expect((await job(one, ids[3] as string)).status).toBe('queued');
      await lost.end('SIGKILL');
      await isHeld(0);
      await isHeld(2);
      const shown = await Promise.all(ids.map((id) => job(one, id)));
      expect(shown.map(({ attempts }) => attempts)).toEqual([2, 2, 1, 1]);
      answerAll();
      await isHeld(2);
      answerAll();
      await isFinished(one, ids);
      await expect.poll(audioOnNats, { timeout: 10_000 }).toBe(0);
    },
    3 * TAKEN_MS,
  );

  it(
    'are shown, cancelled and deleted on any node, before and after they were taken over',
    async () => {
      const two = await cluster.add('two', EDGE);
      const lost = await cluster.add('lost', EDGE);
      const ids = [await create(lost), await create(lost), await create(lost)];
      const [first, second, third] = ids as [string, string, string];
      await isHeld(2);
      await lost.end('SIGKILL');
      expect(await get(two, `jobs/${third}`, { method: 'DELETE' })).toEqual({ status: 204 });
      await isHeld(0);
      await isHeld(2);
      const cancelled = await get<Job>(two, `jobs/${first}/cancel`, { method: 'POST' });
      expect(cancelled.status).toBe('cancelled');
      expect(await get(one, `jobs/${second}`, { method: 'DELETE' })).toEqual({ status: 204 });
      await isHeld(0);
      expect((await job(one, third)).status).toBeUndefined();
      expect([await charges(one, first), await charges(one, second)]).toEqual([0, 0]);
      await expect.poll(audioOnNats, { timeout: 10_000 }).toBe(0);
      const faults = [one, two].flatMap(({ log }) => log.filter(({ msg }) => msg === 'job fault'));
      expect(faults).toEqual([]);
      // It comes back, and its jobs are over.
      await lost.start();
      await expect.poll(() => readdirSync(join(lost.directory, 'jobs', 'node-lost')), { timeout: 10_000 }).toEqual([]);
      for (const node of [two, lost]) await node.end('SIGTERM');
    },
    4 * TAKEN_MS,
  );

  it(
    'are left to the one that took them over when the first one was only frozen',
    async () => {
      const posted: { type: string; data: { id: string } }[] = [];
      const receiver = createServer((request, response) => {
        let text = '';
        request.on('data', (chunk) => {
          text += chunk;
        });
        request.on('end', () => {
          posted.push(JSON.parse(text));
          response.writeHead(204).end();
        });
      }).listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const hook = { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, events: ['job.completed'] };
      const command = ['keys', 'create', '--name', 'hooks', '--scope', 'webhooks,listen'];
      const operator = {
        VOXGATE_NATS: cluster.nats.url,
        VOXGATE_SECRET: SECRET,
        VOXGATE_DATA_DIRECTORY: one.directory,
      };
      const { output } = await voxgate(command, operator);
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${output.trim()}` };
      await get(one, 'webhooks', { method: 'POST', body: JSON.stringify(hook), headers });
      const frozen = await cluster.add('frozen', EDGE);
      const id = await create(frozen);
      await isHeld(1);
      const [own] = held;
      frozen.signal('SIGSTOP');
      // The other node asks as well.
      await isHeld(2);
      const taken = [...held].find((response) => response !== own) as ServerResponse;
      // The answer is the first that the frozen node sees when it continues.
      own?.setHeader('Content-Type', 'application/json').end(JSON.stringify({ text: 'of the frozen node' }));
      frozen.signal('SIGCONT');
      await expect
        .poll(() => readdirSync(join(frozen.directory, 'jobs', 'node-frozen')), { timeout: TAKEN_MS })
        .toEqual([]);
      expect([(await job(one, id)).status, await charges(one, id)]).toEqual(['processing', 0]);
      taken.setHeader('Content-Type', 'application/json').end(JSON.stringify({ text: 'held speech' }));
      await isFinished(one, [id]);
      await expect.poll(() => posted.length, { timeout: 20_000 }).toBe(1);
      expect(posted[0]).toMatchObject({ type: 'job.completed', data: { id } });
      await frozen.end('SIGTERM');
      expect(posted).toHaveLength(1);
      expect(await charges(one, id)).toBe(1);
      receiver.close();
    },
    4 * TAKEN_MS,
  );

  it(
    'fail where their audio is gone from NATS, too',
    async () => {
      const lost = await cluster.add('lost-audio', EDGE);
      const id = await create(lost);
      await isHeld(1);
      await onNats((streams) => streams.purge('voxgate-job-audio'));
      await lost.end('SIGKILL');
      await until(one, id, 'failed');
      expect(await get(one, `jobs/${id}/result`)).toMatchObject({
        error: { code: 'internal_error', message: expect.stringContaining('audio of this job no longer exists') },
      });
      expect(await charges(one, id)).toBe(0);
      await isHeld(0);
    },
    2 * TAKEN_MS,
  );

  it(
    'wait for it where its audio had no room on NATS, and an event says so',
    async () => {
      const env = { VOXGATE_JOB_AUDIO_FILE_BYTES_MAX: '1000' };
      const small = await cluster.add('small', { ...EDGE, env });
      const id = await create(small);
      await isHeld(1);
      await small.logged(
        'job stays with this node: its audio could not be shared',
        ({ reason }) => reason === 'too_large',
      );
      const metrics = await (await fetch(`${small.url}/metrics`)).text();
      expect(metrics).toMatch(/voxgate_drops_total\{name="shared_job_audio",[^}]*\} 1/);
      await small.end('SIGKILL');
      await isHeld(0);
      const later = await create(one);
      await isHeld(1);
      answerAll();
      await isFinished(one, [later]);
      expect((await job(one, id)).status).toBe('processing');
      await small.start();
      await isHeld(1);
      answerAll();
      await isFinished(one, [id]);
      await small.end('SIGTERM');
    },
    4 * TAKEN_MS,
  );
});

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('a gateway whose NATS has no room for audio', () => {
  it(
    'accepts and finishes jobs anyway',
    async () => {
      const store = JSON.stringify(temporaryDirectory());
      const config = `jetstream { store_dir: ${store}, max_file_store: 1GB }`;
      const cluster = await Cluster.start({ accounts: { roles: 'accounts' }, edge: EDGE }, settings(), { config });
      const edge = cluster.node('edge');
      const body = new FormData();
      body.append('model', 'custom/own');
      body.append('file', new Blob([WAV]), 'a.wav');
      const headers = { Authorization: `Bearer ${cluster.key}` };
      const reply = await fetch(`${edge.url}/v1/jobs`, { method: 'POST', body, headers });
      expect(reply.status).toBe(202);
      const { id } = (await reply.json()) as Job;
      await edge.logged(
        'job stays with this node: its audio could not be shared',
        ({ reason }) => reason === 'refused',
      );
      await isHeld(1);
      answerAll();
      const status = async () => ((await (await fetch(`${edge.url}/v1/jobs/${id}`, { headers })).json()) as Job).status;
      await expect.poll(status, { timeout: 10_000 }).toBe('completed');
    },
    4 * NODE_START_MS,
  );
});
