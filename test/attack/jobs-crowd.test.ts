// An organisation that sends hundreds of jobs for the embedded recogniser, which does the work on this machine, and another one that
// sends one: who waits for whom.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { JobAnswer } from '../../src/api/jobs.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import { type Attacked, type Customer, startAttacked } from './rig/rig.ts';

const KEYS = 4;
const BY = { type: 'operator', id: 'attack' } as const;
const WAV = new Uint8Array(sampleAudio('yes.wav').bytes);

const server = createServer((_, response) => {
  response.writeHead(200, { 'Content-Type': 'audio/wav' }).end(WAV);
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
async function keysOf({ directory }: Attacked, { organisationId, key }: Customer): Promise<string[]> {
  const store = await openSqliteStore({ directory });
  const made = await Promise.all(Array.from({ length: KEYS - 1 }, () => store.createKey(organisationId, {}, BY)));
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

describe('an organisation with hundreds of files for the embedded recogniser', () => {
  const MODEL = 'local/commands-en';
  const JOBS = 200;

  it('has all of them done in turn, after the job of another one', { timeout: 180_000 }, async () => {
    const attacked = await start({ VOXGATE_RECOGNISER_WORKERS: '1', VOXGATE_RECOGNISER_STREAMS_MAX: '8' });
    const [crowd, honest] = [await attacked.customer(1n), await attacked.customer(1n)];
    const keys = await keysOf(attacked, crowd);
    const replies = await Promise.all(
      Array.from({ length: JOBS }, (_, index) => post(attacked, keys[index % 4] as string, MODEL, index % 5 > 0)),
    );
    expect(replies.map(({ status }) => status).filter((status) => status !== 202)).toEqual([]);
    await done(attacked, honest, MODEL, true);
    const jobs = async () => {
      const lists = await Promise.all(
        keys.map(async (key) => {
          const headers = { Authorization: `Bearer ${key}` };
          const reply = await fetch(`${attacked.url}/v1/jobs?limit=100`, { headers });
          return ((await reply.json()) as { data: JobAnswer[] }).data;
        }),
      );
      return lists.flat();
    };
    const unfinished = (await jobs()).filter(({ ended_at }) => ended_at === null);
    expect(unfinished.length).toBeGreaterThan(JOBS / 2);
    await vi.waitFor(async () => expect((await jobs()).filter(({ ended_at }) => ended_at === null)).toEqual([]), {
      timeout: 120_000,
      interval: 500,
    });
    const ended = await jobs();
    expect(ended.map(({ status, error }) => [status, error]).filter(([status]) => status !== 'completed')).toEqual([]);
    expect(ended).toHaveLength(JOBS);
  });
});
