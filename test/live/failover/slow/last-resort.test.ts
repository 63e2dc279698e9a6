// A provider that dies in the middle of a person's sentence, and open dictation on this machine that ends it.
import { expect, it } from 'vitest';
import { scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../../src/vendors/simulators.ts';
import { sampleAudio, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { expectReading, READING } from '../../../fakes/reading.ts';

const CHUNK_MS = 100;

it('finishes the sentence of a killed provider with dictation, at the pace of speech, with no word lost', async () => {
  const simulator = simulators.find(({ provider }) => provider === 'deepgram') ?? expect.fail('No simulator.');
  const ear = scriptEar({ turns: [{ text: 'had he married a more amiable woman', seconds: 60 }] });
  const server = await SimulatorServer.start({ simulator, ear });
  const live = await startLiveGateway({
    VOXGATE_LAST_RESORT: 'local/dictation-en',
    VOXGATE_DEEPGRAM_URL: server.url,
    DEEPGRAM_API_KEY: 'simulated',
  });
  const { pcm, sampleRate } = sampleAudio(READING.file);
  const query = { model: 'deepgram/nova-3', sample_rate: String(sampleRate), interim_results: 'true' };
  const client = live.connect(query);
  await client.event('session_started');
  const bytes = (sampleRate * 2 * CHUNK_MS) / 1000;
  let at = 0;
  let killed: Promise<void> | undefined;
  await new Promise<void>((done) => {
    const pace = setInterval(() => {
      client.send(pcm.subarray(at, at + bytes));
      at += bytes;
      if (at > 2 * sampleRate * 2) killed ??= server.close();
      if (at < pcm.length) return;
      clearInterval(pace);
      done();
    }, CHUNK_MS);
  });
  await killed;
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expect(client.of('failover')).toMatchObject([{ to: 'local/dictation-en' }]);
  expect(client.of('discontinuity')).toEqual([]);
  const { finals } = client;
  expect(finals.map(({ turn }) => turn)).toEqual(finals.map((_, index) => index));
  expect(finals).toHaveLength(READING.turns.length);
  expectReading(finals.map(({ text }) => text).join(' '));
  const [ended] = client.of('session_ended');
  expect(ended?.usage).toMatchObject([{ model: 'local/dictation-en', seconds: READING.seconds, cost_usd: '0.00' }]);
}, 60_000);
