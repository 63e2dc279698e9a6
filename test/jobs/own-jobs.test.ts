// Jobs of the gateway itself, as a client of `/v1/jobs` sees them: accepted at once, transcribed once, fetched in any format, cancelled,
// removed, and continued by the next start.
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Value } from '@sinclair/typebox/value';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { JobAnswer, JobList } from '../../src/api/jobs.ts';
import { wavHeader } from '../../src/audio/containers/wav.ts';
import { FIELDS_BYTES_MAX } from '../../src/jobs/own-request.ts';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { newWebhookSecret, webhookHeaders } from '../../src/runtime/outbound/signature.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const BY = { type: 'operator', id: 'test' } as const;
/** Short: recognising it is most of the work of these tests. */
const { bytes: WAV } = sampleAudio('times/time.wav');
/** Two turns. */
const TURNS = ['yes.wav', 'no.wav'].map((file) => sampleAudio(file).pcm);
const LONG = Buffer.concat([
  wavHeader(
    16_000,
    TURNS.reduce((sum, { length }) => sum + length, 0),
  ),
  ...TURNS,
]);
const MODEL = 'local/commands-en';
/** Answers when the test says so. */
const HELD = 'custom/held';

const waiting: ServerResponse[] = [];
const fetched: string[] = [];
/** Posts to each path of the receiver, and what the next one is answered with. */
const hooks = new Map<string, { headers: IncomingHttpHeaders; body: string }[]>();
const statuses = new Map<string, number>();
const server = createServer(async (request, response) => {
  if (request.url?.startsWith('/hook') === true) {
    const path = request.url;
    const body = await text(request);
    hooks.set(path, [...(hooks.get(path) ?? []), { headers: request.headers, body }]);
    response.writeHead(statuses.get(path) ?? 204).end();
    return;
  }
  request.resume();
  if (request.url?.startsWith('/audio.wav') === true) {
    fetched.push(request.url);
    response.writeHead(200, { 'Content-Type': 'audio/wav' }).end(WAV);
    return;
  }
  request.on('end', () => waiting.push(response));
});
const answerAll = () => {
  for (const response of waiting.splice(0)) {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ text: 'held speech' }));
  }
};

let env: Record<string, string>;
let gateway: LiveGateway;
let singleKey: string;
let otherKey: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = temporaryDirectory();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const models = [{ name: 'held', model: 'held-1', batch: '0.6' }];
  const config = join(directory, 'voxgate.json');
  writeFileSync(config, JSON.stringify({ custom: [{ shape: 'openai', url, models }] }));
  env = {
    VOXGATE_DATA_DIRECTORY: directory,
    VOXGATE_CONFIG: config,
    VOXGATE_UNTAKEN_FILES_FREE: '1000',
    VOXGATE_WEBHOOK_NETWORKS: '127.0.0.0/8',
    VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '10000',
  };
  gateway = await startLiveGateway(env);
  const store = await openSqliteStore({ directory });
  const { id } = await store.createOrganisation('Jobs', null, BY);
  singleKey = (await store.createKey(id, { sessionsMax: 1 }, BY)).secret;
  otherKey = (await store.createKey(id, {}, BY)).secret;
  store.close();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function restarted(): Promise<void> {
  const { key } = gateway;
  gateway.gateway.stop();
  await gateway.gateway.ended;
  waiting.splice(0);
  gateway = { ...(await startLiveGateway(env)), key };
}

type Fields = Readonly<Record<string, string>>;

function formOf(fields: Fields, wav = WAV): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(wav)], { type: 'audio/wav' }), 'time.wav');
  return form;
}

const keyed = (key = gateway.key, headers: Fields = {}) => ({ Authorization: `Bearer ${key}`, ...headers });

const post = (fields: Fields, headers: Fields = keyed(), wav = WAV) =>
  fetch(`${gateway.url}/v1/jobs`, { method: 'POST', headers, body: formOf(fields, wav) });

async function created(fields: Fields, headers: Fields = keyed(), wav = WAV): Promise<JobAnswer> {
  const reply = await post(fields, headers, wav);
  expect(reply.status).toBe(202);
  return (await reply.json()) as JobAnswer;
}

const call = (path: string, method = 'GET', key = gateway.key) =>
  fetch(`${gateway.url}/v1/jobs${path}`, { method, headers: keyed(key) });

async function job(id: string, key = gateway.key): Promise<JobAnswer> {
  return (await (await call(`/${id}`, 'GET', key)).json()) as JobAnswer;
}

