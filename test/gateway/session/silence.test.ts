// A client that sends nothing for a while, on real sockets: its session goes on, and its provider is connected to only while there
// is something to hear.
import { afterAll, expect, it } from 'vitest';
import { simulator } from '../../../src/vendors/deepgram/simulator/index.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../../fakes/audio/numbered-finals.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const ends: (() => void)[] = [];
const server = await SimulatorServer.start({
  simulator,
  ear: numberedEar({ turnSeconds: 0.7 }),
  onEnd: () => ends.shift()?.(),
});
afterAll(() => server.close());

it('transcribes every sample once across a pause, on a new connection after it', async () => {
  const live = await startLiveGateway({
    VOXGATE_DEEPGRAM_URL: server.url,
    DEEPGRAM_API_KEY: 'a-key',
    VOXGATE_SESSION_SUSPEND_MS: '100',
  });
  const client = live.connect({ model: 'deepgram/nova-3', sample_rate: '24000' });
  const { limits } = await client.event('session_started');
  expect(limits).toMatchObject({ suspend_seconds: 0.1, idle_seconds: 600 });
  for (let second = 0; second < 2; second++) {
    const ended = new Promise<void>((resolve) => ends.push(resolve));
    client.send(numberedAudio(second * 24_000, (second + 1) * 24_000));
    await ended;
  }
  client.send(numberedAudio(48_000, 72_000));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expectWhole(client.finals, 72_000, 24_000);
  expect(client.of('warning')).toEqual([]);
});
