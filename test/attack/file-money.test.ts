// Money by files: lying files on a cent, a lying provider, files whose answer nobody waits for, and channels that are paid for once.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { costMicroUsd } from '../../src/config/prices/price.ts';
import { wavOf } from '../fakes/audio/audio-files.ts';
import { type LyingProvider, startLyingProvider } from './rig/lying-provider.ts';
import { type Attacked, type Customer, startAttacked, startProvider } from './rig/rig.ts';

/** 0.60 USD a minute: a second costs a cent. */
const PRICE = { unit: 'minute', amount: '0.60' } as const;
const costOf = (seconds: number): bigint =>
  costMicroUsd({ unit: 'minute', microUsd: 600_000n, minimumMicroUsd: 0n }, seconds * 1000);
const MODEL = 'deepgram/nova-3';
const SECOND = 32_000;

async function attack(env: Record<string, string> = {}): Promise<{ attacked: Attacked; provider: LyingProvider }> {
  const provider = await startLyingProvider();
  const attacked = await startAttacked({
    prices: { [MODEL]: { batch: PRICE } },
    env: { VOXGATE_DEEPGRAM_URL: provider.url, DEEPGRAM_API_KEY: 'simulated', ...env },
  });
  return { attacked, provider };
}

function formOf(file: Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: MODEL, response_format: 'verbose_json', ...fields })) {
    form.append(name, value);
  }
  form.append('file', new Blob([file]), 'a');
  return form;
}

async function post(customer: Customer, form: FormData, signal?: AbortSignal) {
  const init = { method: 'POST', body: form, ...(signal === undefined ? {} : { signal }) };
  const answer = await customer.request('/v1/audio/transcriptions', init);
  const json = (await answer.json()) as { duration: number; usage: { seconds: number; cost_usd: string } };
  return { status: answer.status, json, warning: answer.headers.get('voxgate-warning') };
}

/** What is left when no file holds anything: an answer does not wait for the ledger. */
async function balanceOf(customer: Customer): Promise<bigint> {
  for (let reads = 0; reads < 10_000; reads++) {
    const { balanceMicroUsd, heldMicroUsd } = await customer.balance();
    if (heldMicroUsd === 0n) return balanceMicroUsd;
  }
  throw new Error('Something is held for ever.');
}

/** An Ogg file of ten seconds whose last page says that it is one. */
function forgedOgg(): Buffer<ArrayBuffer> {
  const file = Buffer.from(readFileSync(join(import.meta.dirname, '../fixtures/audio/formats/opus.ogg')));
  file.writeBigUInt64LE(48_000n, file.lastIndexOf('OggS', undefined, 'latin1') + 6);
  return file;
}

describe('25 lying files at a time on a cent', () => {
  it.each<[string, Buffer<ArrayBuffer>, string]>([
    ['Ogg with a forged last granule', forgedOgg(), '10'],
    ['WAV that says one second and holds sixty', wavOf(60 * SECOND, { said: SECOND }), '60'],
    ['WAV of half a second, of which the provider says an hour', wavOf(SECOND / 2), '3600'],
  ])('leave the balance at or above zero as %s', async (_, file, says) => {
    const { attacked, provider } = await attack();
    provider.says = says;
    const customer = await attacked.customer(10_000n);
    const answers = await Promise.all(Array.from({ length: 25 }, () => post(customer, formOf(file))));
    expect(await balanceOf(customer)).toBeGreaterThanOrEqual(0n);
    expect(answers.filter(({ status }) => status !== 200 && status !== 402)).toEqual([]);
    expect(await attacked.audit()).toMatchObject({ ok: true, faults: [], decisions: [] });
  });
});

describe('a provider that lies about a file of two seconds', () => {
  it.each(['3600', '2e7', '1e308', '1e999', '-1', '"NaN"', 'null', '{}', '0', '0.01'])(
    'gets its duration bounded with %s',
    async (says) => {
      const { attacked, provider } = await attack();
      provider.says = says;
      const customer = await attacked.customer(1_000_000n);
      const { status, json, warning } = await post(customer, formOf(wavOf(2 * SECOND)));
      expect([status, json.duration, json.usage.seconds, json.usage.cost_usd]).toEqual([200, 2, 2, '0.02']);
      // What is no number is left out, and nothing is claimed by it.
      const isClaim = Number.isFinite(Number(says)) && Number(says) >= 0 && Math.abs(Number(says) - 2) > 1;
      expect(warning).toBe(isClaim ? 'duration_bounded' : null);
      expect(await balanceOf(customer)).toBe(980_000n);
      expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
    },
  );
});

it('50 files whose client leaves before the answer: three are free, 47 are charged', async () => {
  const { attacked, provider } = await attack();
  const customer = await attacked.customer(10_000_000n);
  const file = wavOf(2 * SECOND);
  provider.says = '2';
  for (let number = 1; number <= 50; number++) {
    const leaving = new AbortController();
    let answer = () => {};
    const heard = new Promise<void>((resolve) => {
      provider.onFile = (reply) => {
        answer = reply;
        resolve();
      };
    });
    const posted = post(customer, formOf(file), leaving.signal).catch(() => {});
    await heard;
    leaving.abort();
    await posted;
    // The gateway has heard of it when it answers somebody else; the file has not been answered then.
    for (let turn = 0; turn < 5; turn++) await customer.request('/v1/balance');
    answer();
  }
  expect(provider.files).toBe(50);
  expect(await balanceOf(customer)).toBe(10_000_000n - 47n * costOf(2));
  expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
});

describe('eight channels of five seconds, requested separately', () => {
  const file = wavOf(8 * 5 * SECOND, { channels: 8 });
  const fields = { provider_params: '{"multichannel":true}' };

  it('cost forty seconds with Deepgram, and are refused with money for five', async () => {
    const { attacked, provider } = await attack();
    provider.says = '5';
    const [rich, poor] = [await attacked.customer(1_000_000n), await attacked.customer(100_000n)];
    const { json } = await post(rich, formOf(file, fields));
    expect([json.duration, json.usage]).toMatchObject([5, { seconds: 40, cost_usd: '0.40' }]);
    expect(await balanceOf(rich)).toBe(600_000n);
    expect((await post(poor, formOf(file, fields))).status).toBe(402);
    expect(provider.files).toBe(1);
    expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
  });

  it('cost forty seconds with AssemblyAI', async () => {
    const provider = await startProvider('assemblyai');
    const model = 'assemblyai/universal-2';
    const attacked = await startAttacked({
      prices: { [model]: { batch: PRICE } },
      env: { VOXGATE_ASSEMBLYAI_URL: provider.url, ASSEMBLYAI_API_KEY: 'simulated' },
    });
    const customer = await attacked.customer(1_000_000n);
    const { status, json } = await post(customer, formOf(file, { ...fields, model }));
    expect(status).toBe(200);
    expect(json.usage.seconds).toBeCloseTo(json.duration * 8, 2);
    expect(json.duration).toBeGreaterThan(4);
    expect(await balanceOf(customer)).toBe(1_000_000n - costOf(json.duration * 8));
    expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
  });
});
