// Who may call, on a whole gateway: scopes, models, origins, limits of keys and of addresses, and revocation in the middle.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CreatedKey } from '../../src/accounts/keys/calls.ts';
import { generateKey } from '../../src/accounts/keys/key-text.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { createKeys, revokeKeys } from '../fakes/store/store-keys.ts';

const model = 'loopback/script';
const page = 'https://app.example.com';
let live: LiveGateway;
let keys: Record<'listening' | 'files' | 'minting' | 'numbered' | 'paged' | 'uploading', CreatedKey>;

beforeAll(async () => {
  live = await startLiveGateway();
  const [listening, files, minting, numbered, paged, uploading] = await createKeys(live.directory, [
    { scopes: ['listen'] },
    { scopes: ['transcribe'] },
    { scopes: ['tokens'] },
    { models: ['loopback/numbered'] },
    { origins: [page] },
    { scopes: ['tokens', 'tokens_may_upload'], origins: [page], models: ['loopback/*'] },
  ]);
  keys = {
    listening: listening!,
    files: files!,
    minting: minting!,
    numbered: numbered!,
    paged: paged!,
    uploading: uploading!,
  };
});

const bearer = (key: CreatedKey | string) => ({
  Authorization: `Bearer ${typeof key === 'string' ? key : key.secret}`,
});
const post = (path: string, key: CreatedKey | string, body?: FormData) =>
  fetch(`${live.url}${path}`, { method: 'POST', headers: bearer(key), ...(body === undefined ? {} : { body }) });
const codeOf = async (response: Response) =>
  ((await response.json()) as { error?: { code: string } }).error?.code ?? 'answered';
const listen = (key: CreatedKey, query: Record<string, string> = { model }, headers = {}) =>
  live.connect(query, { authorize: false, headers: { ...bearer(key), ...headers } });

function form(fields: Record<string, string>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  data.append('file', new Blob([new Uint8Array(3_200)], { type: 'audio/l16;rate=16000' }), 'a.pcm');
  return data;
}

describe('scopes', () => {
  it.each([
    ['listening', 'scope_not_allowed', 'scope_not_allowed', 'session'],
    ['files', 'answered', 'scope_not_allowed', 'scope_not_allowed'],
    ['minting', 'scope_not_allowed', 'answered', 'scope_not_allowed'],
  ] as const)('limit a key for %s: files %s, tokens %s, live %s', async (name, files, tokens, session) => {
    expect(await codeOf(await post('/v1/audio/transcriptions', keys[name], form({ model })))).toBe(files);
    expect(await codeOf(await post('/v1/tokens', keys[name]))).toBe(tokens);
    expect((await fetch(`${live.url}/v1/models`, { headers: bearer(keys[name]) })).status).toBe(200);
    const client = listen(keys[name]);
    if (session === 'session') {
      await client.event('session_started');
      client.send({ type: 'close' });
      await client.close();
      return;
    }
    const { status, body } = await client.refused();
    expect([status, JSON.parse(body).error.code]).toEqual([403, session]);
  });

  it('pass from a key to its tokens: a key that only mints tokens opens no session', async () => {
    const { token } = (await (await post('/v1/tokens', keys.minting)).json()) as { token: string };
    const client = live.connect({ model }, { authorize: false, protocols: ['bearer', token] });
    expect((await client.event('error')).error.code).toBe('scope_not_allowed');
    expect((await client.close()).code).toBe(4003);
  });
});

describe('files with client tokens', () => {
  const tokenOf = async (key: CreatedKey) =>
    ((await (await post('/v1/tokens', key)).json()) as { token: string }).token;
  const upload = (path: string, token: string, init: RequestInit, authorization = `Bearer ${token}`) =>
    fetch(`${live.url}${path}`, {
      method: 'POST',
      ...init,
      headers: { Origin: page, ...init.headers, Authorization: authorization },
    });

  it('pass for a key with the scope `tokens_may_upload`, and belong to that key', async () => {
    const token = await tokenOf(keys.uploading);
    const answered = await upload('/v1/audio/transcriptions', token, { body: form({ model }) });
    expect([answered.status, answered.headers.get('access-control-allow-origin')]).toEqual([200, page]);
    const other = await upload('/v1/audio/transcriptions', token, { body: form({ model: 'local/commands-en' }) });
    expect(await codeOf(other)).toBe('model_not_allowed');
  });

  it('pass at other vendors’ endpoints, in one request', async () => {
    const token = await tokenOf(keys.uploading);
    const audio = { body: new Uint8Array(3_200), headers: { 'Content-Type': 'audio/l16;rate=16000' } };
    const deepgram = await upload(`/compat/deepgram/v1/listen?model=${model}`, token, audio, `Token ${token}`);
    expect(deepgram.status).toBe(200);
    expect((await upload('/compat/openai/v1/audio/transcriptions', token, { body: form({ model }) })).status).toBe(200);
  });

  it('fail from other pages, and without an origin', async () => {
    const token = await tokenOf(keys.uploading);
    for (const Origin of ['https://evil.example', undefined]) {
      const headers = { Authorization: `Bearer ${token}`, ...(Origin === undefined ? {} : { Origin }) };
      const body = form({ model });
      const refused = await fetch(`${live.url}/v1/audio/transcriptions`, { method: 'POST', headers, body });
      expect(await codeOf(refused)).toBe('origin_not_allowed');
    }
  });

  it('fail without the scope, which the error names', async () => {
    const token = await tokenOf(keys.paged);
    const refused = await upload('/v1/audio/transcriptions', token, { body: form({ model }) });
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect([refused.status, error.code]).toEqual([403, 'token_not_allowed']);
    expect(error.message).toMatch(/`tokens_may_upload`.*API key/);
  });

  it('allow no other REST request: a token cannot read what its key has stored', async () => {
    const token = await tokenOf(keys.uploading);
    for (const [method, path] of [
      ['POST', '/v1/tokens'],
      ['GET', '/v1/models'],
      ['GET', '/v1/sessions'],
      ['POST', '/compat/speechmatics/v2/jobs'],
      ['GET', '/compat/speechmatics/v2/jobs'],
      ['GET', '/compat/assemblyai/v2/transcript'],
      ['POST', '/compat/soniox/v1/files'],
      ['POST', '/compat/gladia/v2/upload'],
    ] as const) {
      const authorization = path.includes('assemblyai') ? token : `Bearer ${token}`;
      const headers = { Authorization: authorization, 'x-gladia-key': token, Origin: page };
      const refused = await fetch(`${live.url}${path}`, { method, headers });
      expect([path, refused.status]).toEqual([path, 403]);
    }
  });
});

