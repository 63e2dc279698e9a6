// The endpoint for files behind a server of its own, with scripted providers that speak HTTP, and clients that send any file.

import { readdir, readlink } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { createKeyLimits } from '../../../src/accounts/auth/limits.ts';
import { createPriceList } from '../../../src/config/prices/price-list.ts';
import { FileDecodings } from '../../../src/files/decoding/decoding.ts';
import { LengthMeter } from '../../../src/files/measuring/length-meter.ts';
import { AbandonedResponses } from '../../../src/files/money/abandoned-responses.ts';
import { RemoteAudio } from '../../../src/files/remote/remote-audio.ts';
import { postTranscriptions } from '../../../src/files/routes/index.ts';
import { Idempotency } from '../../../src/http/idempotency.ts';
import { openServer, type ServerChoice } from '../../../src/http/open-server.ts';
import { createRouter, type RouteHandler } from '../../../src/http/router.ts';
import type { HttpServer, Reply, ServerRequest } from '../../../src/http/server.ts';
import { HttpPools } from '../../../src/live/upstream/http/pools.ts';
import { UpstreamHost } from '../../../src/live/upstream/upstream-host.ts';
import { Quota } from '../../../src/runtime/limits/quota.ts';
import { parseNetworks } from '../../../src/runtime/network-addresses.ts';
import { systemClock } from '../../../src/runtime/telemetry/clock.ts';
import { loopback } from '../../../src/vendors/loopback/index.ts';
import { LoopbackEngine } from '../../../src/vendors/loopback/simulator.ts';
import { apiKey, callerOf } from '../../fakes/api-keys.ts';
import { patientBreakers } from '../../fakes/patient-breakers.ts';
import { directStore } from '../../fakes/store/direct-store.ts';
import { RecordingReservations } from '../../fakes/store/file-reservations.ts';
import { temporaryDirectory } from '../../fakes/temporary-directory.ts';
import { warningCodes } from '../../fakes/warning-codes.ts';
import { answer, HttpProvider, SECRET, scriptedProvider } from '../../live/upstream/http-batch-fixture.ts';
import { servesAt } from '../../setup/documented-notes.ts';

const FREE = { unit: 'minute', amount: '0', byok: '0.00', free: true } as const;

export const MEMORY_BYTES_MAX = 65_536;
export const spoolDirectory = temporaryDirectory();
const servers: Record<string, HttpProvider> = {};
export const faults: unknown[] = [];
export const reservations = new RecordingReservations();
export const lengths = new LengthMeter({ clock: systemClock });
export const decodings = new FileDecodings({ clock: systemClock });
export const untaken = new AbandonedResponses(systemClock, 1_000);
export const rig = directStore();
/** Two organisations: `/files`, `/hasty` and, with a key for few models, `/narrow` are called by the first, `/others` by the second. */
const customers = [rig.customer({ limit: null }), rig.customer({ limit: null })] as const;
export let idempotency: Idempotency;
export const limits = createKeyLimits({ requestsPerMinutePerKeyMax: 600, sessionsPerKeyMax: 100, clock: systemClock });
/** Of `/few`: it may have two files under way. */
export const fewKey = apiKey({ id: 'key_few', sessionsMax: 2 });
const remoteAudio = new RemoteAudio({
  clock: systemClock,
  isOn: true,
  networks: parseNetworks('127.0.0.0/8'),
  bytesMax: 200_000_000,
});
const formMemory = new Quota(1_073_741_824);
export const spoolQuota = new Quota(1_073_741_824);
/** Every answer as it is counted. */
export const replied: { route: string; status: number; code: string | undefined }[] = [];
/** The endpoint without the server. */
export let request: (request: ServerRequest) => Promise<Reply>;
let httpServer: HttpServer;
let pools: HttpPools;
let url: string;

