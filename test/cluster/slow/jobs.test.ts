// Jobs of another vendor's client on a gateway of several nodes: each request goes to another edge, nodes are killed and restarted, and
// transcripts have several MB.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Deferred, deferred } from '../../../src/http/deferred.ts';
import { wavOf } from '../../fakes/audio/audio-files.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { seeded } from '../../fakes/random.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, type ClusterNode, NODE_START_MS } from '../rig/cluster.ts';
import { FULL } from '../rig/crowd.ts';

const random = seeded(5);
/** 3 MB that hardly can be compressed to a third. */
const TEXT = Array.from({ length: 500_000 }, () => random.integer(0, 99_999)).join(' ');
const REPLICAS = {
  VOXGATE_ACCOUNTS_REPLICAS: '3',
  VOXGATE_VAULT_KEY: Buffer.alloc(32, 7).toString('base64'),
};

/** A speech server of the operator's own: answers with the text, or not at all while `isHeld`. It receives callbacks as well. */
class SpeechServer {
  isHeld = false;
  held: Deferred<ServerResponse> = deferred();
  /** What receivers of callbacks got, by their path. */
  readonly #told = new Map<string, Deferred<string>>();
  readonly #server = createServer(async (request, response) => {
    if (request.url?.startsWith('/hook')) {
      let body = '';
      for await (const piece of request.setEncoding('utf8')) body += piece;
      response.writeHead(204).end();
      return this.toldAt(request.url).resolve(body);
    }
    request.resume();
    request.on('end', () => {
      if (!this.isHeld) return answer(response);
      this.held.resolve(response);
    });
  });

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  toldAt(path: string): Deferred<string> {
    const known = this.#told.get(path) ?? deferred<string>();
    this.#told.set(path, known);
    return known;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const answer = (response: ServerResponse) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ text: TEXT }));
};

/** `expect.poll` knows one test at a time. */
const soon = (look: () => Promise<void>) => vi.waitFor(look, { timeout: NODE_START_MS });

const configurationOf = ({ url }: SpeechServer): string => {
  const path = join(temporaryDirectory(), 'voxgate.json');
  const models = [{ name: 'own', model: 'own-1', batch: 'free' }];
  writeFileSync(path, JSON.stringify({ custom: [{ shape: 'openai', url: `${url}/v1`, models }] }));
  return path;
};

