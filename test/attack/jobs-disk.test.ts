// Jobs and a disk that is full, of the node or of what one organisation may use of it: what cannot be kept is refused before it is
// accepted, what was accepted waits, and nothing is left behind.
import fsPromises, { readdir } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JobAnswer } from '../../src/api/jobs.ts';
import { wavOf } from '../fakes/audio/audio-files.ts';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import { remoteServer, whole } from '../files/remote/remote-server.ts';
import { type LyingProvider, startLyingProvider } from './rig/lying-provider.ts';
import { type Attacked, type Customer, startAttacked } from './rig/rig.ts';

const MODEL = 'deepgram/nova-3';
const SPOOL_BYTES = 8_388_608;
const WAV = new Uint8Array(sampleAudio('yes.wav').bytes);

const systemOpen = fsPromises.open;
/** What fails of files that are written from now on. */
let fault: 'writev' | 'sync' | undefined;
const full = () => Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));

let provider: LyingProvider;
let attacked: Attacked;

beforeAll(async () => {
  const failing: typeof systemOpen = async (path, ...more) => {
    const file = await systemOpen(path, ...more);
    if (fault !== undefined && /jobs|upload/.test(String(path))) file[fault] = full as never;
    return file;
  };
  fsPromises.open = failing;
  syncBuiltinESMExports();
  provider = await startLyingProvider();
  attacked = await startAttacked({
    prices: { [MODEL]: { batch: { unit: 'minute', amount: '0.60' } } },
    env: {
      VOXGATE_DEEPGRAM_URL: provider.url,
      DEEPGRAM_API_KEY: 'simulated',
      VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1',
      VOXGATE_SESSION_SPOOL_NODE_BYTES_MAX: String(SPOOL_BYTES),
      VOXGATE_FILE_BYTES_MAX: '2000000',
    },
  });
});
afterAll(() => {
  fsPromises.open = systemOpen;
  syncBuiltinESMExports();
});

async function post(customer: Customer, bytes: Uint8Array<ArrayBuffer>) {
  const form = new FormData();
  form.append('model', MODEL);
  form.append('file', new Blob([bytes]), 'a.wav');
  const reply = await customer.request('/v1/jobs', { method: 'POST', body: form });
  const json = (await reply.json()) as JobAnswer & { error?: { code: string; message: string } };
  return { ...json, answered: reply.status, retryAfter: reply.headers.get('retry-after') };
}

const jobOf = async (customer: Customer, id: string) =>
  (await (await customer.request(`/v1/jobs/${id}`)).json()) as JobAnswer;

const completed = (customer: Customer, id: string) =>
  vi.waitFor(async () => expect((await jobOf(customer, id)).status).toBe('completed'), {
    timeout: 20_000,
    interval: 20,
  });

const left = () => readdir(join(attacked.directory, 'jobs', 'alone'));

it('an organisation whose jobs hold its share of the disk leaves room for the job of another one', async () => {
  const [greedy, other] = [await attacked.customer(100_000_000n), await attacked.customer(100_000_000n)];
  const answers: (() => void)[] = [];
  provider.onFile = (answer) => void answers.push(answer);
  const large = wavOf(1_000_000);
  const ids: string[] = [];
  for (;;) {
    const { answered, id, error, retryAfter } = await post(greedy, large);
    if (answered === 202) {
      ids.push(id);
      continue;
    }
    expect([answered, error?.code, Number(retryAfter)]).toEqual([429, 'too_many_sessions', 30]);
    expect(error?.message).toContain('as much of the disk of this node as one organisation may use');
    break;
  }
  expect(ids.length).toBeGreaterThan(0);
  const { answered, id } = await post(other, large);
  expect(answered).toBe(202);
  await vi.waitFor(() => expect(answers).toHaveLength(ids.length + 1), { timeout: 20_000 });
  answers.pop()?.();
  await completed(other, id);
  provider.onFile = undefined;
  for (const answer of answers) answer();
  for (const each of ids) await completed(greedy, each);
  await vi.waitFor(async () => expect(await left()).toEqual([]));
  expect((await post(greedy, large)).answered).toBe(202);
});

it.each(['writev', 'sync'] as const)(
  'refuses a job that the disk has no room for, in %s, and takes it later',
  async (which) => {
    const customer = await attacked.customer(100_000_000n);
    fault = which;
    const refused = await post(customer, WAV).finally(() => {
      fault = undefined;
    });
    expect([refused.answered, refused.error?.code, refused.retryAfter]).toEqual([503, 'overloaded', '30']);
    expect((await customer.balance()).heldMicroUsd).toBe(0n);
    await vi.waitFor(async () => expect(await left()).toEqual([]), { timeout: 20_000 });
    const { id } = await post(customer, WAV);
    await completed(customer, id);
  },
);

it('a job whose audio has no room when it is fetched waits for it', async () => {
  const customer = await attacked.customer(100_000_000n);
  const audio = await remoteServer((socket) => socket.end(whole(WAV)));
  fault = 'writev';
  const reply = await customer.request('/v1/jobs', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ model: MODEL, audio_url: audio.at() }),
  });
  const { id } = (await reply.json()) as JobAnswer;
  await vi.waitFor(() => expect(audio.requests.length).toBeGreaterThan(0), { timeout: 20_000 });
  expect((await jobOf(customer, id)).status).toBe('processing');
  fault = undefined;
  await completed(customer, id);
  expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
});
