// A key limited to two that uploads a file and leaves as soon as the provider works on it, thirty times.
import { afterAll, expect, it } from 'vitest';
import { wavOf } from '../fakes/audio/audio-files.ts';
import { HttpProvider } from '../live/upstream/http-batch-fixture.ts';
import { startAttacked } from './rig/rig.ts';

const provider = new HttpProvider();
afterAll(() => provider.close());

it('limits the work of clients that upload and leave to the key’s files', async () => {
  // It reads everything, and answers nobody.
  await provider.listen();
  provider.answers = [() => {}];
  const attacked = await startAttacked({ env: { VOXGATE_DEEPGRAM_URL: provider.url, DEEPGRAM_API_KEY: 'simulated' } });
  const customer = await attacked.customer(100_000_000n, { sessionsMax: 2 });
  const outcomes: (number | 'at work')[] = [];
  for (let attempt = 0; attempt < 30; attempt++) {
    const form = new FormData();
    form.append('model', 'deepgram/nova-3');
    form.append('file', new Blob([wavOf(16_000)], { type: 'audio/wav' }), 'a.wav');
    const leaving = new AbortController();
    const before = provider.arrived.length;
    const answered = customer
      .request('/v1/audio/transcriptions', {
        method: 'POST',
        body: form,
        headers: { 'Idempotency-Key': `attempt ${attempt}` },
        signal: leaving.signal,
      })
      .then(({ status }) => status);
    const atWork = provider.until(() => provider.arrived.length > before).then(() => 'at work' as const);
    outcomes.push(await Promise.race([answered, atWork]));
    leaving.abort();
    await answered.catch(() => {});
  }
  expect(provider.arrived).toHaveLength(2);
  expect(outcomes).toEqual(['at work', 'at work', ...Array.from({ length: 28 }, () => 429)]);
});