beforeAll(async () => {
  pools = new HttpPools();
  const scripted = [
    scriptedProvider('straight'),
    scriptedProvider('sized', { needsLength: true, body: 'multipart' }),
    scriptedProvider('second'),
    scriptedProvider('needy', { needs: 'grammar' }),
    scriptedProvider('channels', { billsChannels: { whenAsked: 'multichannel' } }),
  ];
  for (const { name } of scripted) servers[name] = await new HttpProvider().listen();
  const providers = new Map([loopback, ...scripted].map((provider) => [provider.name, provider]));
  const engines = { loopback: new LoopbackEngine(systemClock) };
  const access = (name: string) => ({ baseUrl: servers[name]?.url, credential: SECRET });
  const upstream = new UpstreamHost({ providers, engines, access, clock: systemClock });
  const settings = {
    ...{ fileBytesMax: 200_000_000, memoryBytesMax: MEMORY_BYTES_MAX, timeoutMs: 60_000, spoolDirectory },
    hearEmptyAgain: 'on' as const,
  };
  const breakers = patientBreakers(systemClock);
  idempotency = new Idempotency({
    store: rig.store,
    secret: Buffer.from('a secret of the tests, and of nobody else'),
    clock: systemClock,
    onFault: (error) => faults.push(error),
  });
  // One model is free: its files need not be measured.
  const prices = createPriceList(
    [...providers.values()].map(({ models }) => ({
      models: models.map((card) => ({
        ...card,
        pricing: card.id === 'straight/file' ? { ...card.pricing, batch: FREE } : card.pricing,
      })),
    })),
  );
  const http = { pools, clock: systemClock };
  const common = {
    providers,
    engines,
    access,
    upstream,
    spoolQuota,
    formMemory,
    remoteAudio,
    breakers,
    http,
    reservations,
    prices,
    idempotency,
    limits,
    lengths,
    decodings,
    untaken,
  };
  const files = (
    changes: Partial<typeof settings>,
    { organisationId, keyId: id } = customers[0],
    key = apiKey(),
  ): RouteHandler => {
    const answer = postTranscriptions({ ...common, settings: { ...settings, ...changes } });
    return (context) => answer(context, callerOf({ ...key, id, organisationId }));
  };
  let ids = 0;
  request = createRouter(
    [
      { method: 'POST', path: '/files', handle: files({}) },
      { method: 'POST', path: '/hasty', handle: files({ timeoutMs: 300 }) },
      { method: 'POST', path: '/small', handle: files({ fileBytesMax: 100_000 }) },
      { method: 'POST', path: '/others', handle: files({}, customers[1]) },
      { method: 'POST', path: '/narrow', handle: files({}, customers[0], apiKey({ models: ['straight/*'] })) },
      { method: 'POST', path: '/few', handle: files({}, { ...customers[0], keyId: fewKey.id }, fewKey) },
    ].map((route) => {
      servesAt(route.path, '/v1/audio/transcriptions');
      return route;
    }),
    {
      newRequestId: () => `req_${ids++}`,
      onFault: (error) => faults.push(error),
      onReply: (route, status, refusal) => void replied.push({ route, status, code: refusal?.code }),
    },
  );
  httpServer = await openServer(
    (process.env.VOXGATE_DOOR ?? 'auto') as ServerChoice,
    { request, upgrade: () => Promise.reject(new Error('There are no sockets here.')) },
    {
      host: '127.0.0.1',
      port: 0,
      headerBytesMax: 8_192,
      messageBytesMax: 65_536,
      headerTimeoutMs: 10_000,
      onFault: (error) => {
        faults.push(error);
        return { status: 500 };
      },
    },
    () => {},
  );
  url = `http://127.0.0.1:${httpServer.port}`;
});
afterAll(async () => {
  await lengths.close();
  await httpServer.close();
  await pools.close();
  for (const server of Object.values(servers)) await server.close();
});
beforeEach(() => {
  faults.length = 0;
  replied.length = 0;
  reservations.forget();
  for (const [name, server] of Object.entries(servers)) {
    server.arrived.length = 0;
    server.early = undefined;
    server.answers = [answer({ text: `heard by ${name}`, seconds: 60 })];
  }
});

/** A request in any form. */
export async function post(path: string, init: Pick<RequestInit, 'body' | 'headers'>) {
  const response = await fetch(`${url}${path}`, { method: 'POST', ...init });
  const json = (await response.json()) as { text?: string; error?: { code: string; message: string; param: string } };
  return { status: response.status, headers: response.headers, ...json };
}

export const port = (): number => httpServer.port;
export const server = (name: string): HttpProvider => servers[name] as HttpProvider;

/** A FLAC file, as far as anybody here looks at it. */
export const flac = (bytes: number): Buffer<ArrayBuffer> => {
  const made = Buffer.alloc(Math.max(bytes, 8));
  for (let at = 0; at < made.length - 4; at += 4) made.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  made.write('fLaC', 0);
  return made;
};

export async function send(
  fields: [string, string][],
  file: Buffer<ArrayBuffer>,
  path = '/files',
  type = 'audio/flac',
  headers: Record<string, string> = {},
) {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  form.append('file', new Blob([file], { type }), '../../etc/passwd');
  const response = await fetch(`${url}${path}`, { method: 'POST', body: form, headers });
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  const { status } = response;
  return { status, headers: response.headers, warning: warningCodes(response), json, text };
}

/** Uploads kept on disk now. */
export async function spooled(): Promise<number> {
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return targets.filter((target) => target.includes(spoolDirectory)).length;
}

/** What closes a file or a socket is under way, or it never happens. */
export async function settled(holds: () => Promise<boolean> | boolean): Promise<boolean> {
  for (let turn = 0; turn < 5_000; turn++) {
    if (await holds()) return true;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return false;
}

export async function expectNothingLeft(): Promise<void> {
  // Only Linux tells which files a process has open.
  if (process.platform === 'linux') expect(await settled(async () => (await spooled()) === 0)).toBe(true);
  expect(await settled(() => reservations.open === 0 && idempotency.size === 0)).toBe(true);
  expect([await readdir(spoolDirectory), spoolQuota.used, formMemory.used, remoteAudio.size, faults]).toEqual([
    [],
    ...[0, 0, 0],
    [],
  ]);
}

/** A request whose file the test writes. */
export function open(
  model: string,
  fileBytes: number,
  fields: [string, string][] = [],
  path = '/files',
  headers: Record<string, string> = {},
  type = 'audio/flac',
): ClientRequest {
  const parts = [['model', model], ...fields].map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `${parts.join('')}--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: ${type}\r\n\r\n`;
  const upload = httpRequest(`${url}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      ...headers,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': Buffer.byteLength(head) + fileBytes + END.length,
    },
  });
  upload.on('error', () => {});
  upload.write(head);
  return upload;
}
export const END = Buffer.from('\r\n--b--\r\n');
