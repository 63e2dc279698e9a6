// Sessions and files on a customer's own provider key, through a whole gateway with the simulators on real sockets: the
// provider sees that key and no other, a refused one is told and never replaced by the gateway's, and no secret is left anywhere.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadKeyRing } from '../../src/accounts/vault/key-ring.ts';
import { createVault, type Vault } from '../../src/accounts/vault/vault.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import type { Store } from '../../src/node/store/store.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import { providers } from '../../src/vendors/index.ts';
import { numberedEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';

const OURS = 'canary-service-0815';
const OWN = 'canary-own-key-4711';
/** Simulated providers refuse keys that begin so. */
const REFUSED = 'bad-canary-own-key-4712';
const SECRETS = [OURS, OWN, REFUSED];

const NOVA = 'deepgram/nova-3';
const ASSEMBLY = 'assemblyai/universal-streaming-english';
const WHISPER = 'openai/whisper-1';

const servers: SimulatorServer[] = [];
/** Credentials that each provider was shown, in order. */
const shown: Record<string, string[]> = {};
const answers: string[] = [];
let live: LiveGateway;
let store: Store;
let vault: Vault;
let organisationId: string;

/** A simulator that notes the credential of every request. */
async function simulated(name: string): Promise<string> {
  const simulator = simulators.find((each) => each.provider === name);
  if (simulator === undefined) throw new Error(`There is no simulator of ${name}.`);
  const seen: string[] = [];
  shown[name] = seen;
  const note = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
    seen.push((headers.authorization ?? '').replace(/^(Token|Bearer) /, ''));
  const server = await SimulatorServer.start({
    simulator: {
      ...simulator,
      upgrade: (request, tools) => {
        note(request);
        return simulator.upgrade(request, tools);
      },
      http: (request, tools) => {
        note(request);
        return simulator.http(request, tools);
      },
    },
    ear: numberedEar({ turnSeconds: 0.7 }),
    clock: systemClock,
    faults: [],
  });
  servers.push(server);
  return server.url;
}

beforeAll(async () => {
  live = await startLiveGateway({
    VOXGATE_DEEPGRAM_URL: await simulated('deepgram'),
    VOXGATE_ASSEMBLYAI_URL: await simulated('assemblyai'),
    VOXGATE_OPENAI_URL: await simulated('openai'),
    DEEPGRAM_API_KEY: OURS,
    ASSEMBLYAI_API_KEY: OURS,
    VOXGATE_BREAKER_FAILURES_MAX: '1000',
  });
  const { directory } = live;
  store = await openSqliteStore({ directory });
  organisationId = (await store.listOrganisations())[0]!.id;
  vault = createVault({
    store,
    keyRing: await loadKeyRing({ store, current: undefined, previous: undefined, directory }),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    addressOf: () => ({ baseUrl: undefined }),
    // The tests decide which key is good; here every key is let in.
    check: async () => 'unknown',
    clock: systemClock,
    wallNow: () => Date.now(),
    onFault: () => {},
  });
  const save = (provider: string, secret: string) =>
    vault.save(
      organisationId,
      { provider, name: 'Ours', fields: { api_key: secret } },
      { type: 'person', id: 'per_1' },
    );
  await save('openai', OWN);
  await save('assemblyai', OWN);
  await save('deepgram', REFUSED);
});

afterAll(async () => {
  await store.close();
  for (const server of servers) await server.close();
});

/** A session of numbered audio. */
async function listen(query: Record<string, string>) {
  const client = live.connect({ sample_rate: '24000', ...query });
  await client.event('session_started');
  for (let at = 0; at < 24_000; at += 4_800) client.send(numberedAudio(at, at + 4_800));
  client.send({ type: 'close' });
  const { code } = await client.close();
  answers.push(JSON.stringify(client.events));
  return { client, code };
}

async function send(fields: Record<string, string>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([sampleAudio('commands.wav').bytes]), 'commands.wav');
  const response = await live.request('/v1/audio/transcriptions', { method: 'POST', body: form });
  const text = await response.text();
  answers.push(text);
  return { status: response.status, body: JSON.parse(text) as Record<string, unknown> };
}

