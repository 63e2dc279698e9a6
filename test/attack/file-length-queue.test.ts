// Files made to be slow to measure, twenty of two megabytes and a half at a time, while somebody else sends an ordinary one.
import { afterAll, expect, it } from 'vitest';
import { mp3 } from '../fakes/audio/audio-files.ts';
import { slowFiles } from '../fakes/audio/slow-files.ts';
import { answer, HttpProvider } from '../live/upstream/http-batch-fixture.ts';
import { type Customer, startAttacked } from './rig/rig.ts';

const BYTES = 2_500_000;
const HOSTILE = 20;

const provider = new HttpProvider(
  answer({
    metadata: { duration: 1 },
    results: { channels: [{ alternatives: [{ transcript: 'heard', words: [] }] }] },
  }),
);
afterAll(() => provider.close());

async function transcribe(customer: Customer, bytes: Buffer<ArrayBuffer>): Promise<number> {
  const form = new FormData();
  form.append('model', 'deepgram/nova-3');
  form.append('file', new Blob([bytes]), 'a');
  const response = await customer.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  await response.text();
  return response.status;
}

it('twenty files that are slow to measure keep an honest one waiting for no more than one of them', async () => {
  await provider.listen();
  const attacked = await startAttacked({
    prices: { 'deepgram/nova-3': { batch: { unit: 'minute', amount: '0.0043' } } },
    env: { VOXGATE_DEEPGRAM_URL: provider.url, DEEPGRAM_API_KEY: 'simulated' },
  });
  // Enough for whatever the files claim to be.
  const hostile = await attacked.customer(1_000_000_000_000n);
  const honest = await attacked.customer(1_000_000n);
  const order: string[] = [];
  const kinds = slowFiles(BYTES);
  let first: (() => void) | undefined;
  const firstIsDone = new Promise<void>((resolve) => {
    first = resolve;
  });
  const flood = Array.from({ length: HOSTILE }, async (_, index) => {
    await transcribe(hostile, kinds[index % kinds.length]!);
    order.push('hostile');
    first?.();
  });
  // All of them wait by now, and one is over.
  await firstIsDone;
  const before = order.length;
  expect(await transcribe(honest, mp3(230))).toBe(200);
  const behind = order.length - before;
  order.push('honest');
  await Promise.all(flood);
  expect(behind).toBeLessThanOrEqual(1);
  expect(order).toHaveLength(HOSTILE + 1);
  expect(await attacked.audit()).toMatchObject({ ok: true });
}, 300_000);
