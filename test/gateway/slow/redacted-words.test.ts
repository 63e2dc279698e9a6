// Redacted words are nowhere, whatever a provider does with them: it says them in interims and finals over two turns and a failover, and
// repeats them in errors, close reasons, warnings and answers of files. Then everything that the gateway wrote, sent and answered is searched.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { foundIn } from '../../fakes/found-words.ts';
import { TraceCollector } from '../../fakes/network/trace-collector.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { livePerson } from '../../fakes/processes/live-person.ts';
import { OPERATOR } from '../../fakes/store/ledger.ts';

/** Parts of what is redacted, in each way in which it is said. */
const SAID = ['4539 1', '1488', '0343 6467', 'four five three nine', 'one four eight eight', 'zoe.quill', 'quill@'];
const CARD = '4539 1488 0343 6467';
const MAIL = 'zoe.quill@example.org';
const SPOKEN = 'four five three nine one four eight eight zero three four three six four six seven';
const WORDS = `Could not go on after "my card is ${CARD}", or ${SPOKEN}, or ${MAIL}.`;

const closing: (() => unknown)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

/** As the provider sends it. */
const results = (transcript: string, isFinal: boolean, start: number) =>
  JSON.stringify({
    type: 'Results',
    channel_index: [0, 1],
    ...{ start, duration: 0.5, is_final: isFinal, speech_final: isFinal },
    channel: {
      alternatives: [
        {
          ...{ transcript, confidence: 0.9 },
          words: transcript
            .split(' ')
            .map((word, index) => ({ word, start: start + index / 20, end: start + (index + 1) / 20 })),
        },
      ],
    },
  });