/** What the provider is shown by the work. */
async function shownBy<Result>(provider: string, work: () => Promise<Result>): Promise<[Result, string[]]> {
  const before = shown[provider]!.length;
  const result = await work();
  return [result, [...new Set(shown[provider]!.slice(before))]];
}

describe('an own key that is good', () => {
  it('reaches the provider in a session, which costs nothing', async () => {
    const [{ client, code }, keys] = await shownBy('assemblyai', () => listen({ model: ASSEMBLY }));
    expect([code, keys]).toEqual([1000, [OWN]]);
    expect(client.of('session_ended')[0]).toMatchObject({
      usage: [{ model: ASSEMBLY, seconds: 1, cost_usd: '0.00', byok: true }],
      cost_usd: '0.00',
    });
  });

  it('reaches the provider with a file, also where the gateway has no key', async () => {
    const [{ status }, keys] = await shownBy('openai', () => send({ model: WHISPER, response_format: 'verbose_json' }));
    expect([status, keys]).toEqual([200, [OWN]]);
  });

  it('makes the models available to its organisation', async () => {
    const { data } = (await (await live.request('/v1/models')).json()) as {
      data: { id: string; available: boolean }[];
    };
    expect(data.find(({ id }) => id === WHISPER)?.available).toBe(true);
  });

  it('gives way to the gateway’s account where a fallback asks for that', async () => {
    const asked = JSON.stringify([{ model: ASSEMBLY, credential: 'service' }]);
    const [{ client, code }, keys] = await shownBy('assemblyai', () => listen({ model: NOVA, fallbacks: asked }));
    expect([code, keys]).toEqual([1000, [OURS]]);
    expect(client.of('failover')).toMatchObject([{ from: NOVA, to: ASSEMBLY, reason: 'connect_failed' }]);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: ASSEMBLY, byok: false }]);
  });
});

describe('an own key that the provider refuses', () => {
  it('ends a session with 4103 and the provider’s name; the gateway’s key is not shown to it', async () => {
    const [{ client, code }, keys] = await shownBy('deepgram', () => listen({ model: NOVA }));
    expect([code, keys]).toEqual([4103, [REFUSED]]);
    const { error } = client.of('error').at(-1)!;
    expect([error.code, error.type]).toEqual(['upstream_account', 'upstream_error']);
    expect(error.message).toMatch(/^Your own key for Deepgram cannot be used\./);
  });

  it('ends a file with 502 in the same way', async () => {
    const [{ status, body }, keys] = await shownBy('deepgram', () => send({ model: NOVA }));
    expect([status, keys]).toEqual([502, [REFUSED]]);
    expect(body.error).toMatchObject({ code: 'upstream_account', details: [{ model: NOVA }] });
  });

  it('gives way to a listed fallback, and to nothing else', async () => {
    const [[{ client, code }, keys], others] = await shownBy('assemblyai', () =>
      shownBy('deepgram', () => listen({ model: NOVA, fallbacks: ASSEMBLY })),
    );
    expect([code, keys.filter((key) => key !== REFUSED), others]).toEqual([1000, [], [OWN]]);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: ASSEMBLY, byok: true }]);
  });
});

it('stops using a customer key after three refusals', async () => {
  expect((await vault.list(organisationId)).map(({ provider, state }) => [provider, state])).toEqual([
    ['assemblyai', 'usable'],
    ['deepgram', 'disabled'],
    ['openai', 'usable'],
  ]);
  const [{ status, body }, keys] = await shownBy('deepgram', () => live.connect({ model: NOVA }).refused());
  answers.push(body);
  expect([status, JSON.parse(body).error.code, keys]).toEqual([502, 'upstream_account', []]);
});

it('keeps secrets out of the database, files, logs, events and answers', async () => {
  const files = readdirSync(live.directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((file) => file.endsWith('voxgate.db'))).toBe(true);
  const texts = [...files.map((file) => readFileSync(file).toString('latin1')), ...answers, ...live.log];
  const writings = SECRETS.flatMap((secret) => [
    secret,
    Buffer.from(secret).toString('base64').replaceAll('=', ''),
    Buffer.from(secret).toString('hex'),
  ]);
  expect(writings.filter((writing) => texts.some((text) => text.includes(writing)))).toEqual([]);
  expect(answers).toHaveLength(7);
});
