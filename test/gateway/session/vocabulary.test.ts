// One vocabulary over the chain: names and languages arrive at each vendor in its own words, also after a failover.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mappedFor } from '../../../src/live/failover/vocabulary.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import type { ProviderSimulator, SimulatedRequest } from '../../../src/vendors/kit/simulation.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { simulators } from '../../../src/vendors/simulators.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { PROTOCOLS, PROVIDERS, providerOf } from '../../live/failover/protocols.ts';

const FIRST = 'deepgram/nova-3';
const TERMS = ['Zoë Quill', 'Voxgate'];
const common = { keyterms: TERMS, languages: ['fr', 'en'], prompt: 'A call about orders.' };

const servers: SimulatorServer[] = [];
/** What arrived at each simulator: queries, bodies and text frames, in one text. */
const arrived = new Map<string, string>();
let gateway: LiveGateway;

function recording(simulator: ProviderSimulator): ProviderSimulator {
  const record = (text: string) => arrived.set(simulator.provider, `${arrived.get(simulator.provider) ?? ''}\n${text}`);
  const request = ({ url, body }: SimulatedRequest) =>
    record(`${decodeURIComponent(url.search.replaceAll('+', ' '))}\n${Buffer.from(body ?? []).toString()}`);
  return {
    ...simulator,
    upgrade(asked, tools) {
      request(asked);
      const upgrade = simulator.upgrade(asked, tools);
      if ('refuse' in upgrade) return upgrade;
      return {
        ...upgrade,
        connect(peer) {
          const connection = upgrade.connect(peer);
          const text = (frame: string) => {
            record(frame);
            connection.text(frame);
          };
          return { text, bytes: (bytes) => connection.bytes(bytes), gone: () => connection.gone() };
        },
      };
    },
    http(asked, tools) {
      request(asked);
      return simulator.http(asked, tools);
    },
  };
}

beforeAll(async () => {
  const settings: Record<string, string> = { VOXGATE_BREAKER_FAILURES_MAX: '1000' };
  for (const simulator of simulators) {
    const { provider } = simulator;
    const server = await SimulatorServer.start({
      simulator: recording(simulator),
      ear: scriptEar({ turns: [{ text: 'bonjour', seconds: 1 }] }),
      clock: systemClock,
      faults: provider === providerOf(FIRST) ? ['refuse=500'] : [],
    });
    servers.push(server);
    settings[`VOXGATE_${provider.toUpperCase()}_URL`] = server.url;
    settings[`${provider.toUpperCase()}_API_KEY`] = 'key';
  }
  gateway = await startLiveGateway(settings);
});

afterAll(async () => {
  for (const server of servers) await server.close();
});

async function listen(query: Record<string, string>) {
  const client = gateway.connect(query);
  const { chain } = await client.event('session_started');
  client.send(new Uint8Array(32_000));
  client.send({ type: 'close' });
  await client.close();
  return { client, chain };
}

const asked = { keyterms: JSON.stringify(TERMS), languages: common.languages.join(), prompt: common.prompt };

/** One live model of each vendor but the first. */
const fallbacks = [...new Map(PROTOCOLS.map(({ slug, provider }) => [provider, slug])).values()].filter(
  (slug) => providerOf(slug) !== providerOf(FIRST),
);