describe('models', () => {
  it.each([
    [{ model }, 'model'],
    [{ model: 'loopback/numbered', fallbacks: model }, 'fallbacks'],
  ])('refuses a model that the key does not allow anywhere in a chain: %j', async (fields, param) => {
    const refusal = { code: 'model_not_allowed', param, message: expect.stringContaining(model) };
    const response = await post('/v1/audio/transcriptions', keys.numbered, form(fields));
    expect([response.status, await response.json()]).toEqual([403, { error: expect.objectContaining(refusal) }]);
    const { status, body } = await listen(keys.numbered, fields).refused();
    expect([status, JSON.parse(body).error]).toEqual([403, expect.objectContaining(refusal)]);
  });

  it('accepts a model that the key allows', async () => {
    const response = await post('/v1/audio/transcriptions', keys.numbered, form({ model: 'loopback/numbered' }));
    expect(response.status).toBe(200);
  });
});

describe('origins', () => {
  const tokenOf = async (key: CreatedKey) =>
    ((await (await post('/v1/tokens', key)).json()) as { token: string }).token;
  const withToken = (token: string, headers = {}) =>
    live.connect({ model }, { authorize: false, protocols: ['bearer', token], headers });

  it('lets a key’s tokens open sessions from its origins only', async () => {
    const token = await tokenOf(keys.paged);
    const client = withToken(token, { Origin: page });
    await client.event('session_started');
    client.send({ type: 'close' });
    await client.close();
    for (const headers of [{}, { Origin: 'https://evil.example' }, { Origin: `${page}.evil.example` }]) {
      const refused = withToken(token, headers);
      expect((await refused.event('error')).error.code).toBe('origin_not_allowed');
      expect((await refused.close()).code).toBe(4003);
    }
  });

  it('bind the key itself only where a page says whence it comes, on REST too', async () => {
    const client = listen(keys.paged);
    await client.event('session_started');
    client.send({ type: 'close' });
    await client.close();
    expect((await listen(keys.paged, { model }, { Origin: 'https://evil.example' }).refused()).status).toBe(403);
    const ask = (headers = {}) => fetch(`${live.url}/v1/models`, { headers: { ...bearer(keys.paged), ...headers } });
    expect((await ask()).status).toBe(200);
    expect((await ask({ Origin: page })).status).toBe(200);
    expect(await codeOf(await ask({ Origin: 'https://evil.example' }))).toBe('origin_not_allowed');
  });
});

describe('a page that sends a file', () => {
  const path = '/v1/audio/transcriptions';
  const send = (key: CreatedKey | string, origin: string, file = form({ model: 'loopback/numbered' })) =>
    fetch(`${live.url}${path}`, { method: 'POST', headers: { ...bearer(key), Origin: origin }, body: file });
  const readableBy = ({ headers }: Response) => headers.get('access-control-allow-origin');

  it('answers a browser’s preflight from any page without a key', async () => {
    const asked = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization,x-mine' };
    const { status, headers } = await fetch(`${live.url}${path}`, {
      method: 'OPTIONS',
      headers: { Origin: page, ...asked },
    });
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,x-mine',
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
    const odd = { Origin: 'x'.repeat(300), 'Access-Control-Request-Headers': 'a:b' };
    const other = await fetch(`${live.url}${path}`, { method: 'OPTIONS', headers: odd });
    expect([other.status, readableBy(other), other.headers.get('access-control-allow-headers')]).toEqual([
      204,
      null,
      'authorization, content-type, xi-api-key, x-gladia-key',
    ]);
  });

  it('reads its answer and its refusals, from the pages that a key is for, as live sessions are', async () => {
    const answers = [await send(keys.paged, page), await send(keys.files, 'https://any.example')];
    expect(answers.map((each) => [each.status, readableBy(each)])).toEqual([
      [200, page],
      [200, 'https://any.example'],
    ]);
    expect(answers[0]?.headers.get('access-control-expose-headers')).toBe('*');
    const wrong = await send(keys.paged, page, form({ model: 'loopback/none' }));
    expect([wrong.status, readableBy(wrong)]).toEqual([404, page]);
    const nobody = await send(`sk_vox_${'a'.repeat(38)}`, page);
    expect([nobody.status, readableBy(nobody)]).toEqual([401, page]);
  });

  it('refuses a file from another page, which cannot read the answer', async () => {
    const refused = await send(keys.paged, 'https://evil.example');
    expect([refused.status, readableBy(refused)]).toEqual([403, null]);
    expect(await codeOf(refused)).toBe('origin_not_allowed');
  });
});

