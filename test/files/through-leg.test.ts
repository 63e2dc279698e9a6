// One file's transcription: any chunks, any rate the model does not take, and every failure as the refusal a client is told.

import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { LegFailure } from '../../machines/events.ts';
import { ApiError } from '../../src/api/errors.ts';
import type { TranscriptionRequest } from '../../src/api/transcriptions.ts';
import { FREE } from '../../src/config/prices/price-list.ts';
import { FileDecodings } from '../../src/files/decoding/decoding.ts';
import type { AudioFile } from '../../src/files/file-source.ts';
import { transcribe } from '../../src/files/transcribe.ts';
import { HttpPools } from '../../src/live/upstream/http/pools.ts';
import { UpstreamHost } from '../../src/live/upstream/upstream-host.ts';
import { ended } from '../../src/vendors/kit/heard.ts';
import type { ModelCard } from '../../src/vendors/kit/provider.ts';
import { loopback } from '../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../src/vendors/loopback/simulator.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { patientBreakers } from '../fakes/patient-breakers.ts';
import { seeded } from '../fakes/random.ts';
import { settle } from '../fakes/session-rig.ts';
import { failure, Puppet, puppetProvider } from '../live/session/puppet.ts';

const REQUEST: TranscriptionRequest = {
  model: '',
  fallbacks: [],
  responseFormat: 'json',
  language: undefined,
  diarization: false,
  timestampGranularities: [],
  wordTimestamps: false,
  providerParams: {},
  stream: false,
  strict: false,
  common: {},
};

