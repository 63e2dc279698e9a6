// The promise that redacted words are left nowhere: a whole gateway transcribes card numbers and addresses live, in files, in jobs and
// for other vendors' clients, and then everything that it wrote, answered and posted is searched for them.

import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { wavHeader } from '../../src/audio/containers/wav.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { OPERATOR } from '../fakes/store/ledger.ts';

const SAID = ['4539 1488 0343 6467', 'four five three nine', 'one four eight eight', 'zoe.quill@example.org', 'quill'];
const TURNS = [
  { text: 'Hello there.', seconds: 0.5 },
  { text: 'My card is 4539 1488 0343 6467 thank you.', seconds: 0.5 },
  { text: 'Again: four five three nine one four eight eight', seconds: 0.5 },
  { text: 'zero three four three six four six seven.', seconds: 0.5 },
  { text: 'Write to zoe.quill@example.org please.', seconds: 0.5 },
];
const script = JSON.stringify({ turns: TURNS, interim_seconds: 0.1 });
/** Kept in the database with an alias: with a number that is searched for nowhere else. */
const OTHER_SCRIPT = {
  turns: [{ text: 'My card is 5425 2334 3010 9903 thank you.', seconds: 2 }],
  interim_seconds: 0.1,
};
const LABELLED = [
  'Hello there.',
  'My card is [CARD] thank you.',
  'Again: [CARD]',
  '[CARD].',
  'Write to [EMAIL] please.',
];

let live: LiveGateway;
let organisationId: string;
let strictKey: string;
const posted: string[] = [];
let onPosted = () => {};

beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8' });
  const store = await openSqliteStore({ directory: live.directory });
  organisationId = (await store.listOrganisations())[0]!.id;
  strictKey = (
    await store.createKey(
      organisationId,
      {
        scopes: ['webhooks', 'listen', 'transcribe'],
        redact: ['card', 'email'],
        aliases: { scripted: [{ model: 'loopback/script', provider_params: OTHER_SCRIPT }] },
      },
      OPERATOR,
    )
  ).secret;
  await store.setShowTranscripts(organisationId, true, OPERATOR);
  await store.close();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    posted.push(body);
    response.writeHead(204).end();
    onPosted();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => server.close());
  const { port } = server.address() as AddressInfo;
  await as(strictKey, '/v1/webhooks', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: `http://127.0.0.1:${port}/hook`, events: ['session.ended'], transcripts: true }),
  });
});

const as = (key: string, path: string, init: RequestInit = {}) =>
  live.request(path, { ...init, headers: { ...(init.headers as object), Authorization: `Bearer ${key}` } });

/** 2.5 seconds of silence: the script says its turns in any case. */
const silence = (seconds: number) => new Uint8Array(seconds * 32_000);

async function listen(query: Record<string, string>, key = live.key) {
  const client = live.connect(
    { model: 'loopback/script', provider_params: script, ...query },
    { authorize: false, headers: { Authorization: `Bearer ${key}` } },
  );
  await client.event('session_started');
  client.send(silence(2.5));
  client.send({ type: 'close' });
  await client.close();
  return client;
}

/** As a client of Deepgram's does. */
async function listenAsDeepgram(): Promise<string[]> {
  const query = 'model=scripted&encoding=linear16&sample_rate=16000&interim_results=true';
  const socket = new WebSocket(`${live.url.replace('http', 'ws')}/compat/deepgram/v1/listen?${query}`, {
    headers: { Authorization: `Token ${strictKey}` },
  });
  const texts: string[] = [];
  socket.on('message', (data) => texts.push(String(data)));
  await once(socket, 'open');
  socket.send(silence(2.5));
  socket.send('{"type":"CloseStream"}');
  await once(socket, 'close');
  return texts;
}

const finalsOf = ({ events }: { events: readonly { type: string }[] }) =>
  (events as { type: string; is_final?: boolean; text: string }[])
    .filter(({ type, is_final }) => type === 'transcript' && is_final)
    .map(({ text }) => text);