/** Says the card over interims and a final, then fails with what it heard; files are refused with it. */
async function parrot(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(400, { 'content-type': 'application/json', 'dg-error': WORDS });
      response.end(JSON.stringify({ err_code: 'Bad Request', err_msg: WORDS, message: WORDS, details: WORDS }));
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  let connections = 0;
  server.on('upgrade', (request, socket, head) => {
    // The first is lost within the number; the others are refused.
    if (connections++ === 0) sockets.handleUpgrade(request, socket, head, (peer) => sockets.emit('connection', peer));
    else socket.end(`HTTP/1.1 500 No\r\ndg-error: ${WORDS}\r\nContent-Length: ${WORDS.length}\r\n\r\n${WORDS}`);
  });
  sockets.on('connection', (socket) => {
    const text = 'Hello my card is 4539 1488';
    socket.once('message', () => {
      for (let end = 5; end < text.length; end += 4) socket.send(results(text.slice(0, end).trim(), false, 0));
      socket.send(results(`Write to ${MAIL} okay`, true, 0));
      socket.send(results(text, true, 0.5));
      socket.send(JSON.stringify({ type: 'Warning', message: WORDS, description: WORDS, code: WORDS }));
      socket.send(
        JSON.stringify({ type: 'Error', message: WORDS, description: WORDS, variant: WORDS, err_msg: WORDS }),
      );
      socket.close(1011, WORDS.slice(0, 120));
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Receives webhooks. */
async function receiver(): Promise<{ url: string; posted: string[] }> {
  const posted: string[] = [];
  const server = createServer(async (request, response) => {
    let body = JSON.stringify(request.headers);
    for await (const piece of request) body += piece;
    posted.push(body);
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, posted };
}

/** What the fallback says: the rest of the number, and a number as it is spoken. */
const script = JSON.stringify({
  turns: [
    { text: '0343 6467 is the rest.', seconds: 0.5 },
    { text: `Or ${SPOKEN} okay.`, seconds: 0.5 },
  ],
  interim_seconds: 0.1,
});

/** Of files: all of it. */
const fileScript = JSON.stringify({
  turns: [
    { text: `My card is ${CARD}, and ${MAIL}.`, seconds: 0.5 },
    { text: `Or ${SPOKEN} okay.`, seconds: 0.5 },
  ],
});

async function strictKeyOf(live: LiveGateway, email: string): Promise<string> {
  const store = await openSqliteStore({ directory: live.directory });
  const [first] = await store.listOrganisations();
  const own = (await store.listOrganisations()).find(({ name }) => name.includes(email)) ?? first!;
  await store.setShowTranscripts(own.id, true, OPERATOR);
  const scopes = ['webhooks', 'listen', 'transcribe'] as const;
  const { secret } = await store.createKey(own.id, { scopes: [...scopes], redact: ['card', 'email'] }, OPERATOR);
  await store.close();
  return secret;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
}

it('leaves redacted words nowhere, also where a provider repeats them in its errors', async () => {
  const collector = await TraceCollector.start();
  closing.push(() => collector.close());
  const hook = await receiver();
  const live = await startLiveGateway({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    VOXGATE_LOG_LEVEL: 'trace',
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
    VOXGATE_DEEPGRAM_URL: await parrot(),
    DEEPGRAM_API_KEY: 'a-key',
    VOXGATE_SESSION_RETRY_MS: '0',
    VOXGATE_BREAKER_FAILURES_MAX: '1000',
  });
  const key = await strictKeyOf(live, '');
  const person = await livePerson(live, 'ada@example.com', 'a long password of hers');
  const seen: string[] = [];
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { ...(init.headers as object), Authorization: `Bearer ${key}` };
    const response = await live.request(path, { ...init, headers });
    const body = await response.text();
    seen.push(`${path} ${JSON.stringify([...response.headers])} ${body}`);
    return { status: response.status, body };
  };
  const json = { 'Content-Type': 'application/json' };
  const events = ['session.ended', 'session.failed_over', 'job.completed', 'job.failed'];
  const made = await call('/v1/webhooks', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ url: hook.url, events: [events[0]], transcripts: true }),
  });
  expect(made.status, made.body).toBe(201);

  const listen = async (query: Record<string, string>) => {
    const client = live.connect(
      { turn_events: 'true', redact_hold_ms: '3000', resume: 'on', ...query },
      { authorize: false, headers: { Authorization: `Bearer ${key}` } },
    );
    const { session_id } = await client.event('session_started');
    const watched = live.request(`/v1/sessions/${session_id}/events`, { headers: { Authorization: `Bearer ${key}` } });
    client.send(new Uint8Array(64_000));
    if (query.channels !== undefined) client.send({ type: 'close' });
    if (query.fallbacks !== undefined) {
      await client.event('transcript');
      client.send(new Uint8Array(64_000));
      await client.event('failover');
      client.send({ type: 'close' });
    }
    const closed = await client.close();
    seen.push(`live ${JSON.stringify([query.model, client.events, closed])}`);
    seen.push(`watched ${await (await watched).text()}`);
    await call(`/v1/sessions/${session_id}`);
    await call(`/v1/sessions/${session_id}/events`);
    seen.push(await (await person.call('GET', `sessions/${session_id}`)).text());
    return client;
  };
  const both = { model: 'deepgram/nova-3', fallbacks: 'loopback/script' };
  const failedOver = await listen({
    ...both,
    fallbacks: JSON.stringify([{ model: 'loopback/script', provider_params: JSON.parse(script) }]),
  });
  const failed = await listen({ model: 'deepgram/nova-3' });
  const channels = await listen({ model: 'loopback/script', provider_params: fileScript, channels: '2' });
  expect(channels.finals.filter(({ text }) => text === 'Or [CARD] okay.').map(({ channel }) => channel)).toEqual([
    0, 1,
  ]);
  const file = (model: string, more: Record<string, string> = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model, ...more })) form.set(name, value);
    form.set('file', new Blob([silentWav(2)]), 'a.wav');
    return { method: 'POST', body: form };
  };
  for (const format of ['json', 'verbose_json', 'srt', 'vtt'])
    await call('/v1/audio/transcriptions', {
      ...file('loopback/script', { provider_params: fileScript, response_format: format }),
      headers: { 'Idempotency-Key': format },
    });
  const replayed = await call('/v1/audio/transcriptions', {
    ...file('loopback/script', { provider_params: fileScript, response_format: 'srt' }),
    headers: { 'Idempotency-Key': 'srt' },
  });
  expect(replayed.status).toBe(200);
  await call('/v1/audio/transcriptions', file('deepgram/nova-3'));
  await call('/v1/audio/transcriptions', file('deepgram/nova-3', { stream: 'true' }));
  for (const job of [file('deepgram/nova-3'), file('loopback/script', { provider_params: fileScript })]) {
    const { id } = JSON.parse((await call('/v1/jobs', job)).body) as { id: string };
    await expect
      .poll(async () => (await call(`/v1/jobs/${id}`)).body, { timeout: 20_000 })
      .toMatch(/"status":"(completed|failed)"/);
    for (const format of ['json', 'srt', 'verbose_json']) await call(`/v1/jobs/${id}/result?format=${format}`);
  }
  await call('/v1/jobs');
  await call('/v1/usage');
  await call('/metrics');
  await expect.poll(() => hook.posted.length, { timeout: 20_000 }).toBeGreaterThan(1);
  live.gateway.stop();
  await live.gateway.ended;
  const places = {
    answers: seen,
    log: live.log,
    posted: hook.posted,
    traces: collector.spans.map((span) => JSON.stringify(span)),
    files: filesBelow(live.directory),
  };
  expect(foundIn(places, SAID)).toEqual([]);
  for (const [place, texts] of Object.entries(places)) expect(texts.length, place).toBeGreaterThan(1);
  // It was said: by both models of the chain, and in the errors.
  expect(failedOver.finals.map(({ text }) => text).slice(0, 4)).toEqual([
    'Write to [EMAIL] okay',
    'Hello my card is [CARD]',
    '[CARD] is the rest.',
    'Or [CARD] okay.',
  ]);
  expect(failedOver.of('failover').length + failed.of('error').length).toBeGreaterThan(1);
}, 40_000);
