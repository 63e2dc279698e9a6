// A file through one live leg: everything that was heard comes back, as fast as the leg takes it; whatever goes wrong is
// told at once and leaves no leg.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Heard, LegFailure, OpenLeg, Utterance } from '../../../machines/events.ts';
import { transcribeThroughLeg } from '../../../src/files/through-leg.ts';
import { LegFailed } from '../../../src/live/upstream/leg-failures.ts';
import { UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import type { LiveCodec, Outgoing } from '../../../src/vendors/kit/provider.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../../src/vendors/loopback/simulator.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { settle } from '../../fakes/session-rig.ts';
import { failure, Puppet, puppetProvider } from '../session/puppet.ts';

const request = (slug: string, params: Record<string, unknown> = {}, sampleRate = 16_000): OpenLeg => ({
  type: 'leg.open',
  session: '',
  sessionId: 'job_1',
  generation: 1,
  slug,
  sampleRate,
  language: null,
  interimResults: false,
  diarization: false,
  params,
  credentialId: 'service',
  organisationId: 'org_1',
});

function world(codec: Partial<LiveCodec> = {}) {
  const clock = new SimulatedClock();
  const puppet = new Puppet();
  const engine = new LoopbackEngine(clock);
  const upstream = new UpstreamHost({
    providers: new Map([loopback, puppetProvider({ codec })].map((provider) => [provider.name, provider])),
    engines: { loopback: engine, puppet },
    access: () => ({ baseUrl: undefined, credential: undefined }),
    clock,
  });
  return { clock, puppet, engine, upstream };
}

async function* chunksOf(audio: Uint8Array, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < audio.length; at += bytes) yield audio.subarray(at, at + bytes);
}

const say = (text: string, start = 0): Utterance => ({ text, start, end: start + 1 });
const ended = (turnId: string, utterance: Utterance, formattedFollows = false): Heard => ({
  type: 'turn.ended',
  turnId,
  utterance,
  formattedFollows,
});

/** A source of audio that the test feeds. */
class Source implements AsyncIterableIterator<Uint8Array> {
  asked = 0;
  returned = 0;
  private give: ((next: IteratorResult<Uint8Array>) => void) | undefined;
  private fail: ((error: unknown) => void) | undefined;

