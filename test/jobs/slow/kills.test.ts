// Jobs of a gateway that is killed at any moment of them, and started again: none that was accepted is lost, none is charged twice, and
// a request that is sent again under its key, because nothing was answered, makes no second job.
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JobAnswer, JobList } from '../../../src/api/jobs.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { KilledGateway } from '../../fakes/processes/killed-gateway.ts';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import { seeded } from '../../fakes/random.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const KILLS = Number(process.env.KILLS ?? 6);
const JOBS_AT_ONCE = 8;
/** From the moment on at which the gateway listens. */
const KILLED_AFTER_MS = { min: 5, max: 400 };
/** Jobs of earlier starts begin after two seconds: some kills come later than that, so that they are killed as well, or get done. */
const LATE_EVERY = 4;
const LATE_MS = { min: 2_000, max: 5_000 };
const random = seeded(11);
/** The store keeps 1,000 jobs of each. */
const API_KEYS = 4;
const { bytes: WAV } = sampleAudio('commands.wav');
const MODEL = 'custom/slow';

/** Jobs whose end was posted to their webhook. */
const reported = new Set<string>();
const server = createServer((request, response) => {
  if (request.url?.startsWith('/hook/') === true) {
    void json(request).then(
      (posted) => {
        reported.add((posted as { data: { id: string } }).data.id);
        response.writeHead(204).end();
      },
      // The gateway was killed while it posted.
      () => {},
    );
    return;
  }
  request.resume();
  request.on('end', async () => {
    await delay(random.integer(0, 150));
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ text: 'killed speech' }));
  });
});
let env: Record<string, string>;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = temporaryDirectory();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const config = join(directory, 'voxgate.json');
  const models = [{ name: 'slow', model: 'slow', batch: '0.6' }];
  writeFileSync(config, JSON.stringify({ custom: [{ shape: 'openai', url, models }] }));
  env = {
    VOXGATE_PORT: '0',
    VOXGATE_DATA_DIRECTORY: directory,
    VOXGATE_CONFIG: config,
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000',
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
  };
});
let running: KilledGateway | undefined;
async function started(): Promise<KilledGateway> {
  running = await KilledGateway.start(env);
  return running;
}

afterAll(async () => {
  await running?.kill();
  server.closeAllConnections();
  server.close();
});

/** A request that is sent until it is answered. */
interface Sent {
  readonly idempotencyKey: string;
  readonly apiKey: string;
  times: number;
}

async function makeKeys(): Promise<string[]> {
  const store = await openSqliteStore({ directory: env.VOXGATE_DATA_DIRECTORY as string });
  const [organisation] = await store.listOrganisations();
  const by = { type: 'operator', id: 'test' } as const;
  const made = Array.from({ length: API_KEYS }, () => store.createKey(organisation?.id as string, {}, by));
  const secrets = (await Promise.all(made)).map(({ secret }) => secret);
  await store.close();
  return secrets;
}

class Client {
  readonly #url: string;

  constructor({ url }: KilledGateway) {
    this.#url = url.replace('ws', 'http');
  }

  /** The id of the job, or undefined where the gateway was killed first. */
  async send(sent: Sent): Promise<string | undefined> {
    const { apiKey, idempotencyKey } = sent;
    const body = new FormData();
    body.append('model', MODEL);
    body.append('webhook_url', `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/job`);
    body.append('file', new Blob([new Uint8Array(WAV)]), 'commands.wav');
    const headers = { Authorization: `Bearer ${apiKey}`, 'Idempotency-Key': idempotencyKey };
    sent.times++;
    try {
      const reply = await fetch(`${this.#url}/v1/jobs`, { method: 'POST', headers, body });
      const text = await reply.text();
      if (reply.status !== 202) refused.push(text);
      return reply.status === 202 ? (JSON.parse(text) as JobAnswer).id : undefined;
    } catch {
      return undefined;
    }
  }

  async get<Answer>(path: string, apiKey: string): Promise<Answer> {
    const headers = { Authorization: `Bearer ${apiKey}` };
    return (await (await fetch(`${this.#url}/v1/${path}`, { headers })).json()) as Answer;
  }

