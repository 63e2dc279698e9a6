// A model that costs more with an option, through a whole gateway: whoever asks for the option in mid-session pays for it from there on,
// and whoever gives it up pays for it until there.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { microUsdOf } from '../../../src/config/prices/price.ts';
import { createPriceList } from '../../../src/config/prices/price-list.ts';
import { auditBeside } from '../../../src/money/store/audit/auditor.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { providers } from '../../../src/vendors/index.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';

const MODEL = 'deepgram/nova-3';
const RATE = 16_000;

const { microUsd: PLAIN, addOns = [] } = createPriceList(providers).priceOf(MODEL, 'live')!;
const WITH_KEYTERMS = PLAIN + addOns.find(({ asked_by: by }) => by.includes('provider_params.keyterm'))!.microUsd;

const directory = temporaryDirectory();
let simulator: SimulatorServer;
const start = () =>
  startLiveGateway({
    VOXGATE_DATA_DIRECTORY: directory,
    VOXGATE_DEEPGRAM_URL: simulator.url,
    DEEPGRAM_API_KEY: 'credential-of-the-gateway',
  });

beforeAll(async () => {
  const found = simulators.find(({ provider }) => provider === 'deepgram')!;
  simulator = await SimulatorServer.start({
    simulator: found,
    ear: numberedEar({ turnSeconds: 0.7 }),
    clock: systemClock,
  });
});
afterAll(() => simulator.close());

/** A session that is changed in its middle: what it says that it cost. */
async function heard(gateway: LiveGateway, query: Record<string, string>, keyterms: string[] | null) {
  const client = gateway.connect({ model: MODEL, ...query });
  const { session_id: id } = await client.event('session_started');
  client.send(numberedAudio(0, 1.4 * RATE));
  await client.event('transcript', ({ is_final }) => is_final);
  client.send({ type: 'configure', keyterms });
  await client.event('configured');
  client.send(numberedAudio(1.4 * RATE, 3.5 * RATE));
  client.send({ type: 'close' });
  expect(await client.close()).toMatchObject({ code: 1000 });
  const { usage, cost_usd, audio_seconds } = client.of('session_ended')[0]!;
  return { id, usage, cost_usd, audio_seconds };
}

const costOf = (microUsd: bigint, seconds: number): bigint =>
  (2n * microUsd * BigInt(Math.round(seconds * 1000)) + 60_000n) / 120_000n;

it('bills each second at the rate in force, and all accounts agree to the micro-dollar', async () => {
  const first = await start();
  const asked = await heard(first, {}, ['Voxgate']);
  const dropped = await heard(first, { keyterms: 'Voxgate' }, null);
  first.gateway.stop();
  await first.gateway.ended;
  for (const [{ usage, cost_usd, audio_seconds }, prices] of [
    [asked, [PLAIN, WITH_KEYTERMS]],
    [dropped, [WITH_KEYTERMS, PLAIN]],
  ] as const) {
    expect(usage.map(({ model, byok }) => [model, byok])).toEqual([
      [MODEL, false],
      [MODEL, false],
    ]);
    const costs = usage.map(({ seconds }, at) => costOf(prices[at]!, seconds));
    expect(usage.map(({ cost_usd: cost }) => microUsdOf(cost))).toEqual(costs);
    expect(microUsdOf(cost_usd)).toBe(costs.reduce((sum, cost) => sum + cost));
    expect(audio_seconds).toBe(3.5);
    expect(usage.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(3.5, 2);
  }
  expect(await auditBeside(directory)).toMatchObject({ ok: true, faults: [], openHolds: 0 });

  const second = await start();
  const ask = async (path: string) => {
    const response = await fetch(`${second.url}${path}`, { headers: { Authorization: `Bearer ${first.key}` } });
    return (await response.json()) as { data: { cost_usd: string }[] };
  };
  for (const { id, usage, cost_usd } of [asked, dropped])
    expect(await ask(`/v1/sessions/${id}`)).toMatchObject({ usage, cost_usd, held_usd: '0.00' });
  const total = microUsdOf(asked.cost_usd) + microUsdOf(dropped.cost_usd);
  const { data } = await ask('/v1/usage');
  expect(data).toMatchObject([{ group: MODEL, sessions: 2, audio_seconds: 7 }]);
  expect(microUsdOf(data[0]!.cost_usd)).toBe(total);
});