describe('the vocabulary after a failover', () => {
  it.each(fallbacks)('sends %s the names, languages and prompt that the session received', async (slug) => {
    const provider = PROVIDERS.find(({ name }) => name === providerOf(slug))!;
    const card = provider.models.find(({ id }) => id === slug)!;
    arrived.delete(provider.name);
    const { client, chain } = await listen({ model: FIRST, fallbacks: slug, ...asked });
    expect(client.of('failover')).toMatchObject([{ from: FIRST, to: slug }]);
    expect(chain.map(({ model }) => model)).toEqual([FIRST, slug]);

    const { params, language } = mappedFor(
      card,
      provider,
      { mode: 'live', language: undefined, diarization: false, common },
      {},
    );
    const text = arrived.get(provider.name) ?? '';
    for (const option of Object.keys(params)) {
      const { wire } = provider.optionRows?.[option] ?? {};
      const name = (typeof wire === 'object' ? wire.live : wire) ?? option;
      // What the codec writes is looked for by its values alone.
      if (name !== false) expect(text).toContain(name.split('.').at(-1));
    }
    const { dropped = [] } = chain[1] ?? {};
    const isHeard = (param: string) => !dropped.some((each) => each.param === param);
    for (const term of TERMS) expect(text.includes(term), `${term} in ${text}`).toBe(isHeard('keyterms'));
    expect(text.includes(common.prompt)).toBe(isHeard('prompt'));
    // Some models have the languages that they hear in their names, and are told no other.
    if (language !== undefined && language !== 'auto') expect(text).toMatch(new RegExp(`(?<![a-z])${language}\\b`));
    if ('languages' in params || language === undefined) expect(isHeard('languages')).toBe(/\bfr\b/.test(text));
  });
});

describe('a session', () => {
  it('reports how each candidate applies its options, and warns for the first model', async () => {
    const { client, chain } = await listen({
      model: 'assemblyai/universal-streaming-english',
      fallbacks: 'openai/gpt-4o-transcribe',
      language: 'en',
      keyterms: 'Zoë,Voxgate',
      prompt: 'A call.',
      redact: 'true',
      diarization: 'true',
    });
    expect(chain).toMatchObject([
      { honoured: ['language', 'diarization', 'keyterms', 'redact'], mapped: [], dropped: [{ param: 'prompt' }] },
      {
        honoured: ['language', 'prompt'],
        mapped: [{ param: 'keyterms', message: '`keyterms` go to openai/gpt-4o-transcribe as a part of its prompt.' }],
        dropped: [{ param: 'diarization' }, { param: 'redact' }],
      },
    ]);
    expect(client.of('warning')).toMatchObject([{ code: 'parameter_ignored', param: 'prompt' }]);
    expect(arrived.get('assemblyai')).toContain('keyterms_prompt=["Zoë","Voxgate"]');
  });

  it('refuses in strict mode what a fallback cannot apply, but not what it maps', async () => {
    const strict = { model: 'openai/gpt-transcribe', fallbacks: 'openai/whisper-1', keyterms: 'Zoë', strict: 'true' };
    const { chain } = await listen({ ...strict, interim_results: 'false' });
    expect(chain).toMatchObject([{ honoured: ['keyterms'] }, { mapped: [{ param: 'keyterms' }] }]);
    const { status, body } = await gateway.connect({ ...strict, redact: 'pii' }).refused();
    expect([status, JSON.parse(body).error]).toMatchObject([422, { code: 'unsupported_parameter', param: 'redact' }]);
  });

  it.each([
    [{ keyterms: 'a,,b' }, 'keyterms', 'empty'],
    [{ keyterms: JSON.stringify(Array.from({ length: 101 }, (_, at) => `t${at}`)) }, 'keyterms', '100 at most'],
    [{ keyterms: 'x'.repeat(129) }, 'keyterms', '128 at most'],
    [{ keyterms: '[1]' }, 'keyterms', 'JSON array of texts'],
    [{ languages: 'en,english' }, 'languages', 'BCP-47'],
    [{ redact: 'names' }, 'redact', 'pii, pci, phi, numbers'],
    [{ vocabulary_boost: '2' }, 'vocabulary_boost', 'from 0 to 1'],
  ])('refuses %j', async (query, param, message) => {
    const { status, body } = await gateway.connect({ model: FIRST, ...query }).refused();
    expect([status, JSON.parse(body).error]).toMatchObject([400, { code: 'invalid_request', param }]);
    expect(JSON.parse(body).error.message).toContain(message);
  });
});