const inStatus = (id: string, status: JobAnswer['status'], key = gateway.key): Promise<JobAnswer> =>
  vi.waitFor(
    async () => {
      const shown = await job(id, key);
      expect(shown.status).toBe(status);
      return shown;
    },
    { timeout: 10_000, interval: 20 },
  );

const isHeld = (count = 1) => vi.waitFor(() => expect(waiting).toHaveLength(count), { timeout: 10_000 });

async function refusalOf(reply: Promise<Response> | Response): Promise<(string | number | null)[]> {
  const { status, error } = await Promise.resolve(reply).then(async (each) => ({
    status: each.status,
    ...((await each.json()) as { error: { code: string; param: string | null } }),
  }));
  return [status, error.code, error.param];
}

describe('a job', () => {
  it('is accepted at once, and has the transcript when it is completed', async () => {
    const reply = await post({ model: MODEL });
    const accepted = (await reply.json()) as JobAnswer;
    expect([reply.status, reply.headers.get('location')]).toEqual([202, `/v1/jobs/${accepted.id}`]);
    expect(accepted).toMatchObject({ object: 'job', model: MODEL, file: { name: 'time.wav', bytes: WAV.length } });
    const done = await inStatus(accepted.id, 'completed');
    expect(Value.Check(JobAnswer, done)).toBe(true);
    expect(done.result?.text).not.toBe('');
    expect(Date.parse(done.expires_at as string) - Date.parse(done.ended_at as string)).toBe(86_400_000);
  });

  it.each(['json', 'text', 'verbose_json', 'srt', 'vtt', 'diarized_json'])(
    'gives the answer that the file would have as %s',
    async (format) => {
      const synchronous = await gateway.request('/v1/audio/transcriptions', {
        method: 'POST',
        body: formOf({ model: MODEL, response_format: format }, LONG),
      });
      const expected = await synchronous.text();
      const { id } = await created({ model: MODEL, response_format: format }, keyed(), LONG);
      await inStatus(id, 'completed');
      for (const query of ['', `?format=${format}`]) {
        const reply = await call(`/${id}/result${query}`);
        expect(reply.headers.get('content-type')).toBe(synchronous.headers.get('content-type'));
        const withoutId = (text: string) => text.replaceAll(/"request_id":"[^"]*"/g, '');
        expect(withoutId(await reply.text())).toBe(withoutId(expected));
      }
    },
  );

  it('has the error of its model when that fails', async () => {
    const { id } = await created({ model: HELD });
    await isHeld();
    for (const response of waiting.splice(0)) response.writeHead(400).end('{}');
    const failed = await inStatus(id, 'failed');
    expect(failed.error?.code).toMatch(/^upstream_/);
    const [, code] = await refusalOf(call(`/${id}/result`));
    expect(code).toBe(failed.error?.code);
  });

  it('has no result before it is over', async () => {
    const { id } = await created({ model: HELD });
    await isHeld();
    const reply = await call(`/${id}/result`);
    expect(reply.headers.get('retry-after')).toBe('2');
    expect(await refusalOf(reply)).toEqual([409, 'job_not_over', null]);
    answerAll();
    await inStatus(id, 'completed');
  });

  it('waits for a slot of its key', async () => {
    const headers = keyed(singleKey);
    const first = await created({ model: HELD }, headers);
    await isHeld();
    const second = await created({ model: HELD }, headers);
    expect((await job(second.id, singleKey)).status).toBe('queued');
    answerAll();
    await inStatus(first.id, 'completed', singleKey);
    await isHeld();
    answerAll();
    await inStatus(second.id, 'completed', singleKey);
  });

  it('is kept for a minute with a retention of 0 seconds', async () => {
    const { id } = await created({ model: HELD, retention_seconds: '0' });
    await isHeld();
    answerAll();
    const done = await inStatus(id, 'completed');
    expect(Date.parse(done.expires_at as string) - Date.parse(done.ended_at as string)).toBe(60_000);
  });

  it('is visible to its own key only', async () => {
    const { id } = await created({ model: MODEL });
    await inStatus(id, 'completed');
    for (const [path, method] of [
      ['', 'GET'],
      ['/result', 'GET'],
      ['/cancel', 'POST'],
      ['', 'DELETE'],
    ])
      expect(await refusalOf(call(`/${id}${path}`, method, otherKey))).toEqual([404, 'not_found', 'id']);
  });
});

