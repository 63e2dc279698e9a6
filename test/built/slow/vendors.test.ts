// Every provider of the registry, live and with a file, through the built program: the gateway and the simulators are processes of the
// bundle, as users run them. The gateway runs from the checkout, and from the package as it is installed.
import { beforeAll, describe, expect, it } from 'vitest';
import { providers } from '../../../src/vendors/index.ts';
import { numberedAudio } from '../../fakes/audio/numbered-audio.ts';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import type { Serving } from '../../fakes/processes/serving.ts';
import { PROTOCOLS, PROVIDERS, rateOf } from '../../live/failover/protocols.ts';
import { gapsIn } from '../../simulation/whole.ts';
import { CHECKOUT, installPackage, PROVIDER_NAMES, serve, simulatedProviders } from '../rig.ts';

const SECONDS = 2.3;
const START_MS_MAX = 180_000;
/** Of a provider with file models alone, utterance by utterance. */
const UTTERANCES = PROVIDERS.flatMap(
  ({ models }) => models.find(({ modes, live_turns }) => modes.includes('live') && live_turns === 'gateway')?.id ?? [],
);
const FILES = PROVIDERS.flatMap(({ models }) => models.find(({ modes }) => modes.includes('batch'))?.id ?? []);
/** Recognisers inside the process. */
const WITHIN = ['local/commands-en', 'loopback/script'];

let settings: Record<string, string>;
beforeAll(async () => {
  settings = await simulatedProviders(PROVIDER_NAMES);
}, START_MS_MAX);

it('covers every provider, live wherever one has a live model, and with a file wherever one takes files', () => {
  const named = (slugs: readonly string[]) => new Set(slugs.map((slug) => slug.split('/')[0]));
  const having = (mode: 'live' | 'batch') =>
    new Set(providers.filter(({ models }) => models.some(({ modes }) => modes.includes(mode))).map(({ name }) => name));
  expect(named([...PROTOCOLS.map(({ slug }) => slug), ...UTTERANCES, ...WITHIN])).toEqual(having('live'));
  expect(named([...FILES, ...WITHIN])).toEqual(having('batch'));
});

describe.each([
  ['the checkout', () => CHECKOUT],
  ['the installed package', installPackage],
])('%s', (_, program) => {
  let gateway: Serving;
  beforeAll(async () => {
    gateway = await serve(program(), settings);
  }, START_MS_MAX);

  it.concurrent.each(PROTOCOLS.map(({ slug }) => slug))('transcribes every sample once live with %s', async (model) => {
    const rate = rateOf([model]) ?? 24_000;
    const client = gateway.connect({ model, sample_rate: String(rate), provider_params: '{}' });
    await client.event('session_started');
    const samples = Math.round(SECONDS * rate);
    client.send(numberedAudio(0, samples));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expect(gapsIn(client.finals, samples, rate, [model])).toEqual([]);
    expect(client.of('failover')).toEqual([]);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model, seconds: SECONDS }]);
  });

  it.concurrent.each([...UTTERANCES, ...WITHIN])('transcribes speech live with %s', async (model) => {
    const { pcm, sampleRate } = sampleAudio('commands.wav');
    const params = model.startsWith('loopback/') ? '{"turns":[{"text":"as scripted","seconds":1}]}' : '{}';
    const client = gateway.connect({ model, sample_rate: String(sampleRate), provider_params: params });
    await client.event('session_started');
    for (let at = 0; at < pcm.length; at += 32_000) client.send(pcm.subarray(at, at + 32_000));
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    expect(client.finals.map(({ text }) => text).join(' ')).toMatch(/\w/);
    expect(client.of('failover')).toEqual([]);
  });

  it.concurrent.each([...FILES, ...WITHIN])('transcribes a file with %s', async (model) => {
    const form = new FormData();
    form.set('model', model);
    form.set('response_format', 'verbose_json');
    if (model.startsWith('loopback/')) form.set('provider_params', '{"turns":[{"text":"as scripted","seconds":1}]}');
    form.set('file', new Blob([sampleAudio('commands.wav').bytes]), 'commands.wav');
    const answer = await gateway.request('/v1/audio/transcriptions', { method: 'POST', body: form });
    expect([answer.status, await answer.json()]).toMatchObject([200, { model, text: expect.stringMatching(/\w/) }]);
  });

  it('ends in order on a signal', async () => {
    expect(await gateway.end('SIGTERM')).toEqual([0, null]);
  });
});