/** Chunks of random lengths, odd ones and empty ones included. */
async function* pieces(bytes: Uint8Array, seed: number): AsyncGenerator<Uint8Array> {
  const random = seeded(seed);
  for (let at = 0; at < bytes.length; ) {
    const size = random.pick([0, 1, 2, 3, random.integer(1, 5_000)]);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** A file that can be read once. */
function shredded(bytes: Uint8Array, seed: number, rawSampleRate?: number): AudioFile {
  return { bytes: undefined, rawSampleRate, read: () => pieces(bytes, seed) };
}

function wav(samples: Uint8Array, sampleRate: number): Uint8Array {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(2 * sampleRate, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

function world() {
  const clock = new SimulatedClock();
  const puppet = new Puppet();
  const providers = [loopback, puppetProvider({})];
  const upstream = new UpstreamHost({
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    engines: { loopback: new LoopbackEngine(clock), puppet },
    access: () => ({ baseUrl: undefined, credential: undefined }),
    clock,
  });
  const run = (
    model: string,
    file: AudioFile,
    audio: Partial<ModelCard['audio']> = {},
    params: Record<string, unknown> = {},
  ) => {
    const provider = providers.find(({ name }) => model.startsWith(name))!;
    const card = provider.models.find(({ id }) => id === model)!;
    const member = {
      slug: model,
      provider,
      card: { ...card, audio: { ...card.audio, ...audio } },
      params,
      credentialId: 'service',
      organisationId: 'org_1',
      own: false,
      price: FREE,
      sampleRate: 16_000,
      language: undefined,
      diarization: false,
      told: [],
      degradations: [],
    };
    return transcribe(
      {
        upstream,
        http: { pools: new HttpPools(), clock },
        breakers: patientBreakers(clock),
        decodings: new FileDecodings({ clock }),
      },
      {
        jobId: 'job_1',
        organisationId: 'org_1',
        request: REQUEST,
        chain: [member],
        file,
        signal: new AbortController().signal,
        hearEmptyAgain: true,
      },
    );
  };
  return { clock, puppet, upstream, run };
}

const apiErrorOf = async (run: Promise<unknown>): Promise<ApiError> => {
  const error = await run.catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw error;
  return error;
};

describe('a file’s transcription', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'transcribes headerless samples whole in chunks of any length (seed %d)',
    async (seed) => {
      const samples = 40_001;
      const audio = numberedAudio(0, samples);
      const odd = Buffer.concat([audio, Buffer.from([7])]);
      const file = shredded(seed % 2 === 0 ? audio : odd, seed, 16_000);
      const { utterances, seconds } = await world().run('loopback/numbered', file, {}, { turn_seconds: 600 });
      expect([utterances.map(({ text }) => text), seconds]).toEqual([[`0-${samples}`], samples / 16_000]);
    },
  );

  it.each([8_000, 16_000, 24_000, 48_000])('transcribes a WAV file at its own rate of %d Hz', async (rate) => {
    const file = shredded(wav(numberedAudio(0, 2 * rate), rate), rate);
    const { utterances, seconds } = await world().run('loopback/numbered', file, {}, { turn_seconds: 600 });
    expect([utterances.map(({ text }) => text), seconds]).toEqual([[`0-${2 * rate}`], 2]);
  });

  it.each([
    [11_025, 16_000],
    [44_100, 48_000],
    [96_000, 48_000],
  ])('converts %d Hz to %d Hz, to the last sample', async (rate, sent) => {
    const { puppet, run } = world();
    const file = shredded(wav(new Uint8Array(2 * 3 * rate), rate), rate);
    const done = run('puppet/a', file);
    while (!puppet.connections[0]?.controls.includes('finish')) await settle();
    await puppet.last.say({ type: 'finished' });
    expect(await done).toMatchObject({ utterances: [], seconds: 3 });
    expect(Math.abs(puppet.last.samples - 3 * sent)).toBeLessThanOrEqual(1);
  });

  it('longer than the model takes is refused where it is too long, with no leg left', async () => {
    const { run, upstream } = world();
    const file = shredded(new Uint8Array(32_000 * 3), 1, 16_000);
    const refusal = await apiErrorOf(run('loopback/script', file, { max_seconds: 2 }));
    expect([refusal.code, refusal.extras.param, upstream.size]).toEqual(['file_too_large', 'file', 0]);
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['a header without audio', wav(new Uint8Array(0), 16_000)],
    ['half a header', wav(new Uint8Array(0), 16_000).subarray(0, 20)],
    ['no container', Buffer.from('this is not audio, whatever its name says')],
  ])('fails for %s, without a dial', async (what, bytes) => {
    const { run, puppet } = world();
    const outcome = run('puppet/a', shredded(bytes, 1));
    if (what === 'a header without audio') {
      while (!puppet.connections[0]?.controls.includes('finish')) await settle();
      await puppet.last.say({ type: 'finished' });
      expect(await outcome).toMatchObject({ utterances: [], seconds: 0 });
      return;
    }
    expect(['missing_file', 'unsupported_audio']).toContain((await apiErrorOf(outcome)).code);
    expect(puppet.connections).toEqual([]);
  });

  it('waits for a slow provider while it sends, and not when it is silent', async () => {
    const finishing = async () => {
      const { run, puppet, clock } = world();
      const outcome = run('puppet/a', shredded(new Uint8Array(32_000), 1, 16_000));
      while (!puppet.connections[0]?.controls.includes('finish')) await settle();
      return { outcome, puppet, clock };
    };
    // Of the loopback, whose timing the puppet has.
    const drainMs = 10_000;
    const slow = await finishing();
    slow.clock.increment(drainMs - 1);
    const said = { text: 'late', start: 0, end: 0.5 };
    await slow.puppet.last.say({ type: 'partial', turnId: '1', utterance: said });
    slow.clock.increment(5 * drainMs);
    await slow.puppet.last.say(ended('1', said), { type: 'finished' });
    expect((await slow.outcome).utterances).toMatchObject([said]);

    const silent = await finishing();
    const refusal = apiErrorOf(silent.outcome);
    silent.clock.increment(drainMs);
    expect((await refusal).code).toBe('upstream_timeout');
  });

  const failed = (kind: LegFailure['kind'], reason: LegFailure['reason']): LegFailure => ({ ...failure(kind), reason });
  it.each<[LegFailure, string, number]>([
    [failed('caller', 'upstream_error'), 'upstream_failed', 502],
    [failed('next', 'upstream_error'), 'upstream_failed', 502],
    [failed('retry', 'upstream_closed'), 'upstream_failed', 502],
    [failed('account', 'connect_failed'), 'upstream_failed', 502],
    [failed('next', 'connect_timeout'), 'upstream_timeout', 504],
    [failed('next', 'stalled'), 'upstream_timeout', 504],
  ])('fails after the provider’s %j as %s, %d', async (cause, code, status) => {
    const { run, puppet, upstream } = world();
    const file = shredded(new Uint8Array(32_000), 1, 16_000);
    const outcome = apiErrorOf(run('puppet/a', file));
    while (!puppet.connections[0]?.controls.includes('finish')) await settle();
    await puppet.last.say({ type: 'failed', failure: cause });
    const refusal = await outcome;
    expect([refusal.code, refusal.status, upstream.size]).toEqual([code, status, 0]);
    if (code.startsWith('upstream'))
      expect(refusal.extras.details).toEqual([{ model: 'puppet/a', reason: cause.reason }]);
  });
});
