// Names and addresses that a service finds, over a whole gateway: live, in files, in jobs, for other vendors' clients, by the rule of a
// key; what is left out when the service does not answer; and that none of what was said is left anywhere.

import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { wavHeader } from '../../src/audio/containers/wav.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { AnalyzerService } from '../fakes/network/analyzer-service.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';

const SAID = ['Quill', 'Wicker', 'Jürgen', 'J\\u00fcrgen'];
const TURNS = [
  { text: 'Hello there.', seconds: 0.5 },
  { text: 'I am Zoe Quill.', seconds: 0.5 },
  { text: 'And this is 😀 Jürgen Meier at 12 Wicker Lane.', seconds: 0.5 },
];
const script = JSON.stringify({ turns: TURNS, interim_seconds: 0.1 });
const LABELLED = ['Hello there.', 'I am [NAME].', 'And this is 😀 [NAME] at [ADDRESS].'];
const WITHHELD = ['[REDACTED]', '[REDACTED]', '[REDACTED]'];

let service: AnalyzerService;
let live: LiveGateway;
let strictKey: string;
const posted: string[] = [];

beforeAll(async () => {
  service = await AnalyzerService.start();
  afterAll(() => service.stop());
  live = await startLiveGateway({
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
    VOXGATE_REDACTION_URL: service.url,
    VOXGATE_REDACTION_TIMEOUT_MS: '1500',
  });
  const store = await openSqliteStore({ directory: live.directory });
  const organisationId = (await store.listOrganisations())[0]!.id;
  const settings = { scopes: ['webhooks', 'listen', 'transcribe'], redact: ['name', 'address'] } as const;
  strictKey = (await store.createKey(organisationId, settings, OPERATOR)).secret;
  await store.setShowTranscripts(organisationId, true, OPERATOR);
  await store.close();
  const hook = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    posted.push(body);
    response.writeHead(204).end();
  });
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
  afterAll(() => hook.close());
  await as(strictKey, '/v1/webhooks', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`,
      events: ['session.ended'],
      transcripts: true,
    }),
  });
});
beforeEach(() => {
  service.manner = 'good';
});

const as = (key: string, path: string, init: RequestInit = {}) =>
  live.request(path, { ...init, headers: { ...(init.headers as object), Authorization: `Bearer ${key}` } });

async function listen(query: Record<string, string>, key = live.key, gateway = live) {
  const client = gateway.connect(
    { model: 'loopback/script', provider_params: script, ...query },
    { authorize: false, headers: { Authorization: `Bearer ${key}` } },
  );
  await client.event('session_started');
  client.send(new Uint8Array(1.5 * 32_000));
  client.send({ type: 'close' });
  await client.close();
  return client;
}

const textsOf = ({ events }: { events: readonly { type: string }[] }, isFinal: boolean) =>
  (events as { type: string; is_final?: boolean; text: string }[])
    .filter(({ type, is_final }) => type === 'transcript' && is_final === isFinal)
    .map(({ text }) => text);

function form(fields: Record<string, string>): RequestInit {
  const body = new FormData();
  for (const [name, value] of Object.entries({ model: 'loopback/script', provider_params: script, ...fields }))
    body.set(name, value);
  const { pcm } = sampleAudio('commands.wav');
  body.set('file', new Blob([wavOf(pcm.subarray(0, 48_000))], { type: 'audio/wav' }), 'a.wav');
  return { method: 'POST', body };
}

const wavOf = (pcm: Uint8Array) => new Uint8Array(Buffer.concat([wavHeader(16_000, pcm.byteLength), pcm]));

describe('names and addresses', () => {
  it('are labelled in finals and interims of a live session', async () => {
    const client = await listen({ redact: 'name,address' });
    expect(textsOf(client, true)).toEqual(LABELLED);
    expect(client.events[0]).toMatchObject({ chain: [{ redaction: { by_gateway: ['name', 'address'] } }] });
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', redactions: { name: 2, address: 1 } });
    for (const said of SAID) expect(JSON.stringify(client.events)).not.toContain(said);
  });

  it('are redacted with `pii`, and not with other kinds', async () => {
    expect(textsOf(await listen({ redact: 'pii' }), true)).toEqual(LABELLED);
    const text = 'I am Anna.';
    const other = JSON.stringify({ turns: [{ text, seconds: 0.5 }] });
    expect(textsOf(await listen({ redact: 'card,pci', provider_params: other }), true)[0]).toBe(text);
  });

  it('are redacted from there on when a client configures it', async () => {
    const client = live.connect(
      { model: 'loopback/script', provider_params: script },
      { authorize: false, headers: { Authorization: `Bearer ${live.key}` } },
    );
    await client.event('session_started');
    client.send({ type: 'configure', redact: ['name', 'address'] });
    await client.event('configured');
    client.send(new Uint8Array(1.5 * 32_000));
    client.send({ type: 'close' });
    await client.close();
    expect(textsOf(client, true)).toEqual(LABELLED);
  });

  it('are labelled as they were said where rules replace words, live and in files', async () => {
    const replace = JSON.stringify(['quill:Feather', 'zoe:', 'name:X', 'hello:Hi', 'at:by']);
    const expected = ['Hi there.', 'I am [NAME].', 'And this is 😀 [NAME] by [ADDRESS].'];
    const client = await listen({ redact: 'name,address', replace });
    expect(textsOf(client, true)).toEqual(expected);
    expect(client.events.at(-1)).toMatchObject({ redactions: { name: 2, address: 1 } });
    for (const stream of ['true', 'false']) {
      const fields = form({ redact: 'name,address', replace, stream });
      const text = await (await as(live.key, '/v1/audio/transcriptions', fields)).text();
      expect(text).toContain(`"text":"${expected.join(' ')}"`);
      for (const said of [...SAID, 'Feather']) expect(JSON.stringify(client.events) + text).not.toContain(said);
    }
  });

  it('are left out, with the whole text, when the service does not answer', async () => {
    service.manner = 'silent';
    const client = await listen({ redact: 'name,address' });
    expect(textsOf(client, true)).toEqual(WITHHELD);
    expect(textsOf(client, false)).toEqual([]);
    expect(client.events.filter(({ type }) => type === 'warning')).toMatchObject([{ code: 'redaction_failed' }]);
    expect(client.events.at(-1)).toMatchObject({ type: 'session_ended', reason: 'client_closed' });
    service.manner = 'good';
    await expect
      .poll(async () => textsOf(await listen({ redact: 'name,address' }), true)[0], { timeout: 9_000 })
      .toBe('Hello there.');
  });

  it.each(['json', 'text', 'verbose_json', 'srt', 'vtt'])('are labelled in a file answered as %s', async (format) => {
    const response = await as(strictKey, '/v1/audio/transcriptions', form({ response_format: format }));
    const text = await response.text();
    expect(response.status, text).toBe(200);
    expect(text).toContain('[NAME]');
    for (const said of SAID) expect(text).not.toContain(said);
  });

  it('are labelled in a streamed file, whose deltas are its text', async () => {
    const response = await as(live.key, '/v1/audio/transcriptions', form({ stream: 'true', redact: 'name,address' }));
    const text = await response.text();
    expect(text).toContain(`"text":"${LABELLED.join(' ')}"`);
    for (const said of SAID) expect(text).not.toContain(said);
  });

  it('are labelled for clients of other vendors', async () => {
    const query = 'model=loopback/script&encoding=linear16&sample_rate=16000&interim_results=true&redact=pii';
    const params = encodeURIComponent(script);
    const url = `${live.url.replace('http', 'ws')}/compat/deepgram/v1/listen?${query}&provider_params=${params}`;
    const socket = new WebSocket(url, { headers: { Authorization: `Token ${strictKey}` } });
    const texts: string[] = [];
    socket.on('message', (data) => texts.push(String(data)));
    await once(socket, 'open');
    socket.send(new Uint8Array(1.5 * 32_000));
    socket.send('{"type":"CloseStream"}');
    await once(socket, 'close');
    for (const said of SAID) expect(texts.join()).not.toContain(said);
  });

  it('are left nowhere', async () => {
    const client = await listen({ turn_events: 'true' }, strictKey);
    await expect.poll(() => posted.some((body) => body.includes('"transcript":')), { timeout: 10_000 }).toBe(true);
    const job = await as(strictKey, '/v1/jobs', form({}));
    const { id } = (await job.json()) as { id: string };
    const result = () => as(strictKey, `/v1/jobs/${id}/result`);
    await expect.poll(async () => (await result()).status, { timeout: 10_000 }).toBe(200);
    const done = await (await result()).text();
    const answers = [JSON.stringify(client.events), done, await (await as(strictKey, `/v1/jobs/${id}`)).text()];
    const metrics = await (await live.request('/metrics')).text();
    // The options of a model are kept with a job: this model says what they have.
    const files = filesBelow(live.directory).map((text) => text.replaceAll(/"turns":\[[^\]]*\]/g, ''));
    const places = { answers, metrics: [metrics], log: live.log, posted, files };
    const found = Object.entries(places).flatMap(([place, texts]) =>
      SAID.filter((said) => texts.some((text) => text.includes(said))).map((said) => `${said} in ${place}`),
    );
    expect(found).toEqual([]);
    expect(done).toContain('[NAME]');
    expect(metrics).toContain('voxgate_redactions_total{class="name"');
    expect(metrics).toContain('voxgate_redaction_calls_total{outcome="answered"');
  });
});

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
}

describe('a gateway without such a service', () => {
  it('refuses names, live and in files, and says what to do', async () => {
    const other = await startLiveGateway();
    const client = other.connect({ model: 'loopback/script', redact: 'name' });
    const { status, body } = await client.refused();
    expect([status, body]).toEqual([422, expect.stringContaining('VOXGATE_REDACTION_URL')]);
    const response = await other.request('/v1/audio/transcriptions', form({ redact: 'address' }));
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: { code: 'redaction_unavailable', param: 'redact' } });
    expect(textsOf(await listen({ redact: 'pii' }, other.key, other), true)).toEqual(TURNS.map(({ text }) => text));
  });
});
