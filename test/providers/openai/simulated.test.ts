// The codecs against the simulator over real sockets: every sample is in exactly one final, for every model, and files come
// back in every model's own format.
import { afterEach, describe, expect, it } from 'vitest';
import type { Heard, LegFailure, LegReport } from '../../../machines/events.ts';
import { batch } from '../../../src/providers/openai/batch.ts';
import { openai } from '../../../src/providers/openai/index.ts';
import { simulator } from '../../../src/providers/openai/simulator/index.ts';
import type { BatchRequest, BatchStep } from '../../../src/providers/provider.ts';
import { numberedEar, scriptEar } from '../../../src/simulator/ears.ts';
import { SimulatorServer } from '../../../src/simulator/server.ts';
import { systemClock } from '../../../src/telemetry/clock.ts';
import { type LegHandle, UpstreamHost } from '../../../src/upstream/upstream-host.ts';
import { numberedAudio } from '../../fakes/numbered-audio.ts';
import { expectWhole } from '../../fakes/numbered-finals.ts';
import { silentWav } from './silent-wav.ts';

const RATE = 24_000;
const FRAME = RATE / 10;

let server: SimulatorServer | undefined;
let upstream: UpstreamHost | undefined;

afterEach(async () => {
  upstream?.close();
  await server?.close();
});

interface Leg {
  handle: LegHandle;
  heard: Heard[];
  /** Resolves when a report of this type has come. */
  until(type: LegReport['type']): Promise<LegReport>;
}

async function openLeg(
  model: string,
  { faults = [], params = {}, key = 'sk-test' }: { faults?: string[]; params?: object; key?: string } = {},
): Promise<Leg> {
  const simulated = await SimulatorServer.start({ simulator, ear: numberedEar({ turnSeconds: 2 }), faults });
  server = simulated;
  upstream = new UpstreamHost({
    providers: new Map([['openai', openai]]),
    engines: {},
    access: () => ({ baseUrl: simulated.url, credential: key }),
    clock: systemClock,
  });
  const heard: Heard[] = [];
  const reports: LegReport[] = [];
  const waiting = new Set<() => void>();
  const handle = upstream.open(
    'leg',
    {
      type: 'leg.open',
      session: '',
      sessionId: 's',
      generation: 1,
      slug: `openai/${model}`,
      sampleRate: RATE,
      language: 'en',
      interimResults: true,
      diarization: false,
      params: { ...params },
      credentialId: 'service',
      organisationId: 'org_1',
    },
    (report) => {
      reports.push(report);
      if (report.type === 'leg.heard') heard.push(report.heard);
      for (const wake of waiting) wake();
    },
  );
  const until = (type: LegReport['type']) =>
    new Promise<LegReport>((resolve, reject) => {
      const look = () => {
        const found = reports.find((report) => report.type === type);
        const failed = reports.find((report) => report.type === 'leg.failed');
        if (found !== undefined) resolve(found);
        else if (failed !== undefined) reject(new Error(JSON.stringify(failed)));
      };
      waiting.add(look);
      look();
    });
  return { handle, heard, until };
}

/** Sends numbered audio in frames of 100 ms; a turn is ended after every `turnSeconds`. */
function speak({ handle }: Leg, samples: number, turnSeconds = Number.POSITIVE_INFINITY): void {
  let sequence = 0;
  for (let at = 0; at < samples; at += FRAME) {
    sequence++;
    const bytes = numberedAudio(at, Math.min(samples, at + FRAME));
    handle.command({ type: 'leg.audio', sequence }, bytes);
    if ((at + FRAME) % (turnSeconds * RATE) === 0) handle.command({ type: 'leg.finalize' });
  }
}

const finalsOf = ({ heard }: Leg) =>
  heard
    .flatMap((each) => (each.type === 'turn.ended' && each.utterance !== undefined ? [each.utterance] : []))
    .map((utterance, turn) => ({ ...utterance, turn }));

