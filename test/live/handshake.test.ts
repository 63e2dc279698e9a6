// The live endpoint's handshake as a client meets it: the three ways of giving a credential and their order, and refusals
// that every kind of client can read.
import { beforeAll, describe, expect, it } from 'vitest';
import { type LiveGateway, startLiveGateway } from '../fakes/live-gateway.ts';

const model = 'loopback/script';
let live: LiveGateway;
let token: string;

beforeAll(async () => {
  live = await startLiveGateway();
  const minted = await live.request('/v1/tokens', { method: 'POST' });
  token = ((await minted.json()) as { token: string }).token;
});

describe('a credential opens a session', () => {
  it.each(['key', 'token'])('in the Authorization header: %s', async (kind) => {
    const client = live.connect(
      { model },
      { authorize: false, headers: { Authorization: `Bearer ${kind === 'key' ? live.key : token}` } },
    );
    await client.event('session_started');
    expect(client.socket.protocol).toBe('');
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
  });

  it.each(['key', 'token'])('in the subprotocol pair, and is never echoed: %s', async (kind) => {
    const client = live.connect(
      { model },
      { authorize: false, protocols: ['bearer', kind === 'key' ? live.key : token] },
    );
    await client.event('session_started');
    expect(client.socket.protocol).toBe('bearer');
    client.send({ type: 'close' });
    await client.close();
  });

  it.each(['key', 'token'])('in the query, with a warning: %s', async (kind) => {
    const client = live.connect({ model, api_key: kind === 'key' ? live.key : token }, { authorize: false });
    expect(await client.event('warning')).toMatchObject({ code: 'credential_in_url', param: 'api_key' });
    client.send({ type: 'close' });
    await client.close();
  });
});

describe('the first method present is the one judged', () => {
  it('a bad header is refused although the subprotocol and the query are good', async () => {
    const client = live.connect(
      { model, api_key: live.key },
      { authorize: false, protocols: ['bearer', live.key], headers: { Authorization: 'Bearer sk_vox_wrong' } },
    );
    const { status, body } = await client.refused();
    expect([status, JSON.parse(body).error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('a bad subprotocol is refused although the query is good', async () => {
    const client = live.connect(
      { model, api_key: live.key },
      { authorize: false, protocols: ['bearer', 'sk_vox_wrong'] },
    );
    expect((await client.event('error')).error.code).toBe('invalid_api_key');
    expect((await client.close()).code).toBe(4001);
  });
});

describe('a refusal reaches', () => {
  it('a client with a header as HTTP status and body, with the request id', async () => {
    const { status, headers, body } = await live.connect({ model: 'loopback/scirpt' }).refused();
    expect(status).toBe(404);
    const { error } = JSON.parse(body) as { error: Record<string, string> };
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'model',
      message: expect.stringContaining('loopback/script'),
    });
    expect(headers['x-request-id']).toBe(error.request_id);
  });

  it('a browser as an error event and a close code', async () => {
    const client = live.connect({ model: 'loopback/scirpt' }, { authorize: false, protocols: ['bearer', token] });
    expect(await client.event('error')).toMatchObject({ seq: 1, error: { code: 'model_not_found' } });
    expect(await client.close()).toEqual({ code: 4004, reason: 'model_not_found' });
  });

  it('a client without any credential as HTTP 401', async () => {
    const { status, body } = await live.connect({ model }, { authorize: false }).refused();
    expect([status, JSON.parse(body).error.code]).toEqual([401, 'missing_credential']);
  });

  it('a plain GET in words', async () => {
    const response = await live.request(`/v1/listen?model=${model}`);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      'invalid_request',
    ]);
  });

  it('an upgrade anywhere else as 404', async () => {
    const { status } = await live.connect({}, {}).refused();
    expect(status).toBe(400);
  });
});

it('an expired or tampered token opens nothing', async () => {
  const client = live.connect({ model }, { authorize: false, protocols: ['bearer', `${token.slice(0, -2)}xx`] });
  expect((await client.event('error')).error.code).toBe('invalid_token');
  expect((await client.close()).code).toBe(4001);
});

it('no credential ever reaches the log', () => {
  expect(live.log.join('')).not.toContain(live.key);
  expect(live.log.join('')).not.toContain(token);
});
