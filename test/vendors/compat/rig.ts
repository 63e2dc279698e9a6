// A gateway before simulated providers of every protocol, all of which tell which samples they heard.
import { afterAll, beforeAll } from 'vitest';
import type { Aliases } from '../../../src/api/listen.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { numberedEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { PROVIDERS, rateOf } from '../../live/failover/protocols.ts';
import { gapsIn } from '../../simulation/whole.ts';
import type { Driver, HeardFinal } from './driver.ts';

const BY = { type: 'operator', id: 'test' } as const;
const PIECE_SAMPLES = 2_401;

export interface DialectRig {
  gateway: LiveGateway;
  /** Of an organisation with the aliases. */
  key: string;
  /** What the simulators were connected with so far. */
  asked: URL[];
}

/**
 * @param faults of the simulators of a provider, by its name
 * @param region of the simulators; unknown where absent
 */
export function startDialectRig(
  faults: Readonly<Record<string, string[]>> = {},
  aliases: Aliases = {},
  region?: string,
): DialectRig {
  const rig = { asked: [] as URL[] } as DialectRig;
  const servers: SimulatorServer[] = [];
  beforeAll(async () => {
    const settings: Record<string, string> = {
      VOXGATE_BREAKER_FAILURES_MAX: '1000',
      // Clients that come back for their files ask many times.
      VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000',
    };
    for (const { name } of PROVIDERS) {
      const found = simulators.find(({ provider }) => provider === name);
      if (found === undefined) throw new Error(`There is no simulator of ${name}.`);
      const simulator: ProviderSimulator = {
        ...found,
        upgrade(request, tools) {
          rig.asked.push(request.url);
          return found.upgrade(request, tools);
        },
      };
      const ear = numberedEar({ turnSeconds: 0.7 });
      const server = await SimulatorServer.start({ simulator, ear, clock: systemClock, faults: faults[name] ?? [] });
      servers.push(server);
      settings[`VOXGATE_${name.toUpperCase()}_URL`] = server.url;
      settings[`${name.toUpperCase()}_API_KEY`] = 'credential-of-the-gateway';
      if (region !== undefined) settings[`VOXGATE_${name.toUpperCase()}_REGION`] = region;
    }
    rig.gateway = await startLiveGateway(settings);
    const store = await openSqliteStore({ directory: rig.gateway.directory });
    const { id } = await store.createOrganisation('With aliases', null, BY);
    await store.setAliases(id, aliases, BY);
    rig.key = (await store.createKey(id, {}, BY)).secret;
    store.close();
  });
  afterAll(async () => {
    for (const server of servers) await server.close();
  });
  return rig;
}

/** Numbered audio in pieces that fit nobody's frames. */
export function piecesOf(samples: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < samples; at += PIECE_SAMPLES)
    pieces.push(numberedAudio(at, Math.min(samples, at + PIECE_SAMPLES)));
  return pieces;
}

/**
 * What is wrong with what a client was told of numbered audio: every sample is in one final, at its time.
 *
 * @param models the chain that hears it
 * @param named what the client names instead of the first of them
 */
export async function heardWrongly(
  { gateway: { url }, key }: { gateway: { url: string }; key: string },
  driver: Driver,
  models: readonly string[],
  { seconds = 1.9, named = models[0] as string }: { seconds?: number; named?: string } = {},
): Promise<string[]> {
  const sampleRate = rateOf(models) ?? 24_000;
  const samples = Math.round(seconds * sampleRate);
  const job = { url, key, model: named, sampleRate, lastWord: `-${samples & 0xffff}` };
  const finals = (await driver.live?.(job, piecesOf(samples))) ?? [];
  return gapsIn(finals.map(placed), samples, sampleRate, models);
}

/** Where the protocol tells no times, none are looked at: an end that is not told cannot be wrong. */
const placed = ({ text, end = Number.NaN }: HeardFinal, turn: number) => ({ text, end, turn });