async function hearAll(leg: Leg, samples: number, turnSeconds?: number): Promise<void> {
  await leg.until('leg.ready');
  speak(leg, samples, turnSeconds);
  leg.handle.command({ type: 'leg.finish' });
  await leg.until('leg.finished');
}

const failureOf = async (leg: Leg): Promise<LegFailure> => {
  const report = await leg.until('leg.failed');
  return (report as Extract<LegReport, { type: 'leg.failed' }>).failure;
};

describe('every sample is in exactly one final', () => {
  const serverTurns = ['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'whisper-1'];
  const ownTurns = ['gpt-live-transcribe', 'gpt-realtime-whisper'];
  const samples = Math.round(7.3 * RATE) + 17;

  it.each(serverTurns)('of %s, whose turns are ended by the server', async (model) => {
    const leg = await openLeg(model);
    await hearAll(leg, samples);
    expectWhole(finalsOf(leg), samples, RATE);
    expect(finalsOf(leg).map(({ end }) => end)).toEqual([2, 4, 6, samples / RATE]);
    expect(leg.heard.filter(({ type }) => type === 'speech.started')).toHaveLength(4);
  });

  it.each(serverTurns)('of %s, with turns ended in between as well', async (model) => {
    const leg = await openLeg(model);
    await hearAll(leg, samples, 1.5);
    expectWhole(finalsOf(leg), samples, RATE);
    expect(finalsOf(leg)).toHaveLength(5);
  });

  it.each([...ownTurns, ...serverTurns])('of %s, whose turns are ended by the gateway', async (model) => {
    const leg = await openLeg(model, { params: { turn_detection: null } });
    await hearAll(leg, samples, 1.5);
    expectWhole(finalsOf(leg), samples, RATE);
    expect(finalsOf(leg).map(({ end }) => end)).toEqual([1.5, 3, 4.5, 6, samples / RATE]);
  });

  it.each(ownTurns)('of %s, which writes while someone speaks', async (model) => {
    const leg = await openLeg(model);
    await hearAll(leg, samples, 1.5);
    const first = leg.heard.findIndex(({ type }) => type === 'partial');
    const final = leg.heard.findIndex(({ type }) => type === 'turn.ended');
    expect(first).toBeGreaterThanOrEqual(0);
    expect(first).toBeLessThan(final);
  });

  it('of a turn that is longer than those of the ear', async () => {
    const leg = await openLeg('gpt-live-transcribe');
    await hearAll(leg, samples);
    const [only, ...more] = finalsOf(leg);
    expect(more).toEqual([]);
    expect(only).toMatchObject({ start: 0, end: samples / RATE });
    expect(only?.text.split(' ')).toHaveLength(4);
  });

  it.each(['gpt-live-transcribe', 'gpt-4o-transcribe'])('of %s, when items complete out of order', async (model) => {
    const leg = await openLeg(model, { faults: ['out-of-order'] });
    await hearAll(leg, samples, 1);
    expectWhole(finalsOf(leg), samples, RATE);
  });

  it('of a session whose items complete late', async () => {
    const leg = await openLeg('gpt-live-transcribe', { faults: ['slow-complete=30'] });
    await hearAll(leg, samples, 1.5);
    expectWhole(finalsOf(leg), samples, RATE);
  });

  it.each(['gpt-live-transcribe', 'gpt-4o-transcribe'])('of a tail too short for a commit (%s)', async (model) => {
    const leg = await openLeg(model);
    const short = 2 * RATE + 1_200;
    await hearAll(leg, short, 2);
    expect(finalsOf(leg).map(({ start, end }) => [start, end])).toEqual([
      [0, 2],
      [2, short / RATE],
    ]);
    expect(finalsOf(leg)[1]?.text).toMatch(/^48000-49200/);
  });
});

describe('a leg fails', () => {
  it.each([
    ['bad-key', 'account', 'invalid_api_key'],
    ['broke', 'account', 'insufficient_quota'],
    ['limited', 'next', 'rate_limit_exceeded'],
  ])('with the key %s as %s', async (key, kind, code) => {
    const leg = await openLeg('gpt-live-transcribe', { key });
    expect(await failureOf(leg)).toMatchObject({ kind, code, reason: 'connect_failed' });
  });

  it('when an item does, without a final for it', async () => {
    const leg = await openLeg('gpt-live-transcribe', { faults: ['fail-item=2'] });
    await leg.until('leg.ready');
    speak(leg, 5 * RATE, 1);
    expect(await failureOf(leg)).toMatchObject({ kind: 'retry', code: 'item_failed' });
    expectWhole(finalsOf(leg), RATE, RATE);
  });

  it('when its session expires', async () => {
    const leg = await openLeg('whisper-1', { faults: ['expire-after=20'] });
    expect(await failureOf(leg)).toMatchObject({ kind: 'retry', code: 'session_expired' });
  });
});

/** Plays the host of an HTTP codec. */
async function transcribe(over: Partial<BatchRequest>, seconds = 6): Promise<BatchStep> {
  server = await SimulatorServer.start({
    simulator,
    ear: scriptEar({ turns: ['hello and welcome', 'this is a script'].map((text) => ({ text, seconds: 2 })) }),
  });
  const { state, step } = batch.begin({
    model: 'whisper-1',
    language: 'en',
    diarization: false,
    prompt: undefined,
    temperature: undefined,
    wordTimestamps: false,
    params: {},
    access: { baseUrl: server.url, credential: 'sk-test' },
    file: { name: 'audio.wav', contentType: 'audio/wav', bytes: undefined, seconds },
    ...over,
  });
  if (step.type !== 'request' || step.request.body.kind !== 'multipart') return step;
  const { method, url, headers, body } = step.request;
  const form = new FormData();
  for (const [name, value] of body.fields) form.append(name, value);
  form.append(body.fileField, new File([silentWav(seconds)], 'audio.wav', { type: 'audio/wav' }));
  const answer = await fetch(url, { method, headers, body: form });
  const got = { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  if (answer.ok) return batch.read(state, got);
  return { type: 'failed', failure: batch.refused?.(state, got) as LegFailure };
}

describe('a file', () => {
  it.each(['gpt-transcribe', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'])('is text with %s', async (model) => {
    expect(await transcribe({ model })).toMatchObject({
      type: 'done',
      result: { utterances: [{ text: 'hello and welcome this is a script hello and welcome', start: 0, end: 6 }] },
    });
  });

  it('has segments and words with whisper-1', async () => {
    const step = await transcribe({ wordTimestamps: true });
    expect(step).toMatchObject({ result: { language: 'en', seconds: 6 } });
    const { utterances } = (step as Extract<BatchStep, { type: 'done' }>).result;
    expect(utterances.map(({ text, start, end }) => [text, start, end])).toEqual([
      ['hello and welcome', 0, 2],
      ['this is a script', 2, 4],
      ['hello and welcome', 4, 6],
    ]);
    expect(utterances[1]?.words?.map(({ word }) => word)).toEqual(['this', 'is', 'a', 'script']);
  });

  it('has speakers with the model that tells them apart', async () => {
    const step = await transcribe({ model: 'gpt-4o-transcribe-diarize', diarization: true }, 40);
    const { utterances } = (step as Extract<BatchStep, { type: 'done' }>).result;
    expect(utterances.slice(0, 3).map(({ speaker }) => speaker)).toEqual([0, 1, 0]);
  });

  it('has a confidence where that was asked for', async () => {
    const step = await transcribe({ model: 'gpt-4o-transcribe', params: { include: ['logprobs'] } });
    expect(step).toMatchObject({ result: { utterances: [{ confidence: 1 }] } });
  });

  it('longer than the model takes goes to the next', async () => {
    expect(await transcribe({ model: 'gpt-4o-transcribe' }, 1_401)).toMatchObject({
      failure: { kind: 'next', code: 'audio_too_long' },
    });
  });

  it('of an unknown model is the caller’s fault', async () => {
    expect(await transcribe({ model: 'gpt-5' })).toMatchObject({
      failure: { kind: 'caller', code: 'model_not_found' },
    });
  });
});
