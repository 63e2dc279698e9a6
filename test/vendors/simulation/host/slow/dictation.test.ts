// A simulated provider that transcribes any English speech.
import { afterAll, expect, it } from 'vitest';
import { openLocalRecogniser } from '../../../../../src/cli/shared/local-recogniser.ts';
import { SimulatorServer } from '../../../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../../../src/vendors/simulators.ts';
import { sampleAudio, startLiveGateway } from '../../../../fakes/processes/live-gateway.ts';
import { expectReading, READING } from '../../../../fakes/reading.ts';

const ears = openLocalRecogniser({}, 'dictation');
afterAll(() => ears.close());

it('transcribes the voice of a person', async () => {
  await ears.warmUp();
  const simulator = simulators.find(({ provider }) => provider === 'deepgram') ?? expect.fail('No simulator.');
  const server = await SimulatorServer.start({ simulator, ear: ears.ear });
  const live = await startLiveGateway({ VOXGATE_DEEPGRAM_URL: server.url, DEEPGRAM_API_KEY: 'simulated' });
  const { pcm, sampleRate } = sampleAudio(READING.file);
  const client = live.connect({ model: 'deepgram/nova-3', sample_rate: String(sampleRate) });
  await client.event('session_started');
  client.send(pcm);
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expectReading(client.finals.map(({ text }) => text).join(' '));
  expect(client.finals.flatMap(({ words }) => words ?? []).length).toBeGreaterThan(20);
  await server.close();
}, 60_000);
