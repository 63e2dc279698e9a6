// `POST /v1/tokens` as a client meets it, and what becomes of its tokens.
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_TOKENS_PER_MINUTE_PER_KEY_MAX: '1000' });
});
afterEach(() => {
  vi.useRealTimers();
});

type Answer = { token: string; expires_at: string; ttl_seconds: number };

const mint = (body?: string, type = 'application/json', gateway = live) =>
  gateway.request('/v1/tokens', {
    method: 'POST',
    ...(body === undefined ? {} : { body, headers: { 'Content-Type': type } }),
  });

async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
  expect(error.message).toMatch(/\.$/);
  return { status: response.status, code: error.code, param: error.param };
}

describe('a token is minted', () => {
  it.each([
    ['no body', undefined, 60],
    ['an empty body', '', 60],
    ['{}', '{}', 60],
    ['white space around it', ' \n{ } ', 60],
    ['10', '{"ttl_seconds":10}', 10],
    ['60', '{"ttl_seconds":60}', 60],
    ['300', '{"ttl_seconds":300}', 300],
    ['60 with a point', '{"ttl_seconds":60.0}', 60],
    ['60 with an exponent', '{"ttl_seconds":6e1}', 60],
  ])('accepts %s', async (_, body, ttl) => {
    const askedMs = Date.now();
    const response = await mint(body);
    const answer = (await response.json()) as Answer;
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(Object.keys(answer).sort()).toEqual(['expires_at', 'token', 'ttl_seconds']);
    expect(answer.token).toMatch(/^st_[\w-]+\.[\w-]{43}$/);
    expect(answer.ttl_seconds).toBe(ttl);
    expect(answer.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const lifeMs = Date.parse(answer.expires_at) - askedMs;
    expect(lifeMs).toBeGreaterThanOrEqual(ttl * 1000);
    expect(lifeMs).toBeLessThan(ttl * 1000 + 5_000);
  });

  it('accepts an empty body of any content type', async () => {
    expect((await mint('', 'text/plain')).status).toBe(200);
  });
});

describe('refused is', () => {
  it.each([
    ['{"ttl_seconds":9}', 'ttl_seconds'],
    ['{"ttl_seconds":301}', 'ttl_seconds'],
    ['{"ttl_seconds":10.5}', 'ttl_seconds'],
    ['{"ttl_seconds":"60"}', 'ttl_seconds'],
    ['{"ttl_seconds":null}', 'ttl_seconds'],
    ['{"ttl_seconds":-1}', 'ttl_seconds'],
    ['{"ttl_seconds":0}', 'ttl_seconds'],
    ['{"ttl_seconds":1e999}', 'ttl_seconds'],
    ['{"ttl_seconds":true}', 'ttl_seconds'],
    ['{"ttl_seconds":[60]}', 'ttl_seconds'],
    ['{"ttl_seconds":{}}', 'ttl_seconds'],
    ['{"ttl":60}', 'ttl'],
    ['{"TTL_SECONDS":60}', 'TTL_SECONDS'],
    ['{"ttl_seconds":60,"scope":"all"}', 'scope'],
    ['{"__proto__":{"ttl_seconds":60}}', '__proto__'],
    ['[]', null],
    ['[60]', null],
    ['60', null],
    ['"60"', null],
    ['null', null],
    ['true', null],
    ['{"ttl_seconds":60', null],
    ['{"ttl_seconds":060}', null],
    ["{'ttl_seconds':60}", null],
    ['{"ttl_seconds":60}}', null],
    [' ', null],
  ])('refuses the body %s', async (body, param) => {
    expect(await errorOf(await mint(body))).toEqual({ status: 400, code: 'invalid_request', param });
  });

  it.each([
    ['{"ttl_seconds":60,"ttl_seconds":300}', 'ttl_seconds'],
    ['{"ttl_seconds":60,"ttl_seconds":60}', 'ttl_seconds'],
    ['{"ttl_seconds":60, "ttl\\u005fseconds" : 300}', 'ttl_seconds'],
    ['{"x":{"a":"}","b":1,"b":2}}', 'b'],
  ])('refuses a duplicate member: %s', async (body, param) => {
    expect(await errorOf(await mint(body))).toEqual({ status: 400, code: 'duplicate_parameter', param });
  });

  it('refuses a name used in two objects only where the name is unknown', async () => {
    expect(await errorOf(await mint('{"a":{"ttl_seconds":1},"b":{"ttl_seconds":1}}'))).toMatchObject({ param: 'a' });
    expect(await errorOf(await mint('{"a":"\\"b\\":1,\\"b\\":2 {"}'))).toMatchObject({ param: 'a' });
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'application/jsonp', 'multipart/form-data'])(
    'refuses a body declared as %s',
    async (type) => {
      const refusal = { status: 415, code: 'unsupported_media_type', param: null };
      expect(await errorOf(await mint('{"ttl_seconds":60}', type))).toEqual(refusal);
    },
  );

  it('refuses a body that is too large, and one that is not UTF-8', async () => {
    expect((await mint(`{"ttl_seconds":60,"x":"${'x'.repeat(70_000)}"}`)).status).toBe(413);
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
    const response = await live.request('/v1/tokens', { ...init, body: Buffer.from('7b22ff223a317d', 'hex') });
    expect(await errorOf(response)).toEqual({ status: 400, code: 'invalid_request', param: null });
  });
});

it('refuses a token as a credential on every REST endpoint', async () => {
  const { token } = (await (await mint()).json()) as Answer;
  for (const [method, path] of [
    ['POST', '/v1/tokens'],
    ['POST', '/v1/audio/transcriptions'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/loopback/script'],
  ] as const) {
    const response = await live.request(path, { method, headers: { Authorization: `Bearer ${token}` } });
    expect([path, await errorOf(response)]).toEqual([path, { status: 403, code: 'token_not_allowed', param: null }]);
  }
});

it('limits tokens per minute, ignores refused bodies, and reports the rest', async () => {
  const own = await startLiveGateway({ VOXGATE_TOKENS_PER_MINUTE_PER_KEY_MAX: '2' });
  for (let round = 0; round < 5; round++) expect((await mint('[]', undefined, own)).status).toBe(400);
  for (const left of ['1', '0']) {
    const { status, headers } = await mint(undefined, undefined, own);
    expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([200, '2', left]);
  }
  const refused = await mint(undefined, undefined, own);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('ratelimit-limit')).toBe('2');
  expect(await errorOf(refused)).toEqual({ status: 429, code: 'rate_limit_exceeded', param: null });
  expect((await own.request('/v1/models')).status).toBe(200);
});

it('keeps a session open after its token expired, and opens no other with it', async () => {
  const { token } = (await (await mint('{"ttl_seconds":10}')).json()) as Answer;
  const query = { model: 'loopback/numbered', provider_params: '{"turn_seconds":0.5}' };
  const connect = () => live.connect(query, { authorize: false, protocols: ['bearer', token] });
  const client = connect();
  await client.event('session_started');
  client.send(numberedAudio(0, 16_000));
  await client.event('transcript');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
  const late = connect();
  expect((await late.event('error')).error.code).toBe('token_expired');
  expect((await late.close()).code).toBe(4001);
  client.send(numberedAudio(16_000, 32_000));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  expectWhole(client.finals, 32_000);
});
