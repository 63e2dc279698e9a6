// The operator's last resort behind the models that a request names: where it joins a chain, and what it saves.
import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { createPriceList, FREE } from '../../../src/config/prices/price-list.ts';
import { type Ask, resolveChain } from '../../../src/live/failover/chain.ts';
import type { Engine, ModelCard, Provider } from '../../../src/vendors/kit/provider.ts';
import { local } from '../../../src/vendors/local/index.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { type LiveGateway, sampleAudio, samples, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { createKeys } from '../../fakes/store/store-keys.ts';
import { puppetProvider } from '../session/puppet.ts';

const LAST = 'local/dictation-en';
const NOVA = 'deepgram/nova-3';
const card = loopback.models[0] as ModelCard;
const capabilities = { ...card.capabilities, diarization: true };
const knowing = (name: string, ...languages: string[]): Provider => ({
  ...puppetProvider({ card: { languages } }),
  name,
  models: [
    {
      ...card,
      id: `${name}/a`,
      languages,
      capabilities,
      processing: card.processing.map((row) => ({ ...row, region: 'eu' as const })),
    },
  ],
});
const closed: Provider = { ...loopback, name: 'closed', models: [{ ...card, id: 'closed/a' }], credential: 'required' };
const offered = [loopback, local, knowing('both', 'fr', 'en-GB'), knowing('french', 'fr'), closed];
const unchecked = { connect: () => expect.fail('Nothing connects while a chain is checked.') } as unknown as Engine;

async function chainOf(ask: Partial<Ask>): Promise<string[]> {
  const whole: Ask = {
    ...{ mode: 'live', organisationId: 'org_1', model: 'loopback/script', providerParams: {}, fallbacks: [] },
    ...{ sampleRate: 16_000, language: undefined, diarization: false, interimResults: true, strict: false },
    ...{ lastResort: LAST, ...ask },
  };
  const { members, warnings } = await resolveChain(whole, {
    providers: new Map(offered.map((provider) => [provider.name, provider])),
    prices: createPriceList(offered, {}),
    engines: { loopback: unchecked, puppet: unchecked, local: unchecked },
    access: () => ({ baseUrl: undefined, credential: undefined }),
  });
  expect(warnings).toEqual([]);
  for (const { slug, isLastResort, price } of members) if (isLastResort) expect([slug, price]).toEqual([LAST, FREE]);
  return members.map(({ slug }) => slug);
}

it.each<[string, Partial<Ask>]>([
  ['names no language', {}],
  ['is in English', { language: 'en' }],
  ['is in English of a region', { language: 'en-AU' }],
  ['may be in kinds of English', { language: 'en', common: { languages: ['en-US', 'en-GB'] } }],
  ['names no language to a model that knows several', { model: 'both/a' }],
  ['is a file', { mode: 'batch' }],
  ['is strict about what the last resort does as well', { strict: true, language: 'en' }],
  ['asks for speakers, which it goes without', { model: 'both/a', diarization: true }],
])('ends the chain of a request that %s', async (_, ask) => {
  const named = ask.model ?? 'loopback/script';
  expect(await chainOf(ask)).toEqual([named, LAST]);
});

it('follows the eight fallbacks that a request may name', async () => {
  const fallbacks = Array.from({ length: 8 }, (_, at) => ({
    model: 'loopback/script',
    provider_params: { turns: [{ text: String(at), seconds: 1 }] },
  }));
  expect(await chainOf({ fallbacks })).toEqual([...Array(9).fill('loopback/script'), LAST]);
});

it.each<[string, Partial<Ask>]>([
  ['the gateway has none', { lastResort: undefined }],
  ['it is in French', { language: 'fr' }],
  ['its language is to be detected', { language: 'auto' }],
  ['it may be in French', { common: { languages: ['en', 'fr'] } }],
  ['it names no language to a model of French', { model: 'french/a' }],
  [
    'its audio may be processed in the EU alone',
    { model: 'both/a', rules: [{ by: 'request', regions: ['eu'], retention: null }] },
  ],
  ['it is strict and asks for speakers', { strict: true, model: 'both/a', diarization: true }],
])('is left out without a warning where %s', async (_, ask) => {
  expect(await chainOf(ask)).toEqual([ask.model ?? 'loopback/script']);
});

it('is there once where the request names it', async () => {
  expect(await chainOf({ model: LAST })).toEqual([LAST]);
  expect(await chainOf({ fallbacks: [{ model: LAST, provider_params: { endpointing: 900 } }] })).toEqual([
    'loopback/script',
    LAST,
  ]);
});

it('does not hide that no model of a request can be used', async () => {
  await expect(chainOf({ model: 'closed/a' })).rejects.toThrow('has no credential');
});

const GRAMMAR = 'local/commands-en';
const SAMPLE = samples().find(({ file }) => file === 'commands.wav') as { text: string; seconds: number };

