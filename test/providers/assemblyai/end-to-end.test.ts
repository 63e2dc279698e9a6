// The codecs against the simulator, over real sockets: of numbered audio every sample is in exactly one final, with every live
// model; and what a leg does is what AssemblyAI's rules and meter want.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { LegReport, OpenLeg } from '../../../machines/events.ts';
import { batch } from '../../../src/providers/assemblyai/batch.ts';
import { assemblyai } from '../../../src/providers/assemblyai/index.ts';
import { simulator } from '../../../src/providers/assemblyai/simulator/index.ts';
import type { BatchStep } from '../../../src/providers/provider.ts';
import type { EarSource } from '../../../src/simulator/ears.ts';
import { numberedEar, scriptEar } from '../../../src/simulator/ears.ts';
import { SimulatorServer } from '../../../src/simulator/server.ts';
import { transcribeThroughLeg } from '../../../src/transcription/through-leg.ts';
import { LegFailed } from '../../../src/upstream/leg-failed.ts';
import { UpstreamHost } from '../../../src/upstream/upstream-host.ts';
import { numberedAudio } from '../../fakes/numbered-audio.ts';
import { expectWhole } from '../../fakes/numbered-finals.ts';
import { wavOf } from './wav.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** Tells of each piece of audio that an ear has heard. */
function told(ear: EarSource, onAudio: () => void): EarSource {
  return (clock) => {
    const open = ear(clock);
    return (...request) => {
      const opened = open(...request);
      const audio = opened.audio.bind(opened);
      opened.audio = (bytes) => {
        audio(bytes);
        onAudio();
      };
      return opened;
    };
  };
}

/** Frames heard, to wait for. */
class Heard {
  private frames = 0;
  private wake: (() => void) | undefined;

  readonly another = (): void => {
    this.frames++;
    this.wake?.();
  };