  next(): Promise<IteratorResult<Uint8Array>> {
    this.asked++;
    return new Promise((resolve, reject) => {
      this.give = resolve;
      this.fail = reject;
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.returned++;
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async push(value: Uint8Array | undefined): Promise<void> {
    this.give?.(value === undefined ? { done: true, value } : { done: false, value });
    await settle();
  }

  break(error: unknown): void {
    this.fail?.(error);
  }
}

/** A job under way on the puppet, and what became of it. */
async function job({ ready = true } = {}) {
  const { upstream, puppet } = world();
  puppet.ready = ready;
  const source = new Source();
  const abort = new AbortController();
  let outcome: unknown;
  const done = transcribeThroughLeg(upstream, 'job', request('puppet/a'), source, abort.signal).then(
    (result) => {
      outcome = result;
    },
    (error: unknown) => {
      outcome = error;
    },
  );
  await settle();
  return { upstream, puppet, source, abort, done, outcome: () => outcome };
}

describe('a file through a leg', () => {
  it.each([
    [16_000, 2],
    [16_000, 998],
    [16_000, 1_000_000],
    [8_000, 1_000_000],
    [48_000, 1_000_000],
  ])('arrives whole at %d Hz, in chunks of %d bytes, in frames up to a second', async (rate, chunkBytes) => {
    const longest = { bytes: 0 };
    const { upstream, engine } = world();
    const connect = engine.connect.bind(engine);
    engine.connect = (query, listener) => {
      const connection = connect(query, listener);
      const send = connection.send.bind(connection);
      connection.send = (frame: Outgoing) => {
        if (frame instanceof Uint8Array) longest.bytes = Math.max(longest.bytes, frame.length);
        send(frame);
      };
      return connection;
    };
    const samples = 5 * rate + 77;
    const audio = chunksOf(numberedAudio(0, samples), chunkBytes);
    const { utterances } = await transcribeThroughLeg(
      upstream,
      'job',
      request('loopback/numbered', { turn_seconds: 1.5 }, rate),
      audio,
      AbortSignal.timeout(5_000),
    );
    expect(utterances.map(({ start, end }) => [start * rate, end * rate])).toEqual(
      [0, 1.5, 3, 4.5].map((start) => [start * rate, Math.min(samples, (start + 1.5) * rate)]),
    );
    expect(longest.bytes).toBeLessThanOrEqual(2 * rate);
    await settle();
    expect([upstream.size, engine.connections]).toEqual([0, 0]);
  });

  it('yields the turns in order, formatted where possible, with language and warnings', async () => {
    const { puppet, source, done, outcome } = await job();
    await source.push(undefined);
    await puppet.last.say(
      { type: 'warned', code: 'w', message: 'W.' },
      { type: 'partial', turnId: '1', utterance: say('a') },
      ended('1', say('a b'), true),
      { type: 'turn.formatted', turnId: '1', utterance: { ...say('A b.'), language: 'en' } },
      ended('2', say('', 1), true),
      { type: 'turn.formatted', turnId: '2', utterance: say('Nothing.', 1) },
      ended('3', say('c', 2)),
      ended('3', say('c', 2)),
      { type: 'finished' },
    );
    await done;
    expect(outcome()).toEqual({
      utterances: [{ ...say('A b.'), language: 'en' }, say('c', 2)],
      language: 'en',
      warnings: [{ code: 'w', message: 'W.' }],
    });
  });

  it('waits while the leg has no room', async () => {
    const { puppet, source, done } = await job();
    puppet.last.bufferedBytes = 300_000;
    await source.push(new Uint8Array(320_000));
    expect([puppet.last.samples, source.asked]).toEqual([16_000, 1]);
    puppet.last.bufferedBytes = 0;
    puppet.last.listener.drained();
    await settle();
    expect([puppet.last.samples, source.asked]).toEqual([160_000, 2]);
    await source.push(undefined);
    await puppet.last.say({ type: 'finished' });
    await done;
  });
});

describe('a file’s transcription that fails', () => {
  const never = new Error('aborted');

  it.each<[string, boolean, (stage: Awaited<ReturnType<typeof job>>) => unknown]>([
    ['before the leg is ready', false, () => {}],
    ['while it waits for audio', true, () => {}],
    [
      'while it waits for room',
      true,
      async ({ puppet, source }) => {
        puppet.last.bufferedBytes = 300_000;
        await source.push(new Uint8Array(64_000));
      },
    ],
    ['while it waits for the last finals', true, ({ source }) => source.push(undefined)],
  ])('rejects at once when it is aborted %s, and holds nothing', async (_, ready, reach) => {
    const stage = await job({ ready });
    await reach(stage);
    stage.abort.abort(never);
    await stage.done;
    expect([stage.outcome(), stage.upstream.size, stage.puppet.last.over]).toEqual([never, 0, true]);
  });

  it('because it was aborted before it began opens no leg', async () => {
    const { upstream, puppet } = world();
    const audio = chunksOf(new Uint8Array(2), 2);
    await expect(
      transcribeThroughLeg(upstream, 'job', request('puppet/a'), audio, AbortSignal.abort(never)),
    ).rejects.toBe(never);
    expect([upstream.size, puppet.connections.filter(({ over }) => !over)]).toEqual([0, []]);
  });

  it.each(['retry', 'next', 'account', 'caller'] as const)(
    'rejects with the provider’s failure (%s) while the upload continues',
    async (kind) => {
      const { puppet, source, done, outcome, upstream } = await job();
      await source.push(new Uint8Array(3_200));
      await puppet.last.say({ type: 'failed', failure: failure(kind) });
      await done;
      expect(outcome()).toBeInstanceOf(LegFailed);
      expect((outcome() as LegFailed).failure).toEqual(failure(kind));
      expect([upstream.size, source.returned]).toEqual([0, 1]);
    },
  );

  it('rejects with the reason when its audio cannot be read', async () => {
    const { source, done, outcome, upstream, puppet } = await job();
    source.break(never);
    await done;
    expect([outcome(), upstream.size, puppet.last.over]).toEqual([never, 0, true]);
  });

  it('rejects when words never became final: a part is not a transcription', async () => {
    const { puppet, source, done, outcome } = await job();
    await source.push(undefined);
    await puppet.last.say(
      ended('1', say('a')),
      { type: 'partial', turnId: '2', utterance: say('b', 1) },
      { type: 'finished' },
    );
    await done;
    expect((outcome() as LegFailed).failure satisfies LegFailure).toMatchObject({
      kind: 'retry',
      code: 'final_missing',
    });
  });

  it('because the model is none of this node’s opens nothing', async () => {
    const { upstream } = world();
    const audio = chunksOf(new Uint8Array(2), 2);
    await expect(
      transcribeThroughLeg(upstream, 'job', request('nobody/a'), audio, AbortSignal.timeout(1_000)),
    ).rejects.toThrow('"nobody/a"');
    expect(upstream.size).toBe(0);
  });
});
