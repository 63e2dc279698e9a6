// Plays a scenario from its first dial to its last timer: real charts, session host, bus, legs and codecs against the simulated
// providers, on a network in memory and under one clock.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopback } from '../../src/vendors/loopback/index.ts';
import { numberedEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorStage } from '../../src/vendors/simulation/stage.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type DialFault, type Link, SimulatedNetwork } from '../fakes/network/simulated-network.ts';
import { type RigClient, SessionRig } from '../fakes/session-rig.ts';
import { ceilingLedger } from '../fakes/store/ceiling-ledger.ts';
import { PROVIDERS } from '../live/failover/protocols.ts';
import { EventClock } from './event-clock.ts';
import type { Move, Scenario } from './scenario.ts';

/** No session of a scenario goes on for longer. */
const LONGEST_MS = 600_000;

export interface Played {
  client: RigClient;
  rig: SessionRig;
  /** With a ceiling on spend, the ledger that keeps it. */
  money: ReturnType<typeof ceilingLedger> | undefined;
  /** What is left when everything has come to its end. */
  left: { sessions: number; legs: number; links: number; timers: number };
  /** Milliseconds that passed in the simulation. */
  tookMs: number;
}

let spoolDirectory: string | undefined;

export async function simulate(scenario: Scenario): Promise<Played> {
  const clock = new EventClock();
  const outages = new Map<string, { fault: DialFault; untilMs: number }>();
  const faultAt = (url: URL): DialFault => {
    const outage = outages.get(providerAt(url));
    return outage !== undefined && outage.untilMs > clock.now() ? outage.fault : 'none';
  };
  const network = new SimulatedNetwork({ latencyMs: 7, onDial: ({ url }) => faultAt(url), onRequest: faultAt });
  for (const simulator of simulators) {
    const { provider } = simulator;
    network.serve(
      hostOf(provider),
      new SimulatorStage({
        simulator,
        ear: numberedEar({ turnSeconds: scenario.turnSeconds, interimSeconds: 0.25 }),
        clock,
        faults: scenario.faults[provider] ?? [],
      }),
    );
  }
  const money = ceilingOf(scenario);
  spoolDirectory ??= mkdtempSync(join(tmpdir(), 'voxgate-simulation-'));
  const rig = new SessionRig({
    clock,
    providers: [loopback, ...PROVIDERS],
    openSocket: network.openSocket,
    httpPools: network.pools(clock),
    spoolDirectory,
    ...money?.rig,
    busyShare: scenario.busyShare,
    settings: { returnMs: scenario.returnMs ?? 60_000 },
    access: (provider) => ({
      baseUrl: provider === 'loopback' ? undefined : `ws://${hostOf(provider)}`,
      credential: scenario.refused.includes(provider) ? 'bad-key' : 'good-key',
    }),
  });
  for (const move of scenario.moves) clock.setTimeout(() => make(move, network, outages, clock), move.atMs);
  const client = await rig.open(requestOf(scenario));
  speak(client, scenario, clock);
  await clock.run(LONGEST_MS, () => client.summary !== undefined);
  const tookMs = clock.now();
  rig.breakers.close();
  await clock.run(LONGEST_MS, () => clock.size === 0);
  return {
    client,
    rig,
    money: money?.money,
    tookMs,
    left: { sessions: rig.sessions.size, legs: rig.upstream.size, links: network.links.size, timers: clock.size },
  };
}

function ceilingOf({ ceiling, chain }: Scenario) {
  if (ceiling === undefined) return undefined;
  const { usd, dear, cheap } = ceiling;
  const money = ceilingLedger([{ usd, period: 'day', only_up_to: cheap }]);
  const prices = Object.fromEntries(
    chain.map(({ slug }, at) => [
      slug,
      { live: { unit: 'minute' as const, amount: at < chain.length - 1 ? dear : cheap } },
    ]),
  );
  return { money, rig: { ledger: money.ledger, prices } };
}

const hostOf = (provider: string): string => `${provider}.test`;
const providerAt = (url: URL): string => url.hostname.replace(/\.test$/, '');

function requestOf({ chain, sampleRate, turnSeconds, returnMs }: Scenario) {
  const paramsOf = (provider: string) => (provider === 'loopback' ? { turn_seconds: turnSeconds } : {});
  const [first, ...rest] = chain as [Scenario['chain'][number], ...Scenario['chain']];
  return {
    model: first.slug,
    providerParams: paramsOf(first.provider),
    fallbacks: rest.map(({ slug, provider }) => ({ model: slug, provider_params: paramsOf(provider) })),
    sampleRate,
    returnToPrimary: returnMs !== undefined,
  };
}

/** The client: its chunks one after the other, then `close`. */
function speak({ session }: RigClient, { chunks, finalizeAfterChunk }: Scenario, clock: EventClock): void {
  let index = 0;
  let position = 0;
  const next = (): void => {
    const chunk = chunks[index];
    if (chunk === undefined) {
      session.control({ type: 'close' });
      return;
    }
    session.audio(numberedAudio(position, position + chunk.samples));
    position += chunk.samples;
    if (index === finalizeAfterChunk) session.control({ type: 'finalize' });
    index++;
    clock.setTimeout(next, chunk.pauseMs);
  };
  next();
}

function make(
  move: Move,
  network: SimulatedNetwork,
  outages: Map<string, { fault: DialFault; untilMs: number }>,
  clock: EventClock,
): void {
  const links = [...network.links].filter((link: Link) => providerAt(link.url) === move.provider);
  if ('forMs' in move) {
    const fault = move.what === 'unreachable' ? 'refuse' : 'hang';
    outages.set(move.provider, { fault, untilMs: clock.now() + move.forMs });
  } else {
    for (const link of links) link[move.what](move.direction);
  }
}
