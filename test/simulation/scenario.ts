// What happens in one simulated session, drawn from one seed: the chain, the client's manner, and one to six faults.

import type { Direction } from '../fakes/network/simulated-network.ts';
import { type Random, seeded } from '../fakes/random.ts';
import { PROTOCOLS, PROVIDERS, providerOf } from '../live/failover/protocols.ts';

/** Something that happens at a time, to the connections that a provider has then. */
export type Move =
  | { atMs: number; provider: string; what: 'cut' | 'blackhole'; direction: Direction | 'both' }
  | { atMs: number; provider: string; what: 'unreachable' | 'unanswered'; forMs: number };

export interface Scenario {
  seed: number;
  sampleRate: number;
  chain: { slug: string; provider: string }[];
  /** Faults of each simulated provider from its start, as of the simulators' `--fault`. */
  faults: Record<string, string[]>;
  /** Providers whose credential is refused. */
  refused: string[];
  turnSeconds: number;
  moves: Move[];
  /** The client's chunks in samples, and the pause after each. */
  chunks: { samples: number; pauseMs: number }[];
  finalizeAfterChunk: number | undefined;
  /** How busy the process is, from 0 to 1: audio is gathered into larger frames the busier it is. */
  busyShare: number;
  /** Milliseconds between two returns to the first model; undefined: it does not return. */
  returnMs: number | undefined;
  /** A ceiling on spend that leaves the last model of the chain, which costs `cheap` USD a minute; the others cost `dear`. */
  ceiling?: { usd: string; dear: string; cheap: string };
}

/** One model of each way to speak. */
const SLUGS = [...PROTOCOLS.map(({ slug }) => slug), 'loopback/numbered'];
/** Whether a model hears audio of that rate: others would hear what was converted, which numbers do not survive. */
const takes = (slug: string, rate: number): boolean =>
  PROVIDERS.flatMap(({ models }) => models).every(({ id, audio }) => id !== slug || audio.sample_rates.includes(rate));

/** Draws a scenario. The last model of the chain is spared: what it can save must be saved. */
export function scenarioOf(seed: number): Scenario {
  const random = seeded(seed);
  const providers = shuffled(random, [...new Set(SLUGS.map(providerOf))]).slice(0, random.integer(2, 4));
  const drawn = providers.map((provider) => ({
    provider,
    slug: random.pick(SLUGS.filter((slug) => providerOf(slug) === provider)),
  }));
  const rates = [16_000, 24_000].filter((rate) => drawn.every(({ slug }) => takes(slug, rate)));
  const sampleRate = rates.length === 0 ? 24_000 : random.pick(rates);
  const chain = drawn.filter(({ slug }) => takes(slug, sampleRate));
  const scenario: Scenario = {
    seed,
    sampleRate,
    chain,
    faults: {},
    refused: [],
    turnSeconds: random.integer(3, 25) / 10,
    moves: [],
    chunks: chunksOf(random, sampleRate),
    finalizeAfterChunk: undefined,
    busyShare: 0,
    returnMs: undefined,
  };
  const targets = chain.slice(0, -1).flatMap(({ provider }) => (provider === 'loopback' ? [] : [provider]));
  const count = random.integer(1, 6);
  for (let fault = 0; fault < count; fault++) addFault(random, scenario, targets);
  scenario.moves.sort((one, other) => one.atMs - other.atMs);
  scenario.busyShare = random.pick([0, 0.3, 1]);
  scenario.returnMs = random.pick([undefined, 20, 60, 600]);
  return scenario;
}

/** The same for a session that goes on for long enough to return to its first model, which is lost again and again. */
export function returningScenarioOf(seed: number): Scenario {
  const scenario = scenarioOf(seed);
  const random = seeded(seed);
  const { chain, sampleRate, faults } = scenario;
  const targets = chain.slice(0, -1).map(({ provider }) => provider);
  const seconds = random.integer(6, 16);
  const moves = Array.from({ length: random.integer(3, 6) }, (): Move => {
    const [atMs, provider] = [random.integer(0, seconds * 1_000), random.pick(targets.slice(0, 2))];
    return random.next() < 0.7
      ? { atMs, provider, what: 'cut', direction: random.pick(['to-client', 'to-provider', 'both']) }
      : { atMs, provider, what: 'unreachable', forMs: random.integer(50, 1_500) };
  });
  return {
    ...scenario,
    // The others end connections for good, or take longer than the session.
    faults: Object.fromEntries(
      Object.entries(faults).map(([name, all]) => [name, all.filter((fault) => /^(late|dup|rev|lat)/.test(fault))]),
    ),
    refused: [],
    moves: moves.sort((one, other) => one.atMs - other.atMs),
    chunks: chunksOf(random, sampleRate, { seconds, speed: 1 }),
    finalizeAfterChunk: undefined,
    returnMs: random.pick([30, 300, 1_200]),
  };
}

