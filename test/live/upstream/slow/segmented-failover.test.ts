// Sessions with models that hear files only, and whatever befalls their requests: every word is said once, by whoever heard
// it. Such models stand before and behind models that hear a stream.
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../../../machines/clock.ts';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import { SimulatorServer } from '../../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../../src/vendors/simulators.ts';
import { type Random, seeded } from '../../../fakes/random.ts';
import { type RigClient, SessionRig } from '../../../fakes/session-rig.ts';
import { PROVIDERS } from '../../failover/protocols.ts';
import { hearing, RATE as SPOKEN_RATE, spoken, turnsOf } from '../../failover/spoken.ts';
import { type Fate, KnowingProvider, RATE, type Speech, speechOf } from '../segmented-fixture.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Real time, faster: what waits fifteen seconds for an answer waits less than one. */
const FACTOR = 20;
const fastClock: Clock = {
  now: () => performance.now() * FACTOR,
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs / FACTOR),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

const FATES: readonly Fate[] = ['answer', 'answer', 'refuse', 'cut', 'cut_answer', 'stall'];

function randomSpeech(random: Random): Speech {
  const words = Array.from({ length: random.integer(3, 9) }, () => ({
    pauseMs: random.integer(100, 1_800),
    ms: random.integer(150, 1_500),
  }));
  return speechOf(words, random.integer(0, 1_500));
}

/** All of it, in pieces of any length. */
function speak({ session }: RigClient, audio: Uint8Array, random: Random): void {
  for (let at = 0; at < audio.length; ) {
    const length = random.integer(1, 20_000);
    session.audio(audio.subarray(at, at + length));
    at += length;
  }
  session.control({ type: 'close' });
}

function expectInOrder(client: RigClient, seconds: number): void {
  const { finals } = client;
  expect(finals.map(({ turn }) => turn)).toEqual(finals.map((_, index) => index));
  for (const [index, { start, end }] of finals.entries()) {
    expect(start).toBeGreaterThanOrEqual(finals[index - 1]?.end ?? 0);
    expect(end).toBeGreaterThanOrEqual(start);
  }
  expect(client.of('discontinuity')).toEqual([]);
  expect(client.closeCode).toBe(1000);
  const usage = client.of('session_ended')[0]?.usage ?? [];
  expect(usage.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(seconds, 2);
}

describe('sessions with two models that take files only, and random failures', () => {
  it.each(Array.from({ length: 20 }, (_, index) => index + 1))('lose and repeat no word: %i', async (seed) => {
    const random = seeded(seed);
    const speech = randomSpeech(random);
    const [alpha, beta] = [new KnowingProvider('alpha', speech), new KnowingProvider('beta', speech)];
    alpha.fates = Array.from({ length: 12 }, () => random.pick(FATES));
    beta.fates = [random.pick(FATES)];
    const urls: Record<string, string> = {};
    for (const { http, provider } of [alpha, beta]) {
      await http.listen();
      closers.push(() => http.close());
      urls[provider.name] = http.url;
    }
    const rig = new SessionRig({
      clock: fastClock,
      providers: [alpha.provider, beta.provider],
      access: (name) => ({ baseUrl: urls[name], credential: 'key' }),
      breakers: { failuresMax: 1_000 },
    });
    closers.push(
      () => rig.pools.close(),
      () => rig.breakers.close(),
    );
    const client = await rig.open({ model: 'alpha/file', fallbacks: [{ model: 'beta/file' }], sampleRate: RATE });
    speak(client, new Uint8Array(speech.audio.buffer), random);
    await client.ended();
    const words = client.finals.flatMap(({ words = [] }) => words);
    expect(words.map(({ word }) => word)).toEqual(speech.words.map(({ text }) => text));
    expect(client.finals.map(({ text }) => text).join(' ')).toBe(speech.words.map(({ text }) => text).join(' '));
    for (const [index, { start, end }] of words.entries()) {
      const { from, to } = speech.words[index] as Speech['words'][number];
      expect([Math.round(start * RATE), Math.round(end * RATE)]).toEqual([from, to]);
    }
    expectInOrder(client, speech.audio.length / RATE);
    expect([rig.sessions.size, rig.upstream.size, rig.faults]).toEqual([0, 0, []]);
  });
});

const TEXTS = ['good morning to you', 'the train is late again', 'we go home now'];
const turns = turnsOf(TEXTS);
const DIARIZE = 'openai/gpt-4o-transcribe-diarize';
const UNIVERSAL = 'assemblyai/universal-2';
const NOVA = 'deepgram/nova-3';

describe('models that hear files and models that hear a stream', () => {
  it.each<[string, readonly string[], Readonly<Record<string, readonly string[]>>, readonly string[]]>([
    ['files, then a stream', [DIARIZE, NOVA], { openai: ['refuse=500'] }, [NOVA]],
    ['a stream, then files', [NOVA, UNIVERSAL], { deepgram: ['close-after=3s:1008'] }, [NOVA, UNIVERSAL]],
    ['files, then other files', [UNIVERSAL, DIARIZE], { assemblyai: ['refuse=503'] }, [DIARIZE]],
    ['a credential that is refused', [DIARIZE, NOVA], { openai: ['refuse=401'] }, [NOVA]],
    ['a provider that does not answer', [UNIVERSAL, DIARIZE], { assemblyai: ['hang'] }, [DIARIZE]],
    ['files, connected again', [UNIVERSAL], { assemblyai: ['refuse-next=2'] }, [UNIVERSAL]],
  ])('stand in for each other, and no word is lost or said twice: %s', async (_, chain, faults, models) => {
    const urls: Record<string, string> = {};
    for (const simulator of simulators) {
      const { provider } = simulator;
      const ear = hearing(turns);
      const server = await SimulatorServer.start({
        simulator,
        ear,
        clock: systemClock,
        faults: faults[provider] ?? [],
      });
      closers.push(() => server.close());
      urls[provider] = server.url;
    }
    const rig = new SessionRig({
      clock: systemClock,
      providers: [...PROVIDERS],
      access: (name) => ({ baseUrl: urls[name], credential: 'key' }),
    });
    closers.push(
      () => rig.pools.close(),
      () => rig.breakers.close(),
    );
    const [model = '', ...fallbacks] = chain;
    const audio = spoken(turns);
    const client = await rig.open({
      ...{ model, sampleRate: SPOKEN_RATE },
      fallbacks: fallbacks.map((slug) => ({ model: slug })),
    });
    speak(client, audio, seeded(4));
    await client.ended();
    expect(client.finals.map(({ text }) => text)).toEqual(TEXTS);
    expect([...new Set(client.finals.map((final) => final.model))]).toEqual(models);
    expectInOrder(client, audio.length / 2 / SPOKEN_RATE);
    expect([rig.sessions.size, rig.upstream.size, rig.faults]).toEqual([0, 0, []]);
  });
});
