// A key limited to two sessions that leaves as soon as it has sent its audio, thirty times.
import { expect, it } from 'vitest';
import { wavOf } from '../fakes/audio/audio-files.ts';
import { startAttacked, startProvider } from './rig/rig.ts';

it('limits the connections of clients that leave at once to the key’s sessions', async () => {
  // The end of the audio is confirmed late: what was sent is under way when its client has gone.
  const provider = await startProvider('deepgram', { faults: ['slow-close'] });
  const attacked = await startAttacked({ env: { VOXGATE_DEEPGRAM_URL: provider.url, DEEPGRAM_API_KEY: 'simulated' } });
  const customer = await attacked.customer(100_000_000n, { sessionsMax: 2 });
  const audio = wavOf(16_000 * 5).subarray(44);
  const outcomes: (number | undefined)[] = [];
  let most = 0;
  for (let attempt = 0; attempt < 30; attempt++) {
    const client = customer.connect({ model: 'deepgram/nova-3' });
    const started = client.event('session_started').then(
      () => 101,
      () => undefined,
    );
    const status = await Promise.race([started, client.refused().then((refusal) => refusal.status)]);
    outcomes.push(status);
    if (status === 101) {
      client.send(audio);
      client.socket.terminate();
      await client.close();
    }
    most = Math.max(most, provider.server.connections);
  }
  expect(most).toBeLessThanOrEqual(2);
  expect(outcomes.filter((status) => status === 101)).toHaveLength(2);
  expect(outcomes.filter((status) => status === 429)).toHaveLength(28);
});