/** The same for one that reaches a ceiling on spend, which leaves the last model of its chain. */
export function boundedScenarioOf(seed: number): Scenario {
  const random = seeded(seed);
  // A ceiling of 0.001 to 0.06 USD is a tenth of a second to six seconds of the dear models.
  const usd = `0.0${String(random.integer(10, 600)).padStart(3, '0')}`;
  return { ...returningScenarioOf(seed), ceiling: { usd, dear: '0.6', cheap: '0.006' } };
}

function addFault(random: Random, scenario: Scenario, targets: readonly string[]): void {
  const exact = scenario.chain.every(({ slug }) => /deepgram|loopback|gpt-live/.test(slug));
  // Where an end of a turn asked for in the middle of a millisecond could not be told exactly, none is asked for.
  if (targets.length === 0 || (exact && random.next() < 0.1)) {
    if (exact) scenario.finalizeAfterChunk = random.integer(0, scenario.chunks.length - 1);
    return;
  }
  const provider = random.pick(targets);
  const kind = random.next();
  if (kind < 0.05) scenario.refused.push(provider);
  else if (kind < 0.5) addProviderFault(random, scenario, provider);
  else scenario.moves.push(move(random, provider));
}

function move(random: Random, provider: string): Move {
  const atMs = random.integer(0, 12_000);
  const forMs = random.integer(50, 10_000);
  return random.pick<() => Move>([
    () => ({ atMs, provider, what: 'cut', direction: random.pick(['to-client', 'to-provider', 'both']) }),
    () => ({ atMs, provider, what: 'cut', direction: 'both' }),
    () => ({ atMs, provider, what: 'blackhole', direction: random.pick(['to-client', 'to-provider', 'both']) }),
    () => ({ atMs, provider, what: 'unreachable', forMs }),
    () => ({ atMs, provider, what: 'unanswered', forMs }),
  ])();
}

function addProviderFault(random: Random, { faults }: Scenario, provider: string): void {
  const at = `${random.integer(0, 6_000)}ms`;
  const fault = random.pick([
    'hang',
    'mute',
    'refuse=429',
    'refuse=500',
    `refuse-next=${random.integer(1, 4)}`,
    `error-after=${random.integer(0, 400)}ms`,
    `close-after=${at}`,
    `close-after=${at}:1000`,
    `drop-after=${at}`,
    `stall-after=${at}`,
    `freeze-after=${at}`,
    'slow-close',
    'duplicate-finals',
    `late-finals=${random.integer(1, 3_000)}ms`,
    'late-final-after-next',
    'revised-interims',
    'unknown-messages',
    'binary-messages',
    'non-object-json',
    `huge-message=${at}`,
    `latency=${random.integer(1, 900)}ms`,
  ]);
  const known = faults[provider] ?? [];
  const nameOf = (text: string) => text.split('=')[0];
  faults[provider] = [...known.filter((other) => nameOf(other) !== nameOf(fault)), fault];
}

/** A microphone, a file sent as fast as it goes, or something between, in chunks of any size. */
function chunksOf(random: Random, sampleRate: number, fixed?: { seconds: number; speed: number }): Scenario['chunks'] {
  const total = Math.round(sampleRate * (fixed?.seconds ?? 1 + random.next() * 7));
  const largest = Math.round(sampleRate * random.pick([0.02, 0.1, 0.4, 2]));
  const speed = fixed?.speed ?? random.pick([0.7, 1, 1, 3, 50]);
  const chunks: Scenario['chunks'] = [];
  for (let sent = 0; sent < total; ) {
    const samples = Math.min(total - sent, random.integer(1, largest));
    const hesitationMs = random.next() < 0.01 ? random.integer(500, 6_000) : 0;
    chunks.push({ samples, pauseMs: (samples * 1000) / sampleRate / speed + hesitationMs });
    sent += samples;
  }
  return chunks;
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(random.integer(0, left.length - 1), 1)[0] as T);
}
