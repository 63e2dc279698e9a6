// No provider's credential is told to anybody, whatever the provider makes of it: every one of the registry is asked live, for a file
// and about a key, by a service that says back all that it was sent, in every way in which it can say something. Then everything that
// the gateway wrote and answered is searched.
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Value } from '@sinclair/typebox/value';
import { afterAll, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { loadKeyRing } from '../../../src/accounts/vault/key-ring.ts';
import { createVault } from '../../../src/accounts/vault/vault.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { providers } from '../../../src/vendors/index.ts';
import { apiKeyForm, type CredentialForm } from '../../../src/vendors/kit/credentials.ts';
import type { Provider } from '../../../src/vendors/kit/provider.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { TraceCollector } from '../../fakes/network/trace-collector.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';

/** In every secret, and in nothing else. */
const CANARY = 'zebrafinch';
/** The same in hexadecimal, and in base64 at each of three places of a group. */
const WRITINGS = [
  CANARY,
  Buffer.from(CANARY).toString('hex'),
  ...[0, 1, 2].map((offset) =>
    Buffer.from(`${' '.repeat(offset)}${CANARY}`)
      .toString('base64')
      .slice(4, 11),
  ),
];

/** How the service answers: by this status, or by taking the connection and saying it there. */
type Manner = 400 | 401 | 500 | 'taken';
const MANNERS: readonly Manner[] = [400, 401, 500, 'taken'];

const withKeys = providers.filter(({ credential }) => credential === 'required');

const closing: (() => unknown)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

const said = ({ url, headers }: IncomingMessage, body = ''): string =>
  [decodeURIComponent(url ?? ''), url, ...Object.values(headers), body.slice(0, 2_000)].join(' ');

/** Under every name that a provider has for words. */
function wordsOf(text: string): Record<string, unknown> {
  const names = [
    'message',
    'detail',
    'details',
    'description',
    'title',
    'error_code',
    'code',
    'reason',
    'err_msg',
    'type',
  ];
  const words = Object.fromEntries(names.map((name) => [name, text]));
  return { ...words, error: { ...words, type: 'error' }, errors: [words] };
}

/** The service; `asked` is all that it was sent. */
async function echo(): Promise<{ url: string; manner: Manner; asked: string[] }> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = said(request, Buffer.concat(parts).toString('latin1'));
      told.asked.push(text);
      const socket = `ws://${request.headers.host}/?token=${CANARY}-given-by-the-provider`;
      const body = { ...wordsOf(text), id: 'job-1', url: socket };
      // What was made is not found again: nobody asks for it for minutes.
      const taken = request.method === 'POST' ? 201 : 500;
      response.writeHead(told.manner === 'taken' ? taken : told.manner, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const text = said(request);
    told.asked.push(text);
    if (told.manner !== 'taken') {
      const body = JSON.stringify(wordsOf(text));
      socket.end(`HTTP/1.1 ${told.manner} No\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (peer) => {
      for (const type of ['error', 'Error', 'auth_error', 'Warning']) {
        const words = wordsOf(text);
        peer.send(JSON.stringify({ ...words, type, message_type: type }));
        peer.send(JSON.stringify({ ...words, message: type, reason: text }));
      }
      peer.close(4_000, text.slice(text.indexOf(CANARY)).slice(0, 100));
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close());
  const told = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    manner: 400 as Manner,
    asked: [] as string[],
  };
  return told;
}

/** Fields that the form takes; the secret ones hold the canary. */
function fieldsOf(name: string, form: CredentialForm): Record<string, string> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const tries = [`${CANARY}-own-key-of-${name}`, 'AKIA0000000000000001', 'eu-west-1', 'westeurope', privateKey];
  const fields = Object.entries(form.properties).flatMap(([field, schema]) => {
    if (!(form.required ?? []).includes(field)) return [];
    const fitting = [schema.const, ...(schema.secret === true ? tries : tries.slice(1))].find((text) =>
      Value.Check(schema, text),
    );
    return [[field, fitting ?? 'project'] as const];
  });
  return Object.fromEntries(fields) as Record<string, string>;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
}

it('keeps all provider credentials out of logs, traces, events, answers, metrics and files', async () => {
  const service = await echo();
  const collector = await TraceCollector.start();
  closing.push(() => collector.close());
  const env: Record<string, string> = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    VOXGATE_BREAKER_FAILURES_MAX: '1000',
    VOXGATE_SESSION_RETRY_MS: '0',
    VOXGATE_LOG_LEVEL: 'trace',
  };
  for (const { name } of withKeys) {
    const prefix = name.toUpperCase().replaceAll('-', '_');
    env[`VOXGATE_${prefix}_URL`] = service.url;
    env[`${prefix}_API_KEY`] = `${CANARY}-service-key-of-${name}`;
  }
  const live = await startLiveGateway(env);
  const { directory } = live;
  const store = await openSqliteStore({ directory });
  closing.push(() => store.close());
  const organisationId = (await store.listOrganisations())[0]!.id;
  const vault = createVault({
    store,
    keyRing: await loadKeyRing({ store, current: undefined, previous: undefined, directory }),
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    addressOf: () => ({ baseUrl: service.url }),
    check: async () => 'unknown',
    clock: systemClock,
    wallNow: () => Date.now(),
    onFault: () => {},
  });
  const seen: string[] = [];
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await live.request(path, init);
    seen.push(`${JSON.stringify([...response.headers])} ${await response.text()}`);
  };
  for (const { name, credentialForm = apiKeyForm } of withKeys) {
    const fields = fieldsOf(name, credentialForm);
    await vault.save(organisationId, { provider: name, name: 'Ours', fields }, { type: 'person', id: 'per_1' });
  }

  /** Of a provider's first model of that mode, on whichever account: the scripted model fails, and it is asked. */
  async function use({ name, models }: Provider, mode: 'live' | 'batch', credential: string): Promise<void> {
    const model = models.find(({ modes }) => modes.includes(mode))?.id;
    if (model === undefined) return;
    const fallbacks = JSON.stringify([{ model, credential }]);
    if (mode === 'batch') {
      const form = new FormData();
      form.append('model', 'loopback/script');
      form.append('provider_params', REFUSING);
      form.append('fallbacks', fallbacks);
      form.append('file', new Blob([silentWav(1)]), 'a.wav');
      await call('/v1/audio/transcriptions', { method: 'POST', body: form });
      return;
    }
    const client = live.connect({ model: 'loopback/script', fallbacks, provider_params: REFUSING });
    await client.event('session_started', () => true);
    client.send(loud(1));
    client.send({ type: 'close' });
    const closed = await client.close();
    seen.push(`${name} ${JSON.stringify([client.events, closed])}`);
    const [first] = client.events;
    await call(`/v1/sessions/${first?.session_id}`);
    await call(`/v1/sessions/${first?.session_id}/events`);
  }

  for (service.manner of MANNERS) {
    await Promise.all(
      withKeys.flatMap((provider) =>
        ['own', 'service'].flatMap((credential) => [
          use(provider, 'live', credential),
          use(provider, 'batch', credential),
        ]),
      ),
    );
  }
  await call('/metrics');
  live.gateway.stop();
  await live.gateway.ended;
  // Every key has really been out, where it is what a provider is shown.
  const keys = withKeys
    .filter(({ credentialForm = apiKeyForm }) => 'api_key' in credentialForm.properties)
    .flatMap(({ name }) => [`${CANARY}-own-key-of-${name}`, `${CANARY}-service-key-of-${name}`]);
  expect(keys.filter((key) => !service.asked.some((text) => text.includes(key)))).toEqual([]);
  const places = {
    log: live.log,
    answers: seen,
    traces: collector.spans.map((span) => JSON.stringify(span)),
    files: filesBelow(directory),
  };
  const found = Object.entries(places).flatMap(([place, texts]) =>
    texts.flatMap((text) => {
      const at = WRITINGS.map((writing) => text.indexOf(writing)).find((index) => index >= 0);
      return at === undefined ? [] : [`${place}: ${text.slice(Math.max(0, at - 80), at + 60)}`];
    }),
  );
  expect(found).toEqual([]);
  for (const [place, texts] of Object.entries(places)) expect(texts.length, place).toBeGreaterThan(3);
});

/** The scripted model refuses, so that the fallback is asked, on whichever account. */
const REFUSING = JSON.stringify({ fail: { how: 'error', kind: 'next' } });

function loud(seconds: number): Buffer {
  const samples = Int16Array.from({ length: 16_000 * seconds }, (_, index) => (index % 64 < 32 ? 8_000 : -8_000));
  return Buffer.from(samples.buffer);
}
