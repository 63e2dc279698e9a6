// The gateway chooses the models of sessions, files and jobs, through a whole gateway: between a dear server, a failing one and a slow one.
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JobAnswer } from '../../src/api/jobs.ts';
import type { VerboseTranscription } from '../../src/api/transcriptions.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { numberedEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const BY = { type: 'operator', id: 'test' } as const;
const SLOW_MS = 150;
const [CHEAP, SLOW, DEAR] = ['custom/cheap', 'custom/slow', 'custom/dear'] as const;
const NOVA = 'deepgram/nova-3';
const STREAMING = 'assemblyai/universal-streaming-multilingual';

let live: LiveGateway;
let narrowKey: string;
let aliasKey: string;
const closing: (() => unknown)[] = [];

/** Of OpenAI's shape. The cheap one fails as long as the test says so. */
const state = { isCheapBroken: false };
const fileServer = (name: string): Server =>
  createServer((request, response) => {
    request.resume().on('end', () => {
      const isBroken = name === 'cheap' && state.isCheapBroken;
      const answer = () => {
        response.writeHead(isBroken ? 500 : 200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(isBroken ? { error: { message: 'broken' } } : { text: `by ${name}` }));
      };
      if (name === 'slow') setTimeout(answer, SLOW_MS);
      else answer();
    });
  });

async function customServer(name: string, batch: string, region?: string) {
  const server = fileServer(name);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { shape: 'openai', url, ...(region && { region }), models: [{ name, batch, languages: ['fr'] }] };
}

async function vendor(name: string, faults: string[] = []): Promise<Record<string, string>> {
  const simulator = simulators.find(({ provider }) => provider === name);
  if (simulator === undefined) throw new Error(`There is no simulator of ${name}.`);
  const server = await SimulatorServer.start({ simulator, ear: numberedEar({ turnSeconds: 0.7 }), faults });
  closing.push(() => server.close());
  const variable = name.toUpperCase();
  return { [`VOXGATE_${variable}_URL`]: server.url, [`${variable}_API_KEY`]: 'credential-of-the-gateway' };
}

beforeAll(async () => {
  const directory = temporaryDirectory();
  const config = join(directory, 'voxgate.json');
  const custom = [
    await customServer('cheap', '0.0001'),
    await customServer('slow', '0.0002', 'eu'),
    await customServer('dear', '0.0003'),
  ];
  writeFileSync(config, JSON.stringify({ custom }));
  live = await startLiveGateway({
    ...{ VOXGATE_CONFIG: config, VOXGATE_LOOPBACK: 'off', VOXGATE_DATA_DIRECTORY: directory },
    ...{ VOXGATE_BREAKER_FAILURES_MAX: '1000', VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000' },
    ...(await vendor('deepgram', ['close-after=300ms'])),
    ...(await vendor('assemblyai')),
  });
  const store = await openSqliteStore({ directory });
  const { id } = await store.createOrganisation('Choosing', null, BY);
  narrowKey = (await store.createKey(id, { models: [DEAR, STREAMING] }, BY)).secret;
  aliasKey = (await store.createKey(id, { aliases: { auto: [{ model: DEAR }] } }, BY)).secret;
  store.close();
});
afterAll(async () => {
  for (const close of closing) await close();
});

const { bytes: WAV } = sampleAudio('commands.wav');

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ response_format: 'verbose_json', language: 'fr', ...fields }))
    form.set(name, value);
  form.set('file', new Blob([new Uint8Array(WAV)]), 'commands.wav');
  return form;
}

interface Sent extends VerboseTranscription {
  error?: { code: string; message: string; param?: string };
}