describe('limits of a key', () => {
  it('appear in every answer after the credential: success, refusal and handshake', async () => {
    const left = (headers: Headers | Record<string, unknown>) =>
      headers instanceof Headers ? headers.get('ratelimit-remaining') : headers['ratelimit-remaining'];
    for (const path of ['/v1/models', '/v1/models/loopback/script', '/v1/models?mode=both', '/v1/models/a/b']) {
      expect([path, left((await live.request(path)).headers)]).toEqual([path, expect.stringMatching(/^\d+$/)]);
    }
    for (const path of ['/v1/tokens', '/v1/audio/transcriptions']) {
      expect([path, left((await post(path, keys.listening)).headers)]).toEqual([path, expect.stringMatching(/^\d+$/)]);
    }
    const client = live.connect({ model });
    const [response] = (await once(client.socket, 'upgrade')) as [IncomingMessage];
    expect(left(response.headers)).toMatch(/^\d+$/);
    client.socket.terminate();
    expect(left((await live.connect({ model: 'a/b' }).refused()).headers)).toMatch(/^\d+$/);
  });

  it('apply per key where they are set, and its tokens count as well', async () => {
    const [own] = await createKeys(live.directory, [{ requestsPerMinuteMax: 3, sessionsMax: 1 }]);
    const { token } = (await (await post('/v1/tokens', own!)).json()) as { token: string };
    const client = listen(own!);
    await client.event('session_started');
    const second = live.connect({ model }, { authorize: false, protocols: ['bearer', token] });
    expect((await second.event('error')).error.code).toBe('too_many_sessions');
    const third = live.connect({ model }, { authorize: false, protocols: ['bearer', token] });
    expect((await third.event('error')).error.code).toBe('rate_limit_exceeded');
    expect((await third.close()).code).toBe(4100);
    client.send({ type: 'close' });
    await client.close();
  });
});

describe('guesses', () => {
  const guess = (gateway: LiveGateway, headers = {}) =>
    fetch(`${gateway.url}/v1/models`, { headers: { ...bearer(generateKey()), ...headers } });

  it('refuses guesses from one address after 20, on REST and handshakes; keys in use continue', async () => {
    const own = await startLiveGateway();
    await own.request('/v1/models');
    const codes: string[] = [];
    for (let tried = 0; tried < 21; tried++) codes.push(await codeOf(await guess(own)));
    expect(codes).toEqual([...Array.from({ length: 20 }, () => 'invalid_api_key'), 'rate_limit_exceeded']);
    const { status, headers } = await guess(own, { 'X-Forwarded-For': '198.51.100.7' });
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    const refused = await own.connect({ model }, { authorize: false, headers: bearer(generateKey()) }).refused();
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await own.request('/v1/models')).status).toBe(200);
  });

  it('counts guesses by the address that a trusted proxy names, never by one from the client', async () => {
    const own = await startLiveGateway({ VOXGATE_TRUSTED_PROXIES: '127.0.0.0/8, ::1' });
    const from = async (forwarded: string) => codeOf(await guess(own, { 'X-Forwarded-For': forwarded }));
    for (let tried = 0; tried < 20; tried++) await from(`203.0.113.${tried}, 198.51.100.7`);
    expect(await from('203.0.113.99, 198.51.100.7')).toBe('rate_limit_exceeded');
    expect(await from('198.51.100.8')).toBe('invalid_api_key');
    expect(await from('198.51.100.7, 198.51.100.8')).toBe('invalid_api_key');
  });
});

it('leaves no session when a key is revoked during its handshakes', async () => {
  const created = await createKeys(
    live.directory,
    Array.from({ length: 12 }, () => ({})),
  );
  const clients = created.map((key) => listen(key));
  await revokeKeys(
    live.directory,
    created.map(({ key }) => key),
  );
  for (const client of clients) {
    const outcome = await Promise.race([client.close(), client.refused()]);
    const code = 'code' in outcome ? outcome.code : JSON.parse(outcome.body).error.code;
    expect([4001, 'key_revoked']).toContain(code);
  }
  expect(live.gateway.sessions).toBe(0);
});
