// An organisation that sends hundreds of jobs for the embedded recogniser, which does the work on this machine, or for a provider that
// does not answer, and another one that sends one: who waits for whom.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { JobAnswer } from '../../src/api/jobs.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';
import { type Attacked, type Customer, startAttacked } from './rig/rig.ts';

const BY = { type: 'operator', id: 'attack' } as const;
const WAV = new Uint8Array(sampleAudio('yes.wav').bytes);

/** Answers of the provider that it still owes. */
const held: (() => void)[] = [];
const server = createServer(async (request, response) => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  if (request.url === '/audio.wav') return void response.writeHead(200, { 'Content-Type': 'audio/wav' }).end(WAV);
  const reply = () =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ text: 'a few words' }));
  if (Buffer.concat(pieces).includes('held-1')) held.push(reply);
  else reply();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const start = (env: Record<string, string>) =>
  startAttacked({
    env: { VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8', VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '1000000', ...env },
  });

/** More keys of an organisation. */
async function keysOf({ directory }: Attacked, { organisationId, key }: Customer, count: number): Promise<string[]> {
  const store = await openSqliteStore({ directory });
  const made = await Promise.all(Array.from({ length: count - 1 }, () => store.createKey(organisationId, {}, BY)));
  await store.close();
  return [key, ...made.map(({ secret }) => secret)];
}

async function post({ url }: Attacked, key: string, model: string, isUpload: boolean): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}` };
  const form = new FormData();
  form.append('model', model);
  form.append('file', new Blob([WAV]), 'yes.wav');
  const json = JSON.stringify({ model, audio_url: `${origin}/audio.wav` });
  return fetch(`${url}/v1/jobs`, {
    method: 'POST',
    headers: isUpload ? headers : { ...headers, 'Content-Type': 'application/json' },
    body: isUpload ? form : json,
  });
}

/** Of the time from its request to its end, as its customer sees it. */
async function done(attacked: Attacked, customer: Customer, model: string, isUpload: boolean): Promise<number> {
  const fromMs = performance.now();
  const reply = await post(attacked, customer.key, model, isUpload);
  const { id } = (await reply.json()) as JobAnswer;
  expect(reply.status).toBe(202);
  await vi.waitFor(
    async () => {
      const job = (await (await customer.request(`/v1/jobs/${id}`)).json()) as JobAnswer;
      expect([job.status, job.error]).toEqual(['completed', undefined]);
    },
    { timeout: 30_000, interval: 10 },
  );
  return performance.now() - fromMs;
}

async function jobsOf({ url }: Attacked, keys: readonly string[]): Promise<JobAnswer[]> {
  const lists = await Promise.all(
    keys.map(async (key) => {
      const headers = { Authorization: `Bearer ${key}` };
      const reply = await fetch(`${url}/v1/jobs?limit=100`, { headers });
      return ((await reply.json()) as { data: JobAnswer[] }).data;
    }),
  );
  return lists.flat();
}

const isUnfinished = ({ ended_at }: JobAnswer) => ended_at === null;

/** All of them are completed, so many as were sent. */
async function expectCompleted(attacked: Attacked, keys: readonly string[], count: number): Promise<void> {
  await vi.waitFor(async () => expect((await jobsOf(attacked, keys)).filter(isUnfinished)).toEqual([]), {
    timeout: 120_000,
    interval: 500,
  });
  const ended = await jobsOf(attacked, keys);
  expect(ended.map(({ status, error }) => [status, error]).filter(([status]) => status !== 'completed')).toEqual([]);
  expect(ended).toHaveLength(count);
}

/** The same by AssemblyAI's client: the id of its job. */
async function postOfAssemblyAi({ url }: Attacked, key: string, model: string): Promise<string> {
  const reply = await fetch(`${url}/compat/assemblyai/v2/transcript`, {
    method: 'POST',
    headers: { Authorization: key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ audio_url: `${origin}/audio.wav`, speech_model: model }),
  });
  const { id } = (await reply.json()) as { id: string };
  expect([reply.status, typeof id]).toEqual([200, 'string']);
  return id;
}

async function endOfAssemblyAi({ url }: Attacked, key: string, id: string): Promise<(string | undefined)[]> {
  const reply = await fetch(`${url}/compat/assemblyai/v2/transcript/${id}`, { headers: { Authorization: key } });
  const { status, error } = (await reply.json()) as { status: string; error?: string };
  return [status, error];
}

/** How many of the sessions and files of an organisation were charged. */
async function chargesOf({ url }: Attacked, key: string): Promise<number> {
  let charges = 0;
  for (let next: string | null = ''; next !== null; ) {
    const query = `limit=100${next === '' ? '' : `&before=${next}`}`;
    const reply = await fetch(`${url}/v1/sessions?${query}`, { headers: { Authorization: `Bearer ${key}` } });
    const page = (await reply.json()) as { data: { cost_usd: string }[]; next: string | null };
    charges += page.data.filter(({ cost_usd }) => Number(cost_usd) > 0).length;
    next = page.next;
  }
  return charges;
}

describe('an organisation with more jobs at a provider than may wait for a connection', () => {
  const JOBS = 720;

  it('leaves the jobs of another one a connection, and has all of its own done in the end', {
    timeout: 240_000,
  }, async () => {
    const config = join(temporaryDirectory(), 'voxgate.json');
    const models = ['held', 'quick'].map((name) => ({ name, model: `${name}-1`, batch: '0.6' }));
    writeFileSync(config, JSON.stringify({ custom: [{ shape: 'openai', url: `${origin}/v1`, models }] }));
    const attacked = await start({ VOXGATE_CONFIG: config });
    const [crowd, honest] = [await attacked.customer(10n ** 12n), await attacked.customer(10n ** 9n)];
    const [vendorKey = '', ...keys] = await keysOf(attacked, crowd, 13);
    for (let sent = 0; sent < JOBS; sent += keys.length) {
      const replies = await Promise.all(keys.map((key) => post(attacked, key, 'custom/held', true)));
      expect(replies.map(({ status }) => status).filter((status) => status !== 202)).toEqual([]);
    }
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(0));
    // Its share of the connections is taken by now, so they wait for the node, not for other jobs of their key.
    const vendorJobs = await Promise.all(
      Array.from({ length: 6 }, () => postOfAssemblyAi(attacked, vendorKey, 'custom/held')),
    );
    for (let count = 0; count < 10; count++) await done(attacked, honest, 'custom/quick', count % 2 === 0);
    expect((await jobsOf(attacked, keys)).filter(isUnfinished)).toHaveLength(JOBS);
    const answering = setInterval(() => {
      for (const reply of held.splice(0)) reply();
    }, 20);
    await expectCompleted(attacked, keys, JOBS);
    for (const id of vendorJobs)
      await vi.waitFor(
        async () => expect(await endOfAssemblyAi(attacked, vendorKey, id)).toEqual(['completed', undefined]),
        { timeout: 60_000, interval: 500 },
      );
    clearInterval(answering);
    await vi.waitFor(async () => expect(await chargesOf(attacked, crowd.key)).toBe(JOBS + vendorJobs.length), {
      timeout: 30_000,
      interval: 500,
    });
    expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
  });
});

describe('an organisation with hundreds of files for the embedded recogniser', () => {
  const MODEL = 'local/commands-en';
  const JOBS = 200;

  it('has all of them done in turn, after the job of another one', { timeout: 180_000 }, async () => {
    const attacked = await start({ VOXGATE_RECOGNISER_WORKERS: '1', VOXGATE_RECOGNISER_STREAMS_MAX: '8' });
    const [crowd, honest] = [await attacked.customer(1n), await attacked.customer(1n)];
    const keys = await keysOf(attacked, crowd, 4);
    const replies = await Promise.all(
      Array.from({ length: JOBS }, (_, index) => post(attacked, keys[index % 4] as string, MODEL, index % 5 > 0)),
    );
    expect(replies.map(({ status }) => status).filter((status) => status !== 202)).toEqual([]);
    await done(attacked, honest, MODEL, true);
    expect((await jobsOf(attacked, keys)).filter(isUnfinished).length).toBeGreaterThan(JOBS / 2);
    await expectCompleted(attacked, keys, JOBS);
  });
});