describe('a cancelled job', () => {
  it('ends while its model works on it, and costs nothing', async () => {
    const { id } = await created({ model: HELD });
    await isHeld();
    const gone = once(waiting[0] as ServerResponse, 'close');
    const reply = await call(`/${id}/cancel`, 'POST');
    expect(((await reply.json()) as JobAnswer).status).toBe('cancelled');
    await gone;
    waiting.splice(0);
    expect(await refusalOf(call(`/${id}/result`))).toEqual([409, 'job_cancelled', null]);
    const charge = (await (await gateway.request(`/v1/sessions/job_${id}`)).json()) as { cost_usd: string };
    expect(Number(charge.cost_usd)).toBe(0);
  });

  it('leaves the queue', async () => {
    const headers = keyed(singleKey);
    const first = await created({ model: HELD }, headers);
    await isHeld();
    const second = await created({ model: HELD }, headers);
    const reply = await call(`/${second.id}/cancel`, 'POST', singleKey);
    expect(((await reply.json()) as JobAnswer).status).toBe('cancelled');
    answerAll();
    await inStatus(first.id, 'completed', singleKey);
    expect((await job(second.id, singleKey)).status).toBe('cancelled');
  });

  it('stays as it is where it was over', async () => {
    const { id } = await created({ model: MODEL });
    await inStatus(id, 'completed');
    expect(((await (await call(`/${id}/cancel`, 'POST')).json()) as JobAnswer).status).toBe('completed');
  });
});

describe('the webhook of one job', () => {
  const receiver = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const postTo = (path: string) =>
    vi.waitFor(() => expect(hooks.get(path)?.[0]).toBeDefined(), { timeout: 10_000 }).then(() => hooks.get(path)?.[0]);

  it('receives the event of the organisation, signed with the secret of the request, and the job says so', async () => {
    const secret = newWebhookSecret();
    const url = `${receiver()}/hook/done?token=t`;
    const accepted = await created({ model: MODEL, webhook_url: url, webhook_secret: secret, retention_seconds: '0' });
    expect(accepted).toMatchObject({ webhook_url: `${receiver()}/hook/done` });
    expect(Value.Check(JobAnswer, accepted)).toBe(true);
    const { headers, body } = (await postTo('/hook/done?token=t')) as { headers: Fields; body: string };
    const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const expected = webhookHeaders([secret], headers['webhook-id'] ?? '', at, body);
    expect([headers['webhook-id'], headers]).toMatchObject([/^msg_/, expected]);
    const { type, timestamp, data } = JSON.parse(body) as { type: string; timestamp: string; data: JobAnswer };
    const shown = await inStatus(accepted.id, 'completed');
    const { webhook_status: _, ...rest } = shown;
    expect([type, timestamp, data]).toEqual(['job.completed', shown.ended_at, rest]);
    expect(JSON.stringify(shown)).not.toContain('token=t');
    // The transcript of a job that is not kept is in the event; the job stays for the attempts.
    expect(data.result?.text).not.toBe('');
    expect(Date.parse(shown.expires_at as string) - Date.parse(shown.ended_at as string)).toBe(3_600_000);
    await vi.waitFor(async () => expect((await job(accepted.id)).webhook_status).toBe(204), { timeout: 10_000 });
  });

  it('receives unsigned events without a secret, also by async=true, and of audio at an address', async () => {
    statuses.set('/hook/failed', 410);
    const fields = { model: 'loopback/script', provider_params: '{"fail":{"how":"refuse"}}' };
    const reply = await fetch(`${gateway.url}/v1/audio/transcriptions?async=true`, {
      method: 'POST',
      headers: keyed(),
      body: formOf({ ...fields, webhook_url: `${receiver()}/hook/failed` }),
    });
    const { id } = (await reply.json()) as JobAnswer;
    const failed = await postTo('/hook/failed');
    expect(failed?.headers['webhook-signature']).toBeUndefined();
    expect(JSON.parse(failed?.body ?? '')).toMatchObject({ type: 'job.failed', data: { id, status: 'failed' } });
    await vi.waitFor(async () => expect((await job(id)).webhook_status).toBe(410), { timeout: 10_000 });
    await fetch(`${gateway.url}/v1/jobs`, {
      method: 'POST',
      headers: { ...keyed(), 'Content-Type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        audio_url: `${receiver()}/audio.wav`,
        webhook_url: `${receiver().replace('//', '//user:pass@')}/hook/url`,
      }),
    });
    const done = await postTo('/hook/url');
    expect([done?.headers.authorization, JSON.parse(done?.body ?? '')]).toMatchObject([
      `Basic ${Buffer.from('user:pass').toString('base64')}`,
      { type: 'job.completed', data: { webhook_url: `${receiver()}/hook/url` } },
    ]);
    expect((JSON.parse(done?.body ?? '') as { data: JobAnswer }).data.result).toBeUndefined();
  });

  it('receives the end of a job that continued after a restart', async () => {
    const { id } = await created({ model: HELD, webhook_url: `${receiver()}/hook/again` });
    await isHeld();
    await restarted();
    await isHeld();
    answerAll();
    const { body } = (await postTo('/hook/again')) as { body: string };
    expect(JSON.parse(body)).toMatchObject({ type: 'job.completed', data: { id } });
  });

  const secret = newWebhookSecret();
  it.each<[string, Fields, string]>([
    ['at a private address', { webhook_url: 'https://10.0.0.1/hook' }, 'webhook_url'],
    ['at an address for metadata', { webhook_url: 'https://[::ffff:169.254.169.254]/' }, 'webhook_url'],
    ['of another protocol', { webhook_url: 'ftp://example.com/hook' }, 'webhook_url'],
    ['that is not an address', { webhook_url: 'example.com/hook' }, 'webhook_url'],
    ['that is too long', { webhook_url: `https://example.com/${'a'.repeat(2_100)}` }, 'webhook_url'],
    ['with a short secret', { webhook_url: 'https://example.com', webhook_secret: 'whsec_abcd' }, 'webhook_secret'],
    ['with another secret', { webhook_url: 'https://example.com', webhook_secret: 'secret' }, 'webhook_secret'],
    ['with a secret alone', { webhook_secret: secret }, 'webhook_url'],
  ])('is refused %s, by name, and nothing of the job is left', async (_, fields, param) => {
    expect(await refusalOf(post({ model: MODEL, ...fields }))).toEqual([400, 'invalid_request', param]);
    const json = { model: MODEL, audio_url: `${receiver()}/audio.wav`, ...fields };
    const headers = { ...keyed(), 'Content-Type': 'application/json' };
    const reply = fetch(`${gateway.url}/v1/jobs`, { method: 'POST', headers, body: JSON.stringify(json) });
    expect(await refusalOf(reply)).toEqual([400, 'invalid_request', param]);
    expect(readdirSync(join(gateway.directory, 'jobs', 'alone'))).toEqual([]);
  });

  it('is refused for a file whose client waits', async () => {
    const body = formOf({ model: MODEL, webhook_url: 'https://example.com' });
    const reply = fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers: keyed(), body });
    const { error } = (await (await reply).json()) as { error: { message: string; param: string } };
    expect(error).toMatchObject({ param: 'webhook_url', message: expect.stringContaining('async=true') });
  });
});