// It says itself why, when nats-server is not here. Both at once: nodes that drain wait for half a minute.
describe.skipIf(!natsServerIsHere).concurrent.each([
  ['one accounts node', ['accounts'], {}],
  ['three accounts nodes', ['accounts-1', 'accounts-2', 'accounts-3'], REPLICAS],
] as const)('jobs on several nodes, with %s', (_, keepers, env) => {
  let cluster: Cluster;
  let one: ClusterNode;
  let two: ClusterNode;
  const server = new SpeechServer();

  beforeEach(() => {
    server.isHeld = false;
  });
  afterAll(() => server.close());

  /** A request as Soniox' clients send it. */
  const send = (node: ClusterNode, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${node.url}/compat/soniox/v1${path}`, {
      ...init,
      headers: { Authorization: `Bearer ${cluster.key}`, ...(init.headers as Record<string, string>) },
    });
  const json = async (answered: Promise<Response>): Promise<[number, Record<string, unknown>]> => {
    const answer = await answered;
    const text = await answer.text();
    return [answer.status, text === '' ? {} : JSON.parse(text)];
  };
  const upload = async (node: ClusterNode): Promise<string> => {
    const form = new FormData();
    form.append('file', new Blob([wavOf(16_000)]), 'a.wav');
    const [status, { id }] = await json(send(node, '/files', { method: 'POST', body: form }));
    expect(status).toBe(201);
    return String(id);
  };
  const begin = (node: ClusterNode, fileId: string, more: object = {}) =>
    json(
      send(node, '/transcriptions', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ file_id: fileId, model: 'custom/own', ...more }),
      }),
    );
  const begun = async (node: ClusterNode, fileId: string, more: object = {}): Promise<string> => {
    const [status, { id }] = await begin(node, fileId, more);
    expect(status).toBe(201);
    return String(id);
  };
  /** A job that its server does not answer. */
  const running = async (node: ClusterNode, more = {}): Promise<{ id: string; response: ServerResponse }> => {
    const file = await upload(node);
    server.isHeld = true;
    server.held = deferred();
    server.held.promise.then(() => {
      server.isHeld = false;
    });
    const id = await begun(node, file, more);
    return { id, response: await server.held.promise };
  };
  const job = (node: ClusterNode, id: string) => json(send(node, `/transcriptions/${id}`));
  /** Clients poll as well. */
  const untilStatus = (node: ClusterNode, id: string, status: string) =>
    soon(async () => expect((await job(node, id))[1].status).toBe(status));
  const textOf = async (node: ClusterNode, id: string) =>
    (await json(send(node, `/transcriptions/${id}/transcript`)))[1].text;

  beforeAll(async () => {
    await server.listen();
    const settings = {
      ...{ ...env, VOXGATE_CONFIG: configurationOf(server), VOXGATE_SESSION_DRAIN_MS: '0' },
      VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1',
    };
    const [first, ...rest] = keepers;
    cluster = await Cluster.start({ [first]: { roles: 'accounts' } }, settings);
    for (const id of rest) await cluster.make(id, { roles: 'accounts' }).follow();
    one = await cluster.add('one', { roles: 'edge,upstream' });
    two = await cluster.add('two', { roles: 'edge,upstream' });
  }, 6 * NODE_START_MS);

  it.sequential(
    'are requested, read, listed and deleted on any node, with 3 MB of text',
    async () => {
      const file = await upload(one);
      expect((await json(send(two, `/files/${file}`)))[1]).toMatchObject({ id: file, filename: 'a.wav' });
      expect((await json(send(two, '/files/count')))[1]).toMatchObject({ total: 1 });
      const id = await begun(two, file);
      await untilStatus(two, id, 'completed');
      for (const node of [one, two]) {
        expect((await textOf(node, id)) === TEXT).toBe(true);
        expect((await json(send(node, '/transcriptions/count')))[1]).toMatchObject({ total: 1 });
      }
      expect((await send(two, `/files/${file}`, { method: 'DELETE' })).status).toBe(204);
      expect((await send(one, `/files/${file}`)).status).toBe(404);
      expect((await send(two, `/transcriptions/${id}`, { method: 'DELETE' })).status).toBe(204);
      expect((await job(one, id))[0]).toBe(404);
    },
    2 * NODE_START_MS,
  );

  it.sequential(
    'keep their transcripts when every node is killed in turn',
    async () => {
      const id = await begun(one, await upload(one));
      await untilStatus(one, id, 'completed');
      const owner = cluster.node(keepers[0]);
      await owner.end('SIGKILL');
      if (keepers.length === 1) await owner.start();
      for (const node of [one, two]) {
        await node.end('SIGKILL');
        await node.start();
        await untilStatus(node, id, 'completed');
        expect((await textOf(node, id)) === TEXT).toBe(true);
      }
      if (keepers.length > 1) await owner.follow();
    },
    6 * NODE_START_MS,
  );

  const hook = (path: string) => ({
    webhook_url: `${server.url}/hook/${path}`,
  });
  const toldOf = async (path: string): Promise<unknown> => JSON.parse(await server.toldAt(`/hook/${path}`).promise);

  it.sequential(
    'are reported to the address that their client named, also when the owner of the accounts is killed',
    async () => {
      const plain = await begun(two, await upload(one), hook('plain'));
      expect(await toldOf('plain')).toEqual({ id: plain, status: 'completed' });
      const { id, response } = await running(one, hook('owner'));
      const owner = cluster.node(keepers[0]);
      await owner.end('SIGKILL');
      answer(response);
      if (keepers.length === 1) await owner.start();
      expect(await toldOf('owner')).toEqual({ id, status: 'completed' });
      if (keepers.length > 1) await owner.follow();
    },
    4 * NODE_START_MS,
  );

  it.sequential(
    'are reported as failed when their node was killed',
    async () => {
      const { id } = await running(one, hook('killed'));
      await one.end('SIGKILL');
      await one.start();
      expect(await toldOf('killed')).toEqual({ id, status: 'error' });
    },
    3 * NODE_START_MS,
  );

  it.sequential(
    'finish while their node drains',
    async () => {
      const { id, response } = await running(one);
      const from = one.log.length;
      const ended = one.end('SIGTERM');
      await one.logged('draining', () => true, from);
      answer(response);
      expect(await ended).toBe(0);
      expect((await job(two, id))[1].status).toBe('completed');
      expect((await textOf(two, id)) === TEXT).toBe(true);
      await one.start();
    },
    3 * NODE_START_MS,
  );

  const own = (node: ClusterNode, path = '', init: RequestInit = {}) =>
    json(fetch(`${node.url}/v1/jobs${path}`, { ...init, headers: { Authorization: `Bearer ${cluster.key}` } }));
  /** A job of the gateway itself that its server does not answer. */
  const ownRunning = async (node: ClusterNode): Promise<{ id: string; response: ServerResponse }> => {
    const body = new FormData();
    body.append('model', 'custom/own');
    body.append('file', new Blob([wavOf(16_000)]), 'a.wav');
    server.isHeld = true;
    server.held = deferred();
    const [status, { id }] = await own(node, '', { method: 'POST', body });
    expect(status).toBe(202);
    const response = await server.held.promise;
    server.isHeld = false;
    return { id: String(id), response };
  };
  const untilOwn = (node: ClusterNode, id: string, status: string) =>
    soon(async () => expect((await own(node, `/${id}`))[1].status).toBe(status));

  it.sequential(
    'of /v1/jobs are shown, cancelled and removed by any node',
    async () => {
      const { id } = await ownRunning(one);
      expect((await own(two, `/${id}`))[1]).toMatchObject({ status: 'processing' });
      expect((await own(two, `/${id}/cancel`, { method: 'POST' }))[1]).toMatchObject({ status: 'cancelled' });
      expect((await own(one, `/${id}`))[1]).toMatchObject({ status: 'cancelled' });
      expect((await own(two, `/${id}`, { method: 'DELETE' }))[0]).toBe(204);
      expect((await own(one, `/${id}`))[0]).toBe(404);
    },
    2 * NODE_START_MS,
  );

  it.sequential.each(keepers.length > 1 ? (['SIGKILL'] as const) : (['SIGTERM', 'SIGKILL'] as const))(
    'of /v1/jobs continue when their node, ended by %s, is back',
    async (signal) => {
      const { id } = await ownRunning(one);
      await one.end(signal);
      expect((await own(two, `/${id}`))[1].ended_at).toBeNull();
      await one.start();
      await untilOwn(two, id, 'completed');
      expect((await own(two, `/${id}`))[1].result).toMatchObject({ text: TEXT });
    },
    4 * NODE_START_MS,
  );

  it.sequential.each(['SIGTERM', 'SIGKILL'] as const)(
    'fail when their node is ended by %s, and its files are gone',
    async (signal) => {
      const file = await upload(one);
      const { id } = await running(one);
      expect((await job(two, id))[1]).toMatchObject({ status: 'processing' });
      await one.end(signal);
      if (signal === 'SIGKILL') await one.start();
      await untilStatus(two, id, 'error');
      expect((await job(two, id))[1].error_message).toMatch(/stopped before this job was completed/);
      const [status, refusal] = await begin(two, file);
      expect([status, String(refusal.message)]).toEqual([404, expect.stringContaining('Upload it again')]);
      if (signal === 'SIGTERM') await one.start();
    },
    4 * NODE_START_MS,
  );

  // Takes more than a minute.
  it.runIf(FULL).sequential(
    'fail when their node is killed and never returns, after its lease',
    async () => {
      const three = await cluster.add('three', { roles: 'edge,upstream' });
      const { id } = await running(three);
      await three.end('SIGKILL');
      const killedAtMs = performance.now();
      await vi.waitFor(async () => expect((await job(two, id))[1].status).toBe('error'), {
        timeout: 150_000,
        interval: 500,
      });
      console.info(`failed ${Math.round((performance.now() - killedAtMs) / 1000)} s after the kill`);
    },
    150_000 + 2 * NODE_START_MS,
  );

  it.sequential(
    'end on their node when another one deletes them',
    async () => {
      const { id, response } = await running(one);
      const closed = once(response, 'close');
      expect((await send(two, `/transcriptions/${id}`, { method: 'DELETE' })).status).toBe(204);
      await closed;
      expect(response.writableEnded).toBe(false);
    },
    NODE_START_MS,
  );

  it.sequential(
    'share the store with answers of 3 MB under an idempotency key',
    async () => {
      const transcribe = (node: ClusterNode) => {
        const form = new FormData();
        form.append('model', 'custom/own');
        form.append('file', new Blob([wavOf(16_000)]), 'a.wav');
        const headers = { Authorization: `Bearer ${cluster.key}`, 'Idempotency-Key': 'large' };
        return fetch(`${node.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form });
      };
      const first = await transcribe(one);
      expect(first.status).toBe(200);
      const text = await first.text();
      const second = await transcribe(two);
      expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      expect((await second.text()) === text && text.length > 2_500_000).toBe(true);
    },
    NODE_START_MS,
  );
});
