// What the catalogue, the prices and the chain make of models that hear files only, in live sessions.
import { describe, expect, it } from 'vitest';
import { createPriceList, type PriceOverrides } from '../../../src/config/prices/price-list.ts';
import { type Ask, resolveChain, timingOf } from '../../../src/live/failover/chain.ts';
import { listModels } from '../../../src/node/routes/models.ts';
import { assemblyai } from '../../../src/vendors/assemblyai/index.ts';
import { providers } from '../../../src/vendors/index.ts';
import { UTTERANCE, UTTERANCE_TIMING, withLiveTurns } from '../../../src/vendors/kit/live-turns.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';

const UNIVERSAL = 'assemblyai/universal-2';
const DIARIZE = 'openai/gpt-4o-transcribe-diarize';

const known = new Map(providers.map((provider) => [provider.name, provider]));
const access = () => ({ baseUrl: undefined, credential: 'key' });

const chainOf = (ask: Partial<Ask>) =>
  resolveChain(
    {
      ...{ mode: 'live', organisationId: 'org_1', model: UNIVERSAL, providerParams: {}, fallbacks: [] },
      ...{ sampleRate: 16_000, language: undefined, diarization: false, interimResults: false, strict: false },
      ...ask,
    },
    { providers: known, engines: {}, access, prices: createPriceList(providers) },
  );

describe('the catalogue', () => {
  const list = (prices: PriceOverrides = {}) =>
    listModels({ providers: known, access, prices: createPriceList(providers, prices), statusOf: () => 'up' });

  it('gives every model of files a live mode, and says who makes the turns', () => {
    const live = list().filter(({ modes }) => modes.includes('live'));
    const without = list().filter(({ modes }) => !modes.includes('live'));
    // An utterance of a session would cost as much as the least of a file.
    expect(without.filter(({ pricing }) => pricing.batch?.minimum === undefined)).toEqual([]);
    const byGateway = live.filter(({ live_turns }) => live_turns === 'gateway').map(({ id }) => id);
    expect(byGateway).toEqual(expect.arrayContaining([UNIVERSAL, DIARIZE]));
    expect(live.every(({ live_turns }) => live_turns === 'gateway' || live_turns === 'model')).toBe(true);
  });

  it('promises no interim results for them, and the price of a file', () => {
    for (const { capabilities, pricing, live_turns } of list()) {
      if (live_turns !== 'gateway') continue;
      expect(capabilities.interim_results).toBe(false);
      expect(pricing.live).toEqual(pricing.batch);
    }
  });

  it.each<[string, PriceOverrides[string], string | undefined, string | undefined]>([
    ['the price of its files', { batch: { unit: 'minute', amount: '0.5' } }, '0.50', '0.50'],
    ['its own price', { live: { unit: 'minute', amount: '0.7' } }, '0.0025', '0.70'],
    ['both', { batch: { unit: 'minute', amount: '0.5' }, live: { unit: 'minute', amount: '0.7' } }, '0.50', '0.70'],
    ['no price of its files', { batch: null }, undefined, undefined],
    ['no price', { live: null }, '0.0025', undefined],
  ])('follows the operator, who sets %s', (_, override, batch, live) => {
    const card = list({ [UNIVERSAL]: override }).find(({ id }) => id === UNIVERSAL);
    expect([card?.pricing.batch?.amount, card?.pricing.live?.amount]).toEqual([batch, live]);
    expect(card?.modes.includes('live')).toBe(live !== undefined);
    expect(card?.live_turns).toBe(live === undefined ? undefined : 'gateway');
  });

  it('leaves providers alone whose files go through their live mode', () => {
    expect(withLiveTurns(loopback)).toBe(loopback);
  });
});

describe('a chain', () => {
  it('takes such models and others in any order', async () => {
    const fallbacks = [{ model: 'deepgram/nova-3' }, { model: DIARIZE }];
    const { members } = await chainOf({ fallbacks });
    expect(members.map(({ slug }) => slug)).toEqual([UNIVERSAL, 'deepgram/nova-3', DIARIZE]);
    const asked = { language: undefined, diarization: false };
    const timings = members.map((member) => timingOf(member, asked, access));
    expect(timings.map((timing) => timing === UTTERANCE_TIMING)).toEqual([true, false, true]);
  });

  it.each<[Partial<Ask>, string[]]>([
    [{}, []],
    [{ interimResults: true }, ['interim_results_unsupported']],
    [{ diarization: true }, ['speakers_per_turn']],
    [{ diarization: true, mode: 'batch' }, []],
    [{ providerParams: { punctuate: false, keyterms_prompt: ['vox'] } }, []],
    [{ providerParams: { audio_end_at: 5 } }, ['parameter_ignored']],
    [{ providerParams: { audio_end_at: 5 }, mode: 'batch' }, []],
    [{ providerParams: { vad_threshold: 0.5 } }, ['parameter_ignored']],
  ])('%j warns of %j', async (ask, codes) => {
    const { members } = await chainOf(ask);
    expect(members[0]?.degradations.map(({ code }) => code)).toEqual(codes);
  });

  it.each<[Partial<Ask>, string]>([
    [{ interimResults: true }, 'interim_results'],
    [{ diarization: true }, 'diarization'],
    [{ providerParams: { audio_end_at: 5 } }, 'provider_params.audio_end_at'],
  ])('refuses %j in strict mode', async (ask, param) => {
    await expect(chainOf({ ...ask, strict: true })).rejects.toMatchObject({
      code: 'unsupported_parameter',
      extras: { param },
    });
  });
});

it('options are judged as for files, by such a model alone', () => {
  const wrapped = withLiveTurns(assemblyai);
  expect(wrapped.honours?.('punctuate', 'universal-2', 'live')).toBe(true);
  expect(wrapped.honours?.('punctuate', 'universal-3-5-pro', 'live')).toBe(false);
  expect(wrapped.honours?.('vad_threshold', 'universal-3-5-pro', 'live')).toBe(true);
  expect(wrapped.honours?.('audio_start_from', 'universal-2', 'batch')).toBe(true);
});

it('treats a leg as dead only after its longest utterance and answer, within a replay', () => {
  expect(UTTERANCE_TIMING.stallMs).toBeGreaterThan(UTTERANCE.longestMs + UTTERANCE.silenceMs + UTTERANCE.answerMs);
  expect(UTTERANCE_TIMING.stallMs).toBeLessThan(60_000);
});