async function send(fields: Record<string, string>, key = live.key) {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${live.url}/v1/audio/transcriptions`, {
    method: 'POST',
    body: formOf(fields),
    headers,
  });
  return { status: response.status, body: (await response.json()) as Sent, headers: response.headers };
}

const chosen = ({ choice = [] }: Pick<VerboseTranscription, 'choice'>) => choice.map(({ model }) => model);

describe('a file', () => {
  it('goes to the cheapest model, with its fallbacks explained', async () => {
    const { status, body } = await send({ model: 'auto', prefer: 'price' });
    expect([status, body.text, body.model]).toEqual([200, 'by cheap', CHEAP]);
    expect(body.choice).toMatchObject([
      { model: CHEAP, price_per_minute: '0.0001', reason: `Costs less than ${SLOW}.` },
      { model: SLOW, price_per_minute: '0.0002' },
      { model: DEAR, price_per_minute: '0.0003' },
    ]);
  });

  it('follows the region and the key', async () => {
    expect((await send({ model: 'auto', prefer: 'price', region: 'eu' })).body.model).toBe(SLOW);
    const { body } = await send({ model: 'auto', prefer: 'price' }, narrowKey);
    expect([body.model, chosen(body)]).toEqual([DEAR, [DEAR]]);
  });

  it('gets two fallbacks with `fallbacks=auto`, and none of a named model’s provider', async () => {
    const { body } = await send({ model: DEAR, fallbacks: 'auto', prefer: 'price' });
    expect([body.model, chosen(body)]).toEqual([DEAR, [CHEAP, SLOW]]);
  });

  it('goes elsewhere once a model has failed a few times, answered by a fallback until then', async () => {
    state.isCheapBroken = true;
    const answers = [];
    for (let sent = 0; sent < 3; sent++) answers.push((await send({ model: 'auto', prefer: 'price' })).body);
    expect(answers.map(({ model }) => model)).toEqual([SLOW, SLOW, SLOW]);
    expect(answers[0]?.fallback?.[0]).toMatchObject({ model: CHEAP });
    expect(answers[2]?.choice?.[0]?.error_rate).toBeGreaterThan(0.3);
    const { body } = await send({ model: 'auto' });
    state.isCheapBroken = false;
    expect(chosen(body)).not.toContain(CHEAP);
    expect(body).not.toHaveProperty('fallback');
  });

  it('has the faster of two with `prefer=latency`', async () => {
    for (const model of [SLOW, DEAR]) for (let sent = 0; sent < 12; sent++) await send({ model });
    const { body } = await send({ model: 'auto', prefer: 'latency', fallbacks: CHEAP });
    expect(body.model).toBe(DEAR);
    expect(body.choice?.[0]).toMatchObject({ model: DEAR, answer_ms_per_second: expect.any(Number) });
  });

  it.each<[Record<string, string>, object]>([
    [
      { model: 'auto', region: 'jp' },
      {
        code: 'no_model_available',
        param: 'model',
        message: expect.stringContaining('none may process the audio in jp'),
      },
    ],
    [
      { model: 'auto', prefer: 'accuracy' },
      {
        ...{ code: 'invalid_request', param: 'prefer' },
        message:
          "`prefer=accuracy`: no model that fits the request has a measured accuracy for `fr`. The gateway's operator can measure it with `voxgate accuracy DIR --models … --keep FILE`. Send another `prefer` or another language.",
      },
    ],
    [
      { model: 'auto', prefer: 'speed' },
      { code: 'invalid_request', param: 'prefer' },
    ],
    [
      { model: 'auto', provider_params: '{"prompt":"x"}' },
      { code: 'invalid_request', param: 'provider_params' },
    ],
    [{ model: 'automatic' }, { code: 'model_not_found' }],
  ])('is refused for %j', async (fields, refusal) => {
    expect((await send(fields)).body.error).toMatchObject(refusal);
  });

  it('gets a warning for a preference without a choice', async () => {
    const { body, headers } = await send({ model: DEAR, prefer: 'price' });
    expect(body.warnings).toContainEqual(expect.objectContaining({ code: 'parameter_ignored', param: 'prefer' }));
    expect(headers.get('voxgate-warning')).toContain('parameter_ignored;param=prefer');
  });

  it('goes to the model of an alias of that name', async () => {
    const { body } = await send({ model: 'auto', prefer: 'price' }, aliasKey);
    expect([body.model, body.choice]).toEqual([DEAR, undefined]);
  });

  it('gets its answer again under its idempotency key, also with a list of models', async () => {
    const headers = { Authorization: `Bearer ${narrowKey}`, 'Idempotency-Key': 'choice 1' };
    const body = () => formOf({ model: 'auto' });
    const url = `${live.url}/v1/audio/transcriptions`;
    const first = await fetch(url, { method: 'POST', body: body(), headers });
    const again = await fetch(url, { method: 'POST', body: body(), headers });
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true']);
    expect(await again.json()).toEqual(await first.json());
  });
});

it('transcribes a job with a chosen model, and shows which', async () => {
  const begun = await live.request('/v1/jobs', { method: 'POST', body: formOf({ model: 'auto', prefer: 'price' }) });
  expect(begun.status).toBe(202);
  const { id, model } = (await begun.json()) as JobAnswer;
  expect(model).toBe('auto');
  const job = await vi.waitFor(
    async () => {
      const shown = (await (await live.request(`/v1/jobs/${id}`)).json()) as JobAnswer;
      expect(shown.status).toBe('completed');
      return shown;
    },
    { timeout: 10_000, interval: 20 },
  );
  expect([CHEAP, SLOW]).toContain(job.model);
  expect(job.result).toMatchObject({ model: job.model, choice: [{}, {}, {}] });
});

describe('a session', () => {
  const listen = async (query: Record<string, string>, during?: object) => {
    const client = live.connect({ language: 'fr', sample_rate: '16000', ...query });
    const started = await client.event('session_started');
    client.send(numberedAudio(0, 16_000));
    if (during !== undefined) {
      client.send(during);
      client.send({ type: 'finalize' });
      await client.event('configured');
    }
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
    return { client, started };
  };

  it('begins with a chosen model, and has the others as fallbacks', async () => {
    const { client, started } = await listen({ model: 'auto', prefer: 'price' });
    const models = started.choice?.map(({ model }) => model);
    expect([started.model, ...started.fallbacks.map(({ model }) => model)]).toEqual(models);
    expect(started.chain.map(({ model }) => model)).toEqual(models);
    expect(client.of('session_ended')[0]?.usage).toMatchObject([{ model: started.model }]);
  });

  it('avoids a model that has failed, and one without interims', async () => {
    for (let failed = 0; failed < 3; failed++) {
      const { client } = await listen({ model: NOVA, fallbacks: STREAMING });
      expect(client.of('failover')).toMatchObject([{ from: NOVA, to: STREAMING }]);
    }
    const { started } = await listen({ model: 'auto', fallbacks: STREAMING });
    expect(started.model).not.toBe(NOVA);
    expect(started.model).not.toMatch(/^custom/);
    const { started: byPrice } = await listen({ model: STREAMING, fallbacks: 'auto', prefer: 'price' });
    expect(byPrice.choice?.find(({ model }) => model.startsWith('deepgram/'))).toBeDefined();
  });

  it('chooses again when it is changed, and stays with its model where that fits', async () => {
    const { client, started } = await listen({ model: 'auto', prefer: 'price' }, { type: 'configure', language: 'fr' });
    expect(client.of('configured')[0]?.model).toBe(started.model);
    const changed = await listen({ model: STREAMING }, { type: 'configure', model: 'auto', prefer: 'price' });
    expect(changed.client.of('configured')[0]).toMatchObject({ choice: expect.any(Array) });
  });

  it('has one choice for all of its channels', async () => {
    const client = live.connect({ model: 'auto', language: 'fr', channels: '2', interim_results: 'true' });
    const { choice = [] } = await client.event('session_started');
    expect(choice.length).toBeGreaterThan(0);
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
  });

  it('is refused where no model is left', async () => {
    const { status, body } = await live.connect({ model: 'auto', language: 'fr', region: 'jp' }).refused();
    expect([status, JSON.parse(body)]).toMatchObject([422, { error: { code: 'no_model_available', param: 'model' } }]);
  });
});
