// The plainest attack: to use more than was paid for, by asking for much at a time.
import { expect, it } from 'vitest';
import { wavOf } from '../fakes/audio/audio-files.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { startAttacked, startProvider } from './rig/rig.ts';

it('fifty sessions at a time on a cent get no more than a cent pays for', async () => {
  const attacked = await startAttacked({
    prices: { 'loopback/numbered': { live: { unit: 'minute', amount: '0.60' } } },
  });
  const customer = await attacked.customer(10_000n);
  const clients = Array.from({ length: 50 }, () => customer.connect({ model: 'loopback/numbered' }));
  await Promise.all(
    clients.map(async (client) => {
      client.socket.on('open', () => {
        client.send(numberedAudio(0, 16_000 * 10));
        client.send({ type: 'close' });
      });
      await Promise.race([client.close(), client.refused()]);
    }),
  );
  const { balanceMicroUsd } = await customer.balance();
  expect(balanceMicroUsd).toBeGreaterThanOrEqual(0n);
  expect(await attacked.audit()).toMatchObject({ ok: true, faults: [] });
});

it('calls no provider without money, live or for a file', async () => {
  const provider = await startProvider('deepgram');
  const attacked = await startAttacked({ env: { VOXGATE_DEEPGRAM_URL: provider.url, DEEPGRAM_API_KEY: 'simulated' } });
  const customer = await attacked.customer(0n);
  const refused = await customer.connect({ model: 'deepgram/nova-3' }).refused();
  const form = new FormData();
  form.append('model', 'deepgram/nova-3');
  form.append('file', new Blob([wavOf(64_000)], { type: 'audio/wav' }), 'a.wav');
  const answer = await customer.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  expect([refused.status, answer.status, provider.server.connections]).toEqual([402, 402, 0]);
});