describe('a job of audio at an address', () => {
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/audio.wav`;
  const ofJson = (body: object, headers: Fields = {}) =>
    fetch(`${gateway.url}/v1/jobs`, {
      method: 'POST',
      headers: keyed(gateway.key, { 'Content-Type': 'application/json', ...headers }),
      body: JSON.stringify(body),
    });

  it('fetches it when it runs, and shows the address without its query', async () => {
    fetched.splice(0);
    const reply = await ofJson({ model: MODEL, audio_url: `${address()}?signature=secret` });
    const accepted = await reply.text();
    expect([reply.status, accepted.includes('secret')]).toEqual([202, false]);
    const { id } = JSON.parse(accepted) as JobAnswer;
    const done = await inStatus(id, 'completed');
    expect(done).toMatchObject({ audio_url: address(), file: { name: 'audio.wav', bytes: null } });
    expect(done.result?.text).not.toBe('');
    expect(fetched).toEqual(['/audio.wav?signature=secret']);
  });

  it('is one job under one idempotency key, and nothing is fetched for the second request', async () => {
    const headers = { 'Idempotency-Key': 'one address' };
    const { id } = (await (await ofJson({ model: MODEL, audio_url: address() }, headers)).json()) as JobAnswer;
    await inStatus(id, 'completed');
    fetched.splice(0);
    const again = await ofJson({ model: MODEL, audio_url: address() }, headers);
    expect([((await again.json()) as JobAnswer).id, fetched]).toEqual([id, []]);
    const other = ofJson({ model: MODEL, audio_url: `${address()}?other` }, headers);
    expect((await refusalOf(other)).slice(0, 2)).toEqual([409, 'idempotency_conflict']);
  });

  it.each([
    [{ file: 'a.wav' }, 'file'],
    [{ file: 'a.wav', audio_url: 'https://example.com/a.wav' }, 'file'],
    [{ audio_url: ['https://example.com/a.wav'] }, 'audio_url'],
    [{ audio_url: 5 }, 'audio_url'],
    [{}, 'audio_url'],
  ])('is refused by name with %j', async (body, param) => {
    const [status, , named] = await refusalOf(ofJson({ model: MODEL, ...body }));
    expect([status, named]).toEqual([400, param]);
  });

  it.each(['http://10.0.0.1/a.wav', 'ftp://example.com/a.wav', 'https://[::ffff:127.0.0.1]:22/a.wav'])(
    'is refused at once for %s',
    async (url) => {
      const [status, , param] = await refusalOf(ofJson({ model: MODEL, audio_url: url }));
      expect([status, param]).toEqual([400, 'audio_url']);
    },
  );
});

it('a removed job is gone, and the work on it ends', async () => {
  const { id } = await created({ model: HELD });
  await isHeld();
  const gone = once(waiting[0] as ServerResponse, 'close');
  expect((await call(`/${id}`, 'DELETE')).status).toBe(204);
  await gone;
  waiting.splice(0);
  expect((await call(`/${id}`)).status).toBe(404);
});

describe('a list of jobs', () => {
  const listed = async (query: string) => (await (await call(query, 'GET', otherKey)).json()) as JobList;

  it('comes in pages, newest first, and can be narrowed', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 3; at++) {
      const { id } = await created({ model: MODEL }, keyed(otherKey));
      await inStatus(id, 'completed', otherKey);
      ids.unshift(id);
    }
    const first = await listed('?limit=2');
    expect(Value.Check(JobList, first)).toBe(true);
    expect([first.data.map(({ id }) => id), first.has_more, first.next]).toEqual([ids.slice(0, 2), true, ids[1]]);
    expect(first.data.every((each) => each.result === undefined)).toBe(true);
    expect(first.data[0]?.expires_at).toBe((await job(ids[0] as string, otherKey)).expires_at);
    const second = await listed(`?limit=2&before=${first.next}`);
    expect([second.data.map(({ id }) => id), second.has_more, second.next]).toEqual([ids.slice(2), false, null]);
    expect((await listed('?status=failed')).data).toEqual([]);
    expect((await listed(`?status=completed&from=${first.data[0]?.created_at}`)).data.at(-1)?.id).toBe(ids[0]);
    expect((await listed(`?to=${second.data[0]?.created_at}`)).data).toEqual([]);
  });

  it.each([
    ['?status=done', 'status'],
    ['?limit=0', 'limit'],
    ['?from=yesterday', 'from'],
    ['?from=2026-11-30&to=2026-11-01', 'from'],
    ['?tag=a', 'tag'],
  ])('refuses %s by name', async (query, param) => {
    expect(await refusalOf(call(query))).toEqual([400, 'invalid_request', param]);
  });

  it('can be narrowed by tag and status at once, page by page', async () => {
    const ids: string[] = [];
    for (const tags of ['{"team":"a"}', '{"team":"b"}', '{"team":"a"}']) {
      const { id } = await created({ model: MODEL, tags }, keyed(otherKey));
      await inStatus(id, 'completed', otherKey);
      ids.unshift(id);
    }
    const first = await listed('?tag=team:a&status=completed&limit=1');
    expect([first.data.map(({ id }) => id), first.next]).toEqual([[ids[0]], ids[0]]);
    const second = await listed(`?tag=team:a&status=completed&limit=1&before=${first.next}`);
    expect([second.data.map(({ id }) => id), second.next]).toEqual([[ids[2]], null]);
    expect((await listed('?tag=team:a&status=cancelled')).data).toEqual([]);
  });

  it('refuses a place that is not a job of the key', async () => {
    expect(await refusalOf(call('?before=nothing'))).toEqual([404, 'not_found', 'before']);
  });
});

describe('a request for a job', () => {
  it.each<[string, Fields, string, string | null]>([
    ['that is streamed', { model: MODEL, stream: 'true' }, 'invalid_request', 'stream'],
    [
      'with a retention that is too long',
      { model: MODEL, retention_seconds: '2592001' },
      'invalid_request',
      'retention_seconds',
    ],
    [
      'with a retention that is no number',
      { model: MODEL, retention_seconds: '1h' },
      'invalid_request',
      'retention_seconds',
    ],
    ['with an unknown format', { model: MODEL, response_format: 'xml' }, 'invalid_request', 'response_format'],
    ['with an unknown field', { model: MODEL, modle: 'x' }, 'invalid_request', 'modle'],
    ['without a model', {}, 'invalid_request', 'model'],
    [
      'with a list that it replaces',
      { model: MODEL, 'timestamp_granularities[]': 'page' },
      'invalid_request',
      'timestamp_granularities[]',
    ],
    ['with an unknown model', { model: 'local/none' }, 'model_not_found', 'model'],
    ['with too many fields', { model: MODEL, prompt: 'x'.repeat(FIELDS_BYTES_MAX) }, 'invalid_request', null],
  ])('%s is refused', async (_, fields, code, param) => {
    const [status, ...refused] = await refusalOf(post(fields));
    expect([Number(status) >= 400 && Number(status) < 500, ...refused]).toEqual([true, code, param]);
  });

  it('lists all fields of a job when it refuses one, and says how long a job is kept', async () => {
    const messageOf = async (reply: Promise<Response>) =>
      ((await (await reply).json()) as { error: { message: string } }).error.message;
    expect(await messageOf(post({ model: MODEL, modle: 'x' }))).toContain(', retention_seconds, ');
    expect(await messageOf(call('/none'))).toContain('24 h after its end, or for its `retention_seconds`');
  });

  it('leaves nothing on the disk when it is refused', async () => {
    await post({ model: 'local/none' });
    expect(readdirSync(join(gateway.directory, 'jobs', 'alone'))).toEqual([]);
  });

  it('is made of a file by async=true, and by no client token', async () => {
    const to = (query: string, key = gateway.key) =>
      fetch(`${gateway.url}/v1/audio/transcriptions?${query}`, {
        method: 'POST',
        headers: keyed(key),
        body: formOf({ model: MODEL }),
      });
    const reply = await to('async=true');
    expect([reply.status, ((await reply.json()) as JobAnswer).object]).toEqual([202, 'job']);
    expect((await to('async=false')).status).toBe(200);
    expect(await refusalOf(to('async=later'))).toEqual([400, 'invalid_request', 'async']);
    const store = await openSqliteStore({ directory: gateway.directory });
    const [organisation] = await store.listOrganisations();
    const scopes = ['transcribe', 'tokens', 'tokens_may_upload'] as const;
    const { secret } = await store.createKey(organisation?.id as string, { scopes: [...scopes] }, BY);
    store.close();
    const minted = await fetch(`${gateway.url}/v1/tokens`, { method: 'POST', headers: keyed(secret) });
    const { token } = (await minted.json()) as { token: string };
    expect((await to('', token)).status).toBe(200);
    expect((await refusalOf(to('async=true', token)))[1]).toBe('token_not_allowed');
  });

  it('makes one job under one idempotency key', async () => {
    const headers = keyed(gateway.key, { 'Idempotency-Key': 'one job' });
    const first = await created({ model: MODEL }, headers);
    const again = await post({ model: MODEL }, headers);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(((await again.json()) as JobAnswer).id).toBe(first.id);
    expect(await refusalOf(post({ model: MODEL, language: 'en' }, headers))).toEqual([
      409,
      'idempotency_conflict',
      'Idempotency-Key',
    ]);
  });
});

it('a job continues after a restart of its node, and is charged once', async () => {
  const { id } = await created({ model: HELD });
  await isHeld();
  await restarted();
  const { key } = gateway;
  await isHeld();
  expect((await job(id, key)).status).toBe('processing');
  answerAll();
  expect(await inStatus(id, 'completed', key)).toMatchObject({ attempts: 1, result: { text: 'held speech' } });
  const sessions = await fetch(`${gateway.url}/v1/sessions?id=job_${id}`, { headers: keyed(key) });
  const { data } = (await sessions.json()) as { data: { id: string; cost_usd: string }[] };
  expect(data.filter(({ cost_usd }) => Number(cost_usd) > 0)).toHaveLength(1);
  // Another test may have left a job, which continues as well.
  await vi.waitFor(() => expect(readdirSync(join(gateway.directory, 'jobs', 'alone'))).toEqual([]), {
    timeout: 10_000,
  });
});
