// Jobs on three nodes that serve clients, of which one after the other is killed at any moment; some come back, and for others a new node
// comes: every job that was accepted is completed, and charged once. `KILLS=100` kills more.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JobAnswer, JobList } from '../../../src/api/jobs.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { natsServerIsHere } from '../../fakes/network/nats-server.ts';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import { seeded } from '../../fakes/random.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { Cluster, type ClusterNode, NODE_START_MS, type NodeSettings } from '../rig/cluster.ts';

const KILLS = Number(process.env.KILLS ?? 4);
const EDGES = 3;
/** A key keeps 1,000 jobs. */
const JOBS_AT_ONCE = Math.min(6, Math.floor(900 / KILLS));
const KILLED_AFTER_MS = { min: 5, max: 1_500 };
const LEASE_MS = 4_000;
/** What a busy machine takes for all that is left at the end. */
const END_MS = 180_000;
const EDGE: NodeSettings = { roles: 'edge,upstream' };
const random = seeded(17);
const { bytes: WAV } = sampleAudio('commands.wav');

/** Jobs whose end was posted to their webhook. */
const reported = new Set<string>();
const server = createServer((request, response) => {
  if (request.url?.startsWith('/hook/') === true) {
    void json(request).then((posted) => {
      reported.add((posted as { data: { id: string } }).data.id);
      response.writeHead(204).end();
    });
    return;
  }
  request.resume();
  request.on('end', async () => {
    await delay(random.integer(100, 2_000));
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ text: 'killed speech' }));
  });
});
let cluster: Cluster;

beforeAll(async () => {
  if (!natsServerIsHere) return;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const config = join(temporaryDirectory(), 'voxgate.json');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const models = [{ name: 'slow', model: 'slow', batch: '0.6' }];
  writeFileSync(config, JSON.stringify({ custom: [{ shape: 'openai', url, models }] }));
  cluster = await Cluster.start(
    { accounts: { roles: 'accounts' } },
    {
      VOXGATE_CONFIG: config,
      VOXGATE_JOB_LEASE_MS: String(LEASE_MS),
      VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000',
      VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
    },
  );
}, 2 * NODE_START_MS);
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const headers = () => ({ Authorization: `Bearer ${cluster.key}` });

/** The id of the job, or undefined where the node was killed first. */
async function send(node: ClusterNode): Promise<string | undefined> {
  const body = new FormData();
  body.append('model', 'custom/slow');
  body.append('webhook_url', `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/job`);
  body.append('file', new Blob([new Uint8Array(WAV)]), 'commands.wav');
  try {
    const reply = await fetch(`${node.url}/v1/jobs`, { method: 'POST', headers: headers(), body });
    return reply.status === 202 ? ((await reply.json()) as JobAnswer).id : undefined;
  } catch {
    return undefined;
  }
}

const get = async <Answer>(node: ClusterNode, path: string): Promise<Answer> =>
  (await (await fetch(`${node.url}/v1/${path}`, { headers: headers() })).json()) as Answer;

async function allJobs(node: ClusterNode): Promise<JobAnswer[]> {
  const jobs: JobAnswer[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: JobList = await get(node, `jobs?limit=100${next === '' ? '' : `&before=${next}`}`);
    jobs.push(...page.data);
    next = page.next;
  }
  return jobs;
}

/** Kills one of the nodes, and starts it again, or a new one that knows nothing of its disk. */
async function killOne(edges: ClusterNode[], name: string): Promise<'again' | 'new'> {
  const at = random.integer(0, edges.length - 1);
  const killed = edges[at] as ClusterNode;
  await killed.end('SIGKILL');
  const isBack = random.integer(0, 2) === 0;
  edges[at] = isBack ? await killed.start() : await cluster.add(name, EDGE);
  return isBack ? 'again' : 'new';
}

// It says itself why, when nats-server is not here.
it.skipIf(!natsServerIsHere)(
  `${KILLS} kills of one of three nodes: every accepted job is completed, and charged once`,
  async () => {
    const edges = await Promise.all(Array.from({ length: EDGES }, (_, at) => cluster.add(`edge-${at}`, EDGE)));
    const accepted: string[] = [];
    const starts = { again: 0, new: 0 };
    for (let kill = 0; kill < KILLS; kill++) {
      const sending = Array.from({ length: JOBS_AT_ONCE }, async () => {
        await delay(random.integer(0, 800));
        const id = await send(random.pick(edges));
        if (id !== undefined) accepted.push(id);
      });
      await delay(random.integer(KILLED_AFTER_MS.min, KILLED_AFTER_MS.max));
      starts[await killOne(edges, `edge-${EDGES + kill}`)]++;
      await Promise.all(sending);
    }
    const [edge] = edges as [ClusterNode];
    const beganMs = performance.now();
    const jobs = await vi.waitFor(
      async () => {
        const all = await allJobs(edge);
        expect(all.filter(({ ended_at }) => ended_at === null)).toEqual([]);
        return all;
      },
      { timeout: END_MS, interval: 500 },
    );
    const endMs = performance.now() - beganMs;
    const ended = new Map(jobs.map((job) => [job.id, job]));
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.filter((id) => !ended.has(id))).toEqual([]);
    // Nodes were killed too often while they worked on it.
    const tooOften = jobs.filter(({ status, attempts }) => status === 'failed' && attempts > 3);
    const failed = jobs.filter((job) => job.status !== 'completed' && !tooOften.includes(job));
    expect(failed.map(({ attempts, error }) => [attempts, error?.code, error?.message])).toEqual([]);
    await vi.waitFor(
      async () => {
        for (const { id, status } of jobs) {
          const { data } = await get<{ data: { cost_usd: string }[] }>(edge, `sessions?id=job_${id}&limit=100`);
          const charges = data.filter(({ cost_usd }) => Number(cost_usd) > 0).length;
          expect(status === 'completed' ? [1] : [0, 1], id).toContain(charges);
        }
      },
      { timeout: 60_000, interval: 1_000 },
    );
    await vi.waitFor(() => expect(jobs.filter(({ id }) => !reported.has(id)).map(({ id }) => id)).toEqual([]), {
      timeout: 60_000,
      interval: 500,
    });
    for (const node of edges) await node.end('SIGTERM');
    const accounts = cluster.node('accounts');
    await accounts.end('SIGTERM');
    const store = await openSqliteStore({ directory: accounts.directory });
    expect((await store.auditLedger()).faults).toEqual([]);
    store.close();
    const takenOver = [...cluster.nodes.values()]
      .flatMap(({ log }) => log.filter(({ msg }) => msg === 'took over jobs of lost nodes'))
      .reduce((sum, line) => sum + Number(line.jobs), 0);
    console.log(
      JSON.stringify({
        ...{
          kills: KILLS,
          nodesBack: starts.again,
          nodesNew: starts.new,
          accepted: accepted.length,
          jobs: jobs.length,
        },
        ...{ takenOver, tooOften: tooOften.length },
        lastEndedSeconds: Math.round(endMs / 1_000),
      }),
    );
  },
  END_MS + 120_000 + KILLS * 20_000,
);