  async allJobs(apiKeys: readonly string[]): Promise<JobAnswer[]> {
    const jobs: JobAnswer[] = [];
    for (const apiKey of apiKeys)
      for (let next: string | null = ''; next !== null; ) {
        const page: JobList = await this.get(`jobs?limit=100${next === '' ? '' : `&before=${next}`}`, apiKey);
        jobs.push(...page.data);
        next = page.next;
      }
    return jobs;
  }
}
const refused: string[] = [];

it(`${KILLS} kills: each request makes one job, which is completed or was begun too often, and is charged at most once`, {
  timeout: 60_000 + KILLS * 10_000,
}, async () => {
  const accepted: string[] = [];
  const unanswered: Sent[] = [];
  let requests = 0;
  let again = 0;
  let apiKeys: string[] | undefined;
  const send = async (client: Client, sent: Sent) => {
    if (sent.times > 0) again++;
    const id = await client.send(sent);
    if (id === undefined) unanswered.push(sent);
    else accepted.push(id);
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const gateway = await started();
    apiKeys ??= await makeKeys();
    const keys = apiKeys;
    const client = new Client(gateway);
    const sending = Array.from({ length: JOBS_AT_ONCE }, async () => {
      await delay(random.integer(0, 100));
      const number = requests++;
      const apiKey = keys[number % API_KEYS] as string;
      await send(client, unanswered.shift() ?? { idempotencyKey: `request ${number}`, apiKey, times: 0 });
    });
    const { min, max } = kill % LATE_EVERY === LATE_EVERY - 1 ? LATE_MS : KILLED_AFTER_MS;
    await delay(random.integer(min, max));
    await gateway.kill();
    running = undefined;
    await Promise.all(sending);
  }
  const gateway = await started();
  const client = new Client(gateway);
  await Promise.all(unanswered.splice(0).map((sent) => send(client, sent)));
  expect([unanswered, refused]).toEqual([[], []]);
  const jobs = await vi.waitFor(
    async () => {
      const all = await client.allJobs(apiKeys ?? []);
      expect(all.filter(({ ended_at }) => ended_at === null)).toEqual([]);
      return all;
    },
    { timeout: 60_000, interval: 200 },
  );
  expect(accepted.length).toBeGreaterThan(0);
  const ended = new Map(jobs.map((job) => [job.id, job]));
  const tooOften = jobs.filter(({ status, attempts }) => status === 'failed' && attempts > 3);
  const completed = jobs.filter(({ status }) => status === 'completed');
  expect([...ended.keys()].sort()).toEqual([...new Set(accepted)].sort());
  expect(new Set(accepted).size).toBe(accepted.length);
  const failed = jobs.filter((job) => !completed.includes(job) && !tooOften.includes(job));
  expect(failed.map(({ attempts, error }) => [attempts, error?.code, error?.message])).toEqual([]);
  // The ledger hears of what a file was charged behind its answer.
  await vi.waitFor(
    async () => {
      for (const { id, status } of jobs) {
        const { data } = await client.get<{ data: { cost_usd: string }[] }>(
          `sessions?id=job_${id}&limit=100`,
          apiKeys?.[0] as string,
        );
        const charges = data.filter(({ cost_usd }) => Number(cost_usd) > 0).length;
        expect(status === 'completed' ? [1] : [0, 1], `${id} ${JSON.stringify(data)}`).toContain(charges);
      }
    },
    { timeout: 30_000, interval: 500 },
  );
  await vi.waitFor(() => expect(jobs.filter(({ id }) => !reported.has(id)).map(({ id }) => id)).toEqual([]), {
    timeout: 60_000,
    interval: 200,
  });
  const left = readdirSync(join(env.VOXGATE_DATA_DIRECTORY as string, 'jobs', 'alone'));
  expect(left).toEqual([]);
  await gateway.stop();
  running = undefined;
  console.log(
    JSON.stringify({ kills: KILLS, accepted: accepted.length, again, jobs: jobs.length, tooOften: tooOften.length }),
  );
});
