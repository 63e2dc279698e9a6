// Providers that are called by gRPC, in the bundle: their library is CommonJS, and is imported when it is first needed.
import { expect, test } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { PROTOCOLS, rateOf } from '../live/failover/protocols.ts';
import { gapsIn } from '../simulation/whole.ts';
import { CHECKOUT, serve, simulatedProviders } from './rig.ts';

const GRPC = ['google', 'nvidia'];

test('transcribes every sample over gRPC with the built simulator', async () => {
  const gateway = await serve(CHECKOUT, await simulatedProviders(GRPC));
  for (const { slug } of PROTOCOLS.filter(({ provider }) => GRPC.includes(provider))) {
    const rate = rateOf([slug]) as number;
    const client = gateway.connect({ model: slug, sample_rate: String(rate), provider_params: '{}' });
    await client.event('session_started');
    client.send(numberedAudio(0, rate));
    client.send({ type: 'close' });
    expect([slug, (await client.close()).code]).toEqual([slug, 1000]);
    expect(gapsIn(client.finals, rate, rate, [slug])).toEqual([]);
    expect(client.of('failover')).toEqual([]);
  }
  expect(await gateway.end('SIGTERM')).toEqual([0, null]);
});
