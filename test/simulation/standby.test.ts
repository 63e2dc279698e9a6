// How much sooner a session continues after a failover with its fallback on standby: the same session with and without it, on a network
// with 50 ms in each direction.
import { expect, test } from 'vitest';
import { numberedEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../src/vendors/simulation/stage.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { SimulatedNetwork } from '../fakes/network/simulated-network.ts';
import { SessionRig } from '../fakes/session-rig.ts';
import { PROVIDERS } from '../live/failover/protocols.ts';
import { EventClock } from './event-clock.ts';

const RATE = 16_000;
const CUT_MS = 3_050;
const [FROM, TO] = ['deepgram', 'speechmatics'];

/** Milliseconds from the loss of the first model to the failover and to the first words of the fallback. */
async function delaysOf(standby: boolean) {
  const clock = new EventClock();
  const network = new SimulatedNetwork({
    latencyMs: 50,
    // Once it is lost, the first model cannot be reached any more.
    onDial: ({ url }) => (clock.now() >= CUT_MS && url.hostname.startsWith(`${FROM}.`) ? 'refuse' : 'none'),
  });
  const ear = numberedEar({ turnSeconds: 2, interimSeconds: 0.25 });
  for (const simulator of simulators)
    network.serve(`${simulator.provider}.test`, new SimulatorStage({ simulator, ear, clock, faults: [] }));
  const rig = new SessionRig({
    clock,
    providers: [...PROVIDERS],
    openSocket: network.openSocket,
    httpPools: network.pools(clock),
    access: (provider) => ({ baseUrl: `ws://${provider}.test`, credential: 'good-key' }),
  });
  const client = await rig.open({ model: 'deepgram/nova-3', fallbacks: [{ model: 'speechmatics/enhanced' }], standby });
  let position = 0;
  const speak = () => {
    client.session.audio(numberedAudio(position, position + RATE / 10));
    position += RATE / 10;
    if (position < 8 * RATE) clock.setTimeout(speak, 100);
    else client.session.control({ type: 'close' });
  };
  speak();
  clock.setTimeout(() => {
    for (const link of network.links) if (link.url.hostname.startsWith(`${FROM}.`)) link.cut();
  }, CUT_MS);
  await clock.run(60_000, () => client.of('failover').length > 0);
  const failoverMs = clock.now() - CUT_MS;
  await clock.run(60_000, () => client.of('transcript').some(({ model }) => model.startsWith(`${TO}/`)));
  const wordsMs = clock.now() - CUT_MS;
  await clock.run(600_000, () => client.summary !== undefined);
  rig.breakers.close();
  await clock.run(600_000, () => clock.size === 0);
  return { failoverMs, wordsMs, closeCode: client.closeCode, links: network.links.size };
}

test('a fallback on standby answers sooner than one that is dialled', async () => {
  const [dialled, standby] = [await delaysOf(false), await delaysOf(true)];
  expect([dialled, standby]).toMatchObject([
    { closeCode: 1000, links: 0 },
    { closeCode: 1000, links: 0 },
  ]);
  // The audio goes to the fallback in the millisecond of the loss.
  expect(standby.failoverMs).toBe(0);
  expect(dialled.wordsMs - standby.wordsMs).toBe(dialled.failoverMs);
});