function form(fields: Record<string, string>): RequestInit {
  const body = new FormData();
  for (const [name, value] of Object.entries({ model: 'loopback/script', provider_params: script, ...fields }))
    body.set(name, value);
  body.set('file', new Blob([sampleWav()], { type: 'audio/wav' }), 'a.wav');
  return { method: 'POST', body };
}

const sampleWav = (): Uint8Array<ArrayBuffer> => {
  const { pcm } = sampleAudio('commands.wav');
  const seconds = Math.max(0, 2.5 - pcm.byteLength / 32_000);
  const data = Buffer.concat([pcm.subarray(0, 80_000), silence(seconds)]);
  return new Uint8Array(Buffer.concat([wavHeader(16_000, data.length), data]));
};

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
}

describe('redaction by the gateway', () => {
  it('labels the finals of a live session, and says in its first event who redacts', async () => {
    const client = await listen({ redact: 'card,email' });
    expect(finalsOf(client)).toEqual(LABELLED);
    expect(client.events[0]).toMatchObject({
      chain: [{ model: 'loopback/script', redaction: { by_model: [], by_gateway: ['card', 'email'] } }],
    });
    expect(client.events.at(-1)).toMatchObject({ redactions: { card: 3, email: 1 } });
  });

  it('is counted in the records of sessions and files, and in the usage of their tag', async () => {
    const tag = { customer: 'counted' };
    const client = await listen({ redact: 'card,email', tags: JSON.stringify(tag) });
    await as(live.key, '/v1/audio/transcriptions', form({ redact: 'card', tags: JSON.stringify(tag) }));
    const answerOf = async (path: string) => (await as(live.key, path)).json() as Promise<Record<string, unknown>>;
    const ended = client.events.at(-1) as unknown as { redactions: object };
    const { session_id: id } = client.events[0] as unknown as { session_id: string };
    await expect.poll(() => answerOf(`/v1/sessions/${id}`)).toMatchObject({ redactions: ended.redactions });
    const usage = () => answerOf('/v1/usage?tag=customer:counted');
    await expect.poll(usage).toMatchObject({ total: { redactions: { card: 6, email: 1 } } });
    const { data } = (await answerOf('/v1/sessions?tag=customer:counted')) as { data: { redactions?: object }[] };
    expect(data.map(({ redactions }) => redactions)).toEqual([{ card: 3 }, { card: 3, email: 1 }]);
  });

  it('is demanded by a key, with any request', async () => {
    for (const query of [{}, { redact: 'phone' }, { redact: 'false' }] as Record<string, string>[]) {
      const client = await listen(query, strictKey);
      expect(finalsOf(client)).toEqual(LABELLED);
    }
  });

  it.each(['json', 'text', 'verbose_json', 'srt', 'vtt'])('labels a file answered as %s', async (format) => {
    const response = await as(strictKey, '/v1/audio/transcriptions', form({ response_format: format }));
    const text = await response.text();
    expect(response.status, text).toBe(200);
    expect(text).toContain('[CARD]');
    for (const said of SAID) expect(text).not.toContain(said);
  });

  it('labels a streamed file, whose deltas are its text', async () => {
    const response = await as(live.key, '/v1/audio/transcriptions', form({ stream: 'true', redact: 'card,email' }));
    const events = (await response.text())
      .split('\n\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line.replace('data: ', '')) as { type: string; delta?: string; text?: string });
    const deltas = events.map(({ delta = '' }) => delta).join('');
    expect(deltas).toBe(LABELLED.join(' '));
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: LABELLED.join(' ') });
  });

  it('applies to clients of other vendors', async () => {
    const texts = (await listenAsDeepgram()).join();
    expect(texts).toContain('My card is [CARD] thank you.');
    expect(texts).not.toContain('5425');
  });

  it('refuses classes that there are not', async () => {
    const response = await live.request('/v1/audio/transcriptions', form({ redact: 'names' }));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('date_of_birth');
  });

  it('does not send an answer again that was kept before the rule', async () => {
    const headers = { 'Idempotency-Key': 'before-the-rule' };
    const first = await as(live.key, '/v1/audio/transcriptions', { ...form({}), headers });
    expect(await first.text()).toContain('4539 1488');
    const again = await as(strictKey, '/v1/audio/transcriptions', { ...form({}), headers });
    expect(again.status).toBe(409);
    expect(await again.text()).toContain('had a rule to redact card, email');
    const without = await as(live.key, '/v1/audio/transcriptions', { ...form({}), headers });
    expect([without.status, without.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    const kept = { 'Idempotency-Key': 'under-the-rule' };
    await as(strictKey, '/v1/audio/transcriptions', { ...form({}), headers: kept });
    const replayed = await as(strictKey, '/v1/audio/transcriptions', { ...form({}), headers: kept });
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect(await replayed.text()).toContain('[CARD]');
  });

  it('labels a transcript that a client of another vendor fetches later', async () => {
    const headers = { Authorization: strictKey, 'Content-Type': 'application/json' };
    const upload = await live.request('/compat/assemblyai/v2/upload', { method: 'POST', headers, body: sampleWav() });
    const { upload_url: audio_url } = (await upload.json()) as { upload_url: string };
    const body = JSON.stringify({ audio_url, speech_models: ['scripted'] });
    const begun = await live.request('/compat/assemblyai/v2/transcript', { method: 'POST', headers, body });
    const { id } = (await begun.json()) as { id: string };
    const fetched = async () => {
      const reply = await live.request(`/compat/assemblyai/v2/transcript/${id}`, { headers });
      return JSON.stringify(await reply.json());
    };
    await expect.poll(fetched, { timeout: 10_000 }).toContain('"status":"completed"');
    const done = await fetched();
    expect(done).toContain('[CARD]');
    expect(done).not.toContain('5425 2334');
  });

  it('labels events that a client reads after its connection broke', async () => {
    const headers = { Authorization: `Bearer ${strictKey}` };
    const query = { model: 'loopback/script', provider_params: script, resume: 'on' };
    const client = live.connect(query, { authorize: false, headers });
    const { resume_token } = await client.event('session_started');
    client.send(silence(2));
    await client.event('transcript', ({ is_final }) => is_final);
    client.socket.terminate();
    const again = live.connect({ resume: resume_token!, last_seq: '1' }, { authorize: false, headers });
    await again.event('session_resumed');
    again.send(silence(0.5));
    again.send({ type: 'close' });
    await again.close();
    expect(finalsOf(again)).toEqual(LABELLED);
    for (const said of SAID) expect(JSON.stringify([client.events, again.events])).not.toContain(said);
  });

  it('leaves redacted words nowhere', async () => {
    const delivered = new Promise<void>((resolve) => {
      onPosted = () => posted.some((body) => body.includes('"transcript":')) && resolve();
    });
    const client = await listen({ turn_events: 'true' }, strictKey);
    await delivered;
    const seen = [JSON.stringify(client.events), await (await live.request('/metrics')).text()];
    const job = await as(strictKey, '/v1/jobs', form({}));
    const metrics = seen.at(-1);
    const { id } = (await job.json()) as { id: string };
    const result = () => as(strictKey, `/v1/jobs/${id}/result`);
    await expect.poll(async () => (await result()).status, { timeout: 10_000 }).toBe(200);
    const done = await (await result()).text();
    seen.push(done, await (await as(strictKey, `/v1/jobs/${id}`)).text());
    const places = { answers: seen, log: live.log, posted, files: filesBelow(live.directory) };
    const found = Object.entries(places).flatMap(([place, texts]) =>
      SAID.filter((said) => texts.some((text) => text.includes(said))).map((said) => `${said} in ${place}`),
    );
    expect(found).toEqual([]);
    expect(posted.join()).toContain('[CARD]');
    expect(done).toContain('[CARD]');
    expect(metrics).toContain('voxgate_redactions_total{class="card"');
  });
});