  async until(frames: number): Promise<void> {
    while (this.frames < frames) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/** Simulator and legs on one clock, which the audio moves: nobody waits, and the pace is exactly real time. */
async function openWorld(ear: EarSource, faults: readonly string[] = [], credential = 'key-1') {
  const clock = new SimulatedClock();
  let ended: (() => void) | undefined;
  const connectionEnded = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const heard = new Heard();
  const server = await SimulatorServer.start({
    simulator,
    ear: told(ear, heard.another),
    faults,
    clock,
    onEnd: (line) => {
      if (line.includes('/v3/ws')) ended?.();
    },
  });
  const upstream = new UpstreamHost({
    providers: new Map([[assemblyai.name, assemblyai]]),
    engines: {},
    access: () => ({ baseUrl: server.url, credential }),
    clock,
  });
  cleanUps.push(
    () => upstream.close(),
    () => server.close(),
  );
  const sessions = async () => (await fetch(`${server.url}/simulator/sessions`)).json();
  return { clock, heard, server, upstream, connectionEnded, sessions };
}

type World = Awaited<ReturnType<typeof openWorld>>;

const legOf = (model: string, sampleRate: number, params: Record<string, unknown> = {}): OpenLeg => ({
  type: 'leg.open',
  session: '',
  sessionId: 'job_1',
  generation: 1,
  slug: `assemblyai/${model}`,
  sampleRate,
  language: null,
  interimResults: true,
  diarization: false,
  params,
  credentialId: 'service',
  organisationId: 'org_1',
});

/** Audio in frames of 100 ms, each at its time: the clock goes on when the one before was heard. */
async function* paced(audio: Uint8Array, sampleRate: number, { clock, heard }: World): AsyncGenerator<Uint8Array> {
  const frameBytes = (sampleRate / 10) * 2;
  for (let frame = 0; frame * frameBytes < audio.length; frame++) {
    await heard.until(frame);
    clock.increment(100);
    yield audio.subarray(frame * frameBytes, (frame + 1) * frameBytes);
  }
}

async function finalsOf(world: World, leg: OpenLeg, samples: number) {
  const audio = paced(numberedAudio(0, samples), leg.sampleRate, world);
  const { utterances } = await transcribeThroughLeg(world.upstream, 'leg-1', leg, audio, new AbortController().signal);
  return utterances.map(({ text, start, end }, turn) => ({ text, turn, start, end }));
}

const FORMATTING = { format_turns: true };

describe('numbered audio', () => {
  it.each<[string, number, Record<string, unknown>, string[]]>([
    ['universal-streaming-english', 16_000, {}, []],
    ['universal-streaming-english', 16_000, FORMATTING, []],
    ['universal-streaming-english', 16_000, FORMATTING, ['twin-never']],
    ['universal-streaming-english', 16_000, {}, ['regime=b']],
    ['universal-streaming-english', 8_000, { inactivity_timeout: 5 }, []],
    ['universal-streaming-multilingual', 16_000, {}, []],
    ['u3-rt-pro', 24_000, {}, []],
    ['universal-3-5-pro', 48_000, {}, []],
    ['whisper-rt', 16_000, {}, []],
    ['whisper-rt', 44_100, FORMATTING, []],
    ['whisper-rt', 16_000, FORMATTING, ['swallow-force-endpoint']],
  ])('through %s at %i Hz with %j and %j is whole', async (model, sampleRate, params, faults) => {
    const samples = 5.3 * sampleRate;
    const finals = await finalsOf(
      await openWorld(numberedEar({ turnSeconds: 2 }), faults),
      legOf(model, sampleRate, params),
      samples,
    );
    expect(finals).toHaveLength(3);
    expectWhole(finals, samples, sampleRate);
  });

  it('that is finalized in the middle is whole, and a leg that is let go of leaves nothing to be charged', async () => {
    const stage = await openWorld(numberedEar({ turnSeconds: 600 }));
    const finals: { text: string; turn: number; start: number; end: number }[] = [];
    let told: (() => void) | undefined;
    const report = (each: LegReport) => {
      if (each.type === 'leg.heard' && each.heard.type === 'turn.ended' && each.heard.utterance !== undefined)
        finals.push({ turn: finals.length, ...each.heard.utterance });
      if (each.type === 'leg.ready' || finals.length > 0) told?.();
    };
    const event = () =>
      new Promise<void>((resolve) => {
        told = resolve;
      });
    const ready = event();
    const leg = stage.upstream.open('leg-1', legOf('u3-rt-pro', 16_000), report);
    await ready;
    const final = event();
    for (let frame = 0; frame < 7; frame++) {
      stage.clock.increment(100);
      leg.command({ type: 'leg.audio', sequence: frame + 1 }, numberedAudio(frame * 1_600, (frame + 1) * 1_600));
    }
    leg.command({ type: 'leg.finalize' });
    await final;
    expectWhole(
      finals.map(({ text, turn, start, end }) => ({ text, turn, start, end })),
      11_200,
    );
    expect(await stage.sessions()).toEqual({ open: 1, terminated: 0, abandoned: 0 });
    stage.upstream.close();
    await stage.connectionEnded;
    expect(await stage.sessions()).toEqual({ open: 0, terminated: 1, abandoned: 0 });
  });
});

describe('a leg', () => {
  const failureOf = async (stage: World, samples = 0) => {
    const error: unknown = await finalsOf(stage, legOf('u3-rt-pro', 16_000), samples).catch(
      (reason: unknown) => reason,
    );
    return error instanceof LegFailed ? [error.failure.kind, error.failure.code] : error;
  };

  it.each<[string, string[], string, string]>([
    ['badkey', [], 'account', '1008'],
    ['Bearer key-1', [], 'account', '1008'],
    ['broke', [], 'account', '1008'],
    ['limited', [], 'next', '1008'],
    ['key-1', ['concurrent-1008'], 'next', '1008'],
    ['key-1', ['concurrent-3009'], 'next', '3009'],
    ['key-1', ['refuse=401'], 'account', 'http_401'],
    ['key-1', ['refuse=429'], 'next', 'http_429'],
    ['key-1', ['refuse=503'], 'retry', 'http_503'],
    ['key-1', ['error-after=0ms'], 'retry', '3005'],
  ])('with the key %s and %j fails with kind %s and code %s', async (key, faults, kind, code) => {
    expect(await failureOf(await openWorld(numberedEar(), faults, key))).toEqual([kind, code]);
  });

  it('loses no turn that has no words', async () => {
    const stage = await openWorld(
      scriptEar({
        turns: [
          { text: '', seconds: 1 },
          { text: 'yes', seconds: 1 },
        ],
      }),
    );
    const finals = await finalsOf(stage, legOf('universal-streaming-english', 16_000), 32_000);
    expect(finals).toMatchObject([{ text: 'yes', start: 1, end: 2 }]);
  });
});

describe('a file', () => {
  /** Sends what the codec asks for. Pauses are skipped. */
  async function transcribe(url: string, file: Uint8Array, credential = 'key-1'): Promise<BatchStep> {
    const access = { baseUrl: url, credential };
    const { state, step } = batch.begin({
      ...{ model: 'universal-2', language: 'en-GB', diarization: true, prompt: undefined, temperature: undefined },
      ...{ wordTimestamps: true, params: {}, access },
      file: { name: 'audio.wav', contentType: 'audio/wav', bytes: undefined, seconds: undefined },
    });
    let next = step;
    while (next.type === 'request') {
      const { method, url: target, headers, body } = next.request;
      const sent = body.kind === 'json' ? JSON.stringify(body.json) : body.kind === 'file' ? file : null;
      const response = await fetch(target, { method, headers, body: sent });
      const answer = {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      };
      next = response.ok ? batch.read(state, answer) : { type: 'failed', failure: batch.refused!(state, answer) };
    }
    return next;
  }

  it('is transcribed whole', async () => {
    const { server } = await openWorld(numberedEar({ turnSeconds: 2 }));
    const samples = 80_000;
    const step = await transcribe(server.url, wavOf(numberedAudio(0, samples)));
    if (step.type !== 'done') throw new Error(JSON.stringify(step));
    const { utterances, language, seconds } = step.result;
    expectWhole(
      utterances.map(({ text, start, end }, turn) => ({ text, turn, start, end })),
      samples,
    );
    expect([language, seconds, utterances[0]?.speaker, utterances[0]?.words]).toEqual([
      'en-GB',
      5,
      0,
      [{ word: '0-32000', start: 0, end: 2, confidence: 1 }],
    ]);
  });

  it.each([
    ['key-1', new Uint8Array(100), 'caller', 'audio_unusable'],
    ['badkey', new Uint8Array(100), 'account', 'http_401'],
    ['broke', new Uint8Array(100), 'account', 'http_400'],
    ['limited', new Uint8Array(100), 'next', 'http_429'],
  ])('of nonsense with the key %s fails as it should', async (key, file, kind, code) => {
    const { server } = await openWorld(numberedEar());
    expect(await transcribe(server.url, file, key)).toMatchObject({ type: 'failed', failure: { kind, code } });
  });
});
