// Every codec against its simulator: of numbered audio each sample is in exactly one final, whatever the provider does wrong;
// what cannot be had is a failure of the leg, and never words lost in silence.
import { beforeAll, describe, expect, it } from 'vitest';
import type { LiveCodec, Provider } from '../../../src/vendors/kit/provider.ts';
import type { ProviderSimulator } from '../../../src/vendors/kit/simulation.ts';
import { gapsIn } from '../../simulation/whole.ts';
import type { LiveFixtures, SimulatedFixtures } from './fixtures.ts';
import { legRequest } from './requests.ts';
import { type LegOptions, type Outcome, playLeg, shownFrame } from './simulated-leg.ts';

/** Frames of 0.1 s, and none that is too short for anybody. */
const SECONDS = 5.3;

/** What a provider may do wrong without an end of the leg; and each quirk of its simulator. */
const FAULTS = [
  ...['duplicate-finals', 'unknown-messages', 'binary-messages', 'non-object-json', 'revised-interims'],
  ...['tiny-fragments', 'latency=2s', 'late-finals=500ms', 'late-final-after-next', 'restart-times'],
];

/** Ends of a leg that lacks a final: the session hears it again, from this model or another. */
const FINAL_MISSING = ['retry final_missing', 'next drain_timeout'];

const wordsOf = ({ finals }: Outcome): string[] => finals.flatMap(({ text }) => text.split(' ')).sort();

export function testSimulated(
  provider: Provider,
  simulator: ProviderSimulator,
  live: LiveFixtures,
  simulated: SimulatedFixtures = {},
): void {
  const { name } = provider;
  const cards = provider.models.filter(({ modes, live_turns }) => modes.includes('live') && live_turns !== 'gateway');
  const models = cards.map(({ id }) => id.slice(name.length + 1));
  const play = (model: string, more: Partial<LegOptions> = {}) =>
    playLeg({ provider, simulator, model, sampleRate: live.sampleRate, seconds: SECONDS, ...more });
  const gaps = ({ finals, samples }: Outcome, sampleRate = live.sampleRate) => gapsIn(finals, samples, sampleRate, []);
  const codecOf = provider.live as (model: string) => LiveCodec;
  const requestOf = (model: string) => legRequest({ model, sampleRate: live.sampleRate });
  // Models that want the same of their time speak the same protocol.
  const protocols = new Map(models.map((model) => [JSON.stringify(codecOf(model).timing(requestOf(model))), model]));

  describe(`${name} simulated: samples`, () => {
    const rates = cards.flatMap(({ id, audio: { sample_rates: all } }) =>
      [...new Set([all[0], all.at(-1)])].map((rate) => [id.slice(name.length + 1), rate as number] as const),
    );
    it.each(rates)('end up in one final each: %s at %i Hz', async (model, sampleRate) => {
      const outcome = await play(model, { sampleRate });
      expect([outcome.end, gaps(outcome, sampleRate)]).toEqual(['finished', []]);
    });

    it.each(models)('end up in one final each for %s, with finalizes in between', async (model) => {
      const outcome = await play(model, { finalizeAt: [1.3, 3] });
      expect([outcome.end, gaps(outcome)]).toEqual(['finished', []]);
      expect(outcome.finals.length).toBeGreaterThanOrEqual(3);
      expect(outcome.finals[0]?.end).toBeCloseTo(1.3, 1);
    });

    // Longer than a provider waits for audio without a keepalive.
    it.each(models)('end up in one final each for %s, with a pause in which nothing is sent', async (model) => {
      const outcome = await play(model, { pause: { afterSeconds: 1, ms: 13_000 } });
      expect([outcome.end, gaps(outcome)]).toEqual(['finished', []]);
    });

    for (const [model, faults, params = {}, finals = undefined] of simulated.whole ?? []) {
      it(`end up in one final each for ${model} with ${JSON.stringify(faults)} and ${JSON.stringify(params)}`, async () => {
        const outcome = await play(model, { faults, params });
        expect([outcome.end, gaps(outcome)]).toEqual(['finished', []]);
        if (finals !== undefined) expect(outcome.finals).toHaveLength(finals);
      });
    }
  });

  describe(`${name} simulated: words`, () => {
    describe.each([...protocols.values()])('%s', (model) => {
      let whole: Outcome;
      beforeAll(async () => {
        whole = await play(model);
      });

      it.each(FAULTS)('arrive once each, or the leg fails, after %s', async (fault) => {
        const outcome = await play(model, { faults: [fault] });
        if (outcome.end === 'finished') expect(wordsOf(outcome)).toEqual(wordsOf(whole));
        else expect(FINAL_MISSING).toContain(outcome.end);
      });
    });
  });

  describe(`${name} simulated: a leg`, () => {
    it.each(simulated.ends ?? [])(
      'plays %s with %j and %d s of audio, then ends as "%s"',
      async (model, faults, seconds, end) => {
        expect((await play(model, { faults, seconds })).end).toBe(end);
      },
    );

    it.each(models)('notifies the provider on release, so that it stops counting: %s', async (model) => {
      const { sent } = await play(model, { leaves: true, seconds: 1 });
      const codec = codecOf(model);
      const { state } = codec.open(requestOf(model));
      for (let frame = 0; frame < 10; frame++) codec.audio(state, new Uint8Array(live.sampleRate / 5));
      const leaving = (codec.leave?.(state) ?? []).map(shownFrame);
      expect(sent.slice(sent.length - leaving.length)).toEqual(leaving);
    });
  });
}