/** A gateway with a last resort and a simulated Deepgram that says one sentence; it is there until it is killed. */
async function gatewayWithDeepgram(): Promise<{ live: LiveGateway; kill(): Promise<void> }> {
  const simulator = simulators.find(({ provider }) => provider === 'deepgram') ?? expect.fail('No simulator.');
  const ear = scriptEar({ turns: [{ text: 'turn on the kitchen lights', seconds: 60 }] });
  const server = await SimulatorServer.start({ simulator, ear });
  const live = await startLiveGateway({
    VOXGATE_LAST_RESORT: GRAMMAR,
    VOXGATE_DEEPGRAM_URL: server.url,
    DEEPGRAM_API_KEY: 'simulated',
  });
  return { live, kill: () => server.close() };
}

async function chainStarted(live: LiveGateway, query: Record<string, string>, key = live.key): Promise<string[]> {
  const client = live.connect(
    { model: NOVA, ...query },
    { authorize: false, headers: { Authorization: `Bearer ${key}` } },
  );
  const { chain } = await client.event('session_started');
  client.send({ type: 'close' });
  await client.close();
  return chain.map(({ model }) => model);
}

it('continues a sentence whose provider was killed, with every word, one final a turn, and nothing to pay', async () => {
  const { live, kill } = await gatewayWithDeepgram();
  const { pcm, sampleRate } = sampleAudio('commands.wav');
  const client = live.connect({ model: NOVA, sample_rate: String(sampleRate), interim_results: 'true' });
  await client.event('session_started');
  const middle = 2 * sampleRate * 2;
  client.send(pcm.subarray(0, middle));
  await client.event('transcript');
  await kill();
  client.send(pcm.subarray(middle));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expect(client.of('failover')).toMatchObject([{ from: NOVA, to: GRAMMAR }]);
  expect(client.of('discontinuity')).toEqual([]);
  expect(client.finals.map(({ text }) => text).join(' ')).toBe(SAMPLE.text);
  expect(client.finals.map(({ turn }) => turn)).toEqual(client.finals.map((_, at) => at));
  const [ended] = client.of('session_ended');
  expect(ended?.cost_usd).toMatch(/^0\.0+$/);
  expect(ended?.usage).toEqual([{ model: GRAMMAR, seconds: SAMPLE.seconds, cost_usd: '0.00', byok: false }]);
});

it('is listed in the chain of a session, unless its language or its key rules it out', async () => {
  const { live, kill } = await gatewayWithDeepgram();
  const [narrow, wide] = await createKeys(live.directory, [{ models: ['deepgram/*'] }, { models: [NOVA, GRAMMAR] }]);
  expect(await chainStarted(live, {})).toEqual([NOVA, GRAMMAR]);
  expect(await chainStarted(live, { language: 'en' })).toEqual([NOVA, GRAMMAR]);
  expect(await chainStarted(live, { language: 'fr' })).toEqual([NOVA]);
  expect(await chainStarted(live, {}, narrow?.secret)).toEqual([NOVA]);
  expect(await chainStarted(live, {}, wide?.secret)).toEqual([NOVA, GRAMMAR]);
  await kill();
});

it('answers for a file, free, unless its language or its key rules it out', async () => {
  const { live, kill } = await gatewayWithDeepgram();
  await kill();
  const [narrow] = await createKeys(live.directory, [{ models: ['deepgram/*'] }]);
  const send = async (file: string | Buffer, fields: Record<string, string>, key = live.key) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: NOVA, response_format: 'verbose_json', ...fields }))
      form.set(name, value);
    const bytes = typeof file === 'string' ? sampleAudio(file).bytes : file;
    form.set('file', new Blob([new Uint8Array(bytes)]), 'speech');
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${live.url}/v1/audio/transcriptions`, { method: 'POST', body: form, headers });
    return {
      status: response.status,
      ...((await response.json()) as { error?: object; model?: string; text?: string }),
    };
  };
  expect(await send('commands.wav', {})).toMatchObject({ status: 200, text: SAMPLE.text, model: GRAMMAR });
  expect(await send('yes.wav', { language: 'fr' })).toMatchObject({ status: 502 });
  expect(await send('yes.wav', {}, narrow?.secret)).toMatchObject({ status: 502 });
  // A kind of file that the last resort does not take is not the client's mistake.
  const m4a = Buffer.from('000000206674797069736f6d0000020069736f6d69736f32617663316d703431', 'hex');
  const { status, error } = await send(m4a, {});
  expect([status, JSON.stringify(error)]).toEqual([502, expect.not.stringContaining(GRAMMAR)]);
});

const configured = (slug: string) =>
  loadConfig({ VOXGATE_LAST_RESORT: slug }, { providers: ['local', 'deepgram'] }).session.lastResort;

it('is off unless it is set', () => {
  expect(['', LAST].map(configured)).toEqual([undefined, LAST]);
});

it.each([
  ['local/dictation', 'it is one of local/dictation-en, '],
  ['local/align-en', 'it is one of local/dictation-en, '],
  [NOVA, 'it is a model of the embedded recogniser such as `local/dictation-en`'],
  ['dictation-en', 'it is a model of the embedded recogniser'],
])('is refused at the start: %s', (slug, words) => {
  expect(() => configured(slug)).toThrow(`VOXGATE_LAST_RESORT (session.lastResort) is "${slug}"; ${words}`);
});
