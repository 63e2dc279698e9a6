// Every codec against its simulator: of numbered audio each sample is in exactly one final, whatever the provider does wrong;
// what cannot be had is a failure of the leg, and never words lost in silence.
import { beforeAll, describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav/wav-header.ts';
import type { HttpAnswer, HttpRequest, LiveCodec, Provider } from '../../../src/providers/provider.ts';
import type { ProviderSimulator } from '../../../src/providers/simulation.ts';
import { numberedEar } from '../../../src/simulator/ears.ts';
import { SimulatorStage } from '../../../src/simulator/stage.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { EventClock } from '../../simulation/event-clock.ts';
import { gapsIn } from '../../simulation/whole.ts';
import type { ProviderFixtures } from './fixtures.ts';
import { isHttp } from './options.ts';
import { batchRequest, legRequest } from './requests.ts';
import { type LegOptions, type Outcome, playLeg, TURN_SECONDS } from './simulated-leg.ts';

/** Frames of 0.1 s, and none that is too short for anybody. */
const SECONDS = 5.3;
const FILE_RATE = 16_000;
const HOUR_MS = 3_600_000;

/** What a provider may do wrong without an end of the leg; and each quirk of its simulator. */
const FAULTS = [
  ...['duplicate-finals', 'unknown-messages', 'binary-messages', 'non-object-json', 'revised-interims'],
  ...['tiny-fragments', 'latency=2s', 'late-finals=500ms', 'late-final-after-next', 'restart-times'],
];

/** Ends of a leg that lacks a final: the session hears it again, from this model or another. */
const FINAL_MISSING = ['retry final_missing', 'next drain_timeout'];

const wordsOf = ({ finals }: Outcome): string[] => finals.flatMap(({ text }) => text.split(' ')).sort();

export function testSimulated(provider: Provider, simulator: ProviderSimulator, fixtures: ProviderFixtures): void {
  const { name } = provider;
  const cards = provider.models.filter(({ modes, live_turns }) => modes.includes('live') && live_turns !== 'gateway');
  const models = cards.map(({ id }) => id.slice(name.length + 1));
  const { simulated = {}, live } = fixtures;
  const play = (model: string, more: Partial<LegOptions> = {}) =>
    playLeg({ provider, simulator, model, sampleRate: live.sampleRate, seconds: SECONDS, ...more });
  const gaps = ({ finals, samples }: Outcome, sampleRate = live.sampleRate) => gapsIn(finals, samples, sampleRate, []);
  const codec = provider.live as LiveCodec;
  const requestOf = (model: string) => legRequest({ model, sampleRate: live.sampleRate });
  // Models that want the same of their time speak the same protocol.
  const protocols = new Map(models.map((model) => [JSON.stringify(codec.timing(requestOf(model))), model]));

  describe(`${name} simulated: every sample is in one final`, () => {
    const rates = cards.flatMap(({ id, audio: { sample_rates: all } }) =>
      [...new Set([all[0], all.at(-1)])].map((rate) => [id.slice(name.length + 1), rate as number] as const),
    );
    it.each(rates)('of %s at %i Hz', async (model, sampleRate) => {
      const outcome = await play(model, { sampleRate });
      expect([outcome.end, gaps(outcome, sampleRate)]).toEqual(['finished', []]);
    });

    it.each(models)('of %s, with ends of turns asked for in between', async (model) => {
      const outcome = await play(model, { finalizeAt: [1.3, 3] });
      expect([outcome.end, gaps(outcome)]).toEqual(['finished', []]);
      expect(outcome.finals.length).toBeGreaterThanOrEqual(3);
      expect(outcome.finals[0]?.end).toBeCloseTo(1.3, 1);
    });

    // Longer than a provider waits for audio where it wants to be told that more is to come.
    it.each(models)('of %s, with a pause in which nothing is sent', async (model) => {
      const outcome = await play(model, { pause: { afterSeconds: 1, ms: 13_000 } });
      expect([outcome.end, gaps(outcome)]).toEqual(['finished', []]);
    });

    for (const [model, faults, params = {}, finals = undefined] of simulated.whole ?? []) {
      it(`of ${model} with ${JSON.stringify(faults)} and ${JSON.stringify(params)}`, async () => {
        const outcome = await play(model, { faults, params });
        expect([outcome.end, gaps(outcome)]).toEqual(['finished', []]);
        if (finals !== undefined) expect(outcome.finals).toHaveLength(finals);
      });
    }
  });

  describe(`${name} simulated: no words are lost in silence, and none are said twice`, () => {
    describe.each([...protocols.values()])('%s', (model) => {
      let whole: Outcome;
      beforeAll(async () => {
        whole = await play(model);
      });

      it.each(FAULTS)('with %s', async (fault) => {
        const outcome = await play(model, { faults: [fault] });
        if (outcome.end === 'finished') expect(wordsOf(outcome)).toEqual(wordsOf(whole));
        else expect(FINAL_MISSING).toContain(outcome.end);
      });
    });
  });

  describe(`${name} simulated: a leg`, () => {
    it.each(simulated.ends ?? [])(
      'of %s with %j after %d s of audio ends as "%s"',
      async (model, faults, seconds, end) => {
        expect((await play(model, { faults, seconds })).end).toBe(end);
      },
    );

    it.each(models)('of %s that is let go of tells the provider, so that it stops counting', async (model) => {
      const { sent } = await play(model, { leaves: true, seconds: 1 });
      const { state } = codec.open(requestOf(model));
      const leaving = (codec.leave?.(state) ?? []).map((frame) => JSON.stringify(frame));
      expect(sent.slice(sent.length - leaving.length)).toEqual(leaving);
    });
  });

  const { batch } = provider;
  if (!isHttp(batch)) return;
  const fileModels = provider.models
    .filter(({ modes }) => modes.includes('batch'))
    .map(({ id }) => id.slice(name.length + 1));
  describe(`${name} simulated: a file`, () => {
    it.each(fileModels)('is transcribed whole by %s', async (model) => {
      const clock = new EventClock();
      const stage = new SimulatorStage({ simulator, ear: numberedEar({ turnSeconds: TURN_SECONDS }), clock });
      const samples = 5 * FILE_RATE;
      const pcm = numberedAudio(0, samples);
      const file = Buffer.concat([wavHeader(FILE_RATE, pcm.length), pcm]);
      const access = { baseUrl: 'http://provider.test', credential: 'good-key' };
      const info = { name: 'audio.wav', contentType: 'audio/wav', bytes: file.length, seconds: samples / FILE_RATE };
      const { state, step } = batch.begin(batchRequest({ model, access, wordTimestamps: true, file: info }));
      let next = step;
      while (next.type === 'request') {
        const answering = answerOf(stage, next.request, file);
        let answer: HttpAnswer | undefined;
        answering.then((each) => {
          answer = each;
        });
        await clock.run(clock.now() + HOUR_MS, () => answer !== undefined);
        next = batch.read(state, await answering);
      }
      if (next.type !== 'done') throw new Error(JSON.stringify(next));
      const { utterances } = next.result;
      expect(
        gapsIn(
          utterances.map((each, turn) => ({ ...each, turn })),
          samples,
          FILE_RATE,
          [],
        ),
      ).toEqual([]);
    });
  });
}

/** Sends one request of a codec to a simulator. Its answer is good. */
async function answerOf(
  stage: SimulatorStage,
  { method, url, headers, body }: HttpRequest,
  file: Buffer,
): Promise<HttpAnswer> {
  const sent = new Request('http://provider.test', { method: 'POST', ...bodyOf(body, file) });
  const type = sent.headers.get('content-type');
  const lower = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]);
  const answer = await stage.http({
    method,
    url: new URL(url),
    headers: { ...(type === null ? {} : { 'content-type': type }), ...Object.fromEntries(lower) },
    body: new Uint8Array(await sent.arrayBuffer()),
  });
  if (answer === undefined || answer.status >= 300) throw new Error(`Answered with ${JSON.stringify(answer)}.`);
  const { status, headers: own = {}, body: said = '' } = answer;
  return { status, headers: own, body: typeof said === 'string' ? said : JSON.stringify(said) };
}

function bodyOf(body: HttpRequest['body'], file: Buffer): { body?: FormData | Buffer<ArrayBuffer> | string } {
  if (body.kind === 'none') return {};
  if (body.kind === 'json') return { body: JSON.stringify(body.json) };
  if (body.kind === 'file') return { body: Buffer.from(file) };
  const form = new FormData();
  for (const [member, value] of body.fields) form.append(member, value);
  form.append(body.fileField, new File([Buffer.from(file)], 'audio.wav', { type: 'audio/wav' }));
  return { body: form };
}
