// What a provider may expect of the gateway, and a customer of both: frames and pace where a provider refuses others, however
// a client sends; and no credential in anything that is said, although a provider quotes it.
import { describe, expect, it } from 'vitest';
import type { ProviderSimulator, SimulatedUpgrade } from '../../../src/vendors/kit/simulation.ts';
import { seeded } from '../../fakes/random.ts';
import { altered, simulatorOf } from './altered.ts';
import { expectAllHeard, Incident, type Manner, TEXTS } from './incident.ts';
import { FULL } from './protocols.ts';
import { type SpokenTurn, turnsOf } from './spoken.ts';

// At no more than real time, and in no frame that is shorter or longer than it accepts.
describe.each(FULL.filter(({ timing }) => timing.frame.tail === 'pad'))('$slug', ({ slug, provider }) => {
  /** A service that tolerates no more than what a network brings together. */
  const strict = { [provider]: ['ahead-max=1000'] };
  const manners: [string, Manner][] = [
    ['as it is spoken', {}],
    ['one byte at a time, then a megabyte', { chunkBytes: (index) => (index < 1_000 ? 1 : 1_048_576), speed: 50 }],
    ['in chunks of any size', { chunkBytes: anySize(), speed: 50 }],
    ['in chunks of 3 ms', { chunkBytes: () => 144, speed: 50 }],
    ['in chunks of 10 ms, as it is spoken', { chunkBytes: () => 480 }],
    ['all at once', { chunkBytes: () => 100_000_000, speed: 50 }],
  ];
  const latencies: [string, number | (() => number)][] = [
    ['an even network', 5],
    ['a network that holds frames back', swaying()],
  ];
  const rows = manners.flatMap(([manner, how]) =>
    latencies.map(([name, latency]) => [manner, name, how, latency] as const),
  );

  // The last frame of it is shorter than any that is taken.
  const uneven = turnsOf(TEXTS, 1.2, 0.807);

  it.each(rows)('takes audio sent %s over %s: never a frame or a pace it refuses', async (_, __, manner, latencyMs) => {
    const incident = new Incident({ latencyMs, turns: uneven, faults: strict });
    const caller = await incident.play([slug], manner);
    expectAllHeard(caller, incident);
    expect(incident.failures).toEqual([]);
    await incident.close();
  });

  it.each(rows)('replays twenty seconds sent %s over %s to a fallback within its contract', async (...row) => {
    const [, , manner, latencyMs] = row;
    const long: SpokenTurn = { text: 'This turn goes on and on.', seconds: 22, pauseSeconds: 1 };
    const turns = [...turnsOf(['Good morning.']), long, ...turnsOf(['Yes.', 'Yes.'])];
    const incident = new Incident({ latencyMs, turns, faults: { ...strict, openai: ['stall-after=21s'] } });
    const caller = await incident.play(['openai/gpt-4o-transcribe', slug], manner);
    expectAllHeard(caller, incident);
    expect(caller.client.of('failover')[0]?.replayed_seconds).toBeGreaterThan(19);
    expect(incident.failures.map((failure) => failure.slug)).toEqual(['openai/gpt-4o-transcribe']);
    await incident.close();
  });
});

describe.each(FULL)('$slug', ({ slug, provider }) => {
  const key = 'good-key-0123456789abcdef0123456789';
  const texts = [
    ['in a sentence', `The key ${key} may not do this.`],
    ['where the text is cut', `${'x'.repeat(280)} ${key}`],
    ['as all it says', key],
  ] as const;

  it.each(texts)('keeps our key secret when a provider quotes it in a refusal, %s', async (_, text) => {
    for (const status of [400, 401, 403, 429, 500]) {
      const simulator = { ...simulatorOf(provider), upgrade: () => ({ refuse: quoting(provider, status, text) }) };
      await expectUntold(simulator);
    }
  });

  it.each(texts)('keeps our key secret when a provider quotes it in a failure or a close, %s', async (_, text) => {
    const simulator = simulatorOf(provider);
    const { messages } = simulator.failure();
    const failing: ProviderSimulator = {
      ...simulator,
      failure: () => ({
        messages: messages.map((message) => withText(message, text)),
        close: { code: 1011, reason: text.slice(-120) },
      }),
    };
    await expectUntold(failing, 'error-after=200ms');
    await expectUntold({ ...failing, failure: () => ({ ...failing.failure(), messages: [] }) }, 'error-after=200ms');
  });

  it.each(texts)('keeps our key secret when a provider quotes it in a warning, %s', async (_, text) => {
    const warnings = [
      { type: 'Warning', warning_code: 1, warning: text },
      { type: 'Error', description: text, message: text, code: text, error: text },
      { type: 'error', error: { type: 'server_error', code: text, message: text } },
    ];
    await expectUntold(altered(provider, (message) => [...warnings, message]));
  });

  async function expectUntold(simulator: ProviderSimulator, ...faults: string[]): Promise<void> {
    const incident = new Incident({ simulator, faults: { [provider]: faults }, credentials: { [provider]: key } });
    const caller = await incident.play([slug]);
    expect(caller.client.events.some(({ type }) => type === 'error' || type === 'warning')).toBe(true);
    const told = JSON.stringify([caller.client.events, incident.failures, caller.client.summary, incident.rig.faults]);
    expect(told).not.toContain(key.slice(0, 12));
    await incident.close();
  }
});

/** The provider's refusal with that text in place of each of its own. */
function quoting(
  provider: string,
  status: number,
  text: string,
): Extract<SimulatedUpgrade, { refuse: unknown }>['refuse'] {
  const { headers, body, ...rest } = simulatorOf(provider).refusal(status);
  return {
    ...rest,
    ...(headers === undefined ? {} : { headers: quotingAll(headers, text) as Record<string, string> }),
    ...(body === undefined ? {} : { body: quotingAll(body, text) as Record<string, unknown> }),
  };
}

/** Every text in it is another, but for its type. */
function quotingAll(value: unknown, text: string): unknown {
  if (typeof value === 'string') return text;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [
    name,
    name === 'type' ? member : quotingAll(member, text),
  ]);
  return Object.fromEntries(entries);
}

/** The message with that text in every place where it has one of its own. */
function withText(message: Readonly<Record<string, unknown>>, text: string): Record<string, unknown> {
  const { error } = message;
  return { ...message, error: typeof error === 'object' ? { ...error, message: text, code: text } : text };
}

function anySize(): (index: number) => number {
  const random = seeded(46);
  return () => random.pick([1, 2, 3, 7, 160, 333, 4_799, 4_800, 65_536, 200_001]);
}

/** Frames take a little, and now and then so long that those behind them come together. */
function swaying(): () => number {
  let frames = 0;
  return () => (++frames % 40 === 0 ? 400 : 5);
}
