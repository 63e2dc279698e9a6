// Speech without a pause through the built program, whose providers are lost at several moments of it: each word is in one final, and
// the bill is what finals cover. The simulators listen on ports of this process.
import { beforeAll, describe, expect, it } from 'vitest';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import type { LiveClient } from '../../fakes/processes/live-gateway.ts';
import type { Serving } from '../../fakes/processes/serving.ts';
import { rateOf } from '../../live/failover/protocols.ts';
import { unbrokenAudio, unbrokenEar, WORD_SECONDS, wordAt } from '../../live/failover/slow/unbroken.ts';
import { CHECKOUT, CREDENTIAL, serve } from '../rig.ts';

const START_MS_MAX = 180_000;
const SESSION_MS_MAX = 600_000;
const CHUNK_BYTES = 65_536;
/** Silence after the last word; it is billed, and no final covers it. */
const END_SECONDS = 1;
/** Providers report times in milliseconds. */
const ROUNDING_SECONDS = 0.002;

/** How each provider is lost, on every connection to it. Those without a loss take over last. */
const PROVIDERS: Readonly<Record<string, readonly string[]>> = {
  vosk: ['drop-after=61s'],
  gladia: ['close-after=400s'],
  nvidia: ['drop-after=590s'],
  deepgram: ['settles', 'freeze-after=61s'],
  google: ['drop-after=5s'],
  xai: ['drop-after=20s'],
  speechmatics: ['settles'],
};
const LAST = 'speechmatics/enhanced';
/**
 * Seconds that are spoken, and how often the session goes to another model. Providers that accept audio little faster than real time
 * hear fewer. No voice is in this audio, so a provider that is frozen does not count as stalled, and at the end it is asked again; but
 * where the voice detector is late, as on a busy machine, it does count.
 */
const CASES: readonly [seconds: number, chain: readonly string[], failovers: readonly number[]][] = [
  [600, ['vosk/small-en-us-0.15', 'gladia/solaria-1', LAST], [2]],
  [600, ['nvidia/parakeet-ctc-1.1b', LAST], [1]],
  [600, ['google/chirp_3', 'vosk/small-en-us-0.15', LAST], [2]],
  [100, ['deepgram/nova-3', LAST], [0, 1]],
];

let gateway: Serving;
beforeAll(async () => {
  const settings = Object.entries(PROVIDERS).map(async ([provider, faults]) => {
    const simulator = simulators.find((each) => each.provider === provider);
    if (simulator === undefined) throw new Error(`There is no simulator of ${provider}.`);
    const server = await SimulatorServer.start({ simulator, ear: unbrokenEar, faults });
    const prefix = provider.toUpperCase();
    return [
      [`VOXGATE_${prefix}_URL`, server.url],
      [`${prefix}_API_KEY`, CREDENTIAL],
    ];
  });
  gateway = await serve(CHECKOUT, Object.fromEntries((await Promise.all(settings)).flat()));
  return async () => {
    await gateway.end('SIGTERM');
  };
}, START_MS_MAX);

async function speak(seconds: number, chain: readonly string[]): Promise<LiveClient> {
  const [model = '', ...fallbacks] = chain;
  const rate = rateOf(chain);
  if (rate === undefined) throw new Error(`${chain} have no sample rate in common.`);
  const client = gateway.connect({
    ...{ model, sample_rate: String(rate), interim_results: 'false', provider_params: '{}' },
    ...(fallbacks.length === 0 ? {} : { fallbacks: fallbacks.join(',') }),
  });
  await client.event('session_started');
  const audio = unbrokenAudio(seconds / WORD_SECONDS, rate);
  for (let at = 0; at < audio.length; at += CHUNK_BYTES) client.send(audio.subarray(at, at + CHUNK_BYTES));
  client.send({ type: 'close' });
  await client.close();
  return client;
}

const usageOf = (client: LiveClient) => client.of('session_ended')[0]?.usage ?? [];
const coveredBy = (client: LiveClient, model: string): number =>
  client.finals.filter((final) => final.model === model).reduce((sum, { start, end }) => sum + end - start, 0);

describe('unbroken speech', () => {
  it.concurrent.each(CASES)(
    'keeps every word of %i s in one final, and its bill exact: %j',
    async (seconds, chain, failovers) => {
      const client = await speak(seconds, chain);
      const words = client.finals.flatMap(({ text }) => text.match(/\w+/g) ?? []).map((word) => word.toLowerCase());
      expect(words).toEqual(Array.from({ length: seconds / WORD_SECONDS }, (_, index) => wordAt(index)));
      expect([client.closed?.code, client.of('discontinuity')]).toEqual([1000, []]);
      expect(failovers).toContain(client.of('failover').length);
      let billed = 0;
      for (const usage of usageOf(client)) {
        billed += usage.seconds;
        const covered = coveredBy(client, usage.model);
        expect(usage.seconds).toBeGreaterThanOrEqual(covered - ROUNDING_SECONDS);
        expect(usage.seconds).toBeLessThanOrEqual(covered + END_SECONDS + ROUNDING_SECONDS);
      }
      expect(billed).toBeCloseTo(seconds + END_SECONDS, 2);
    },
    SESSION_MS_MAX,
  );

  it.concurrent(
    'costs what finals cover when no provider could finish',
    async () => {
      const client = await speak(60, ['xai/grok-voice-transcribe-2.0']);
      const [covered, ...others] = usageOf(client).map(({ seconds, model }) => [seconds, coveredBy(client, model)]);
      expect([client.closed?.code, others]).toEqual([4101, []]);
      expect(covered?.[0] ?? 0).toBeCloseTo(covered?.[1] ?? 0, 2);
      expect(client.of('discontinuity')).toMatchObject([{ to: 60 + END_SECONDS, reason: 'upstream_exhausted' }]);
    },
    SESSION_MS_MAX,
  );
});
