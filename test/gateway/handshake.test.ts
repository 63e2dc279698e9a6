// The live endpoint's handshake as a client meets it: the three ways of giving a credential and their order, and refusals
// that every kind of client can read.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { LiveClient, type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { createKeys } from '../fakes/store/store-keys.ts';

const model = 'loopback/script';
let live: LiveGateway;
let token: string;

beforeAll(async () => {
  live = await startLiveGateway();
  const minted = await live.request('/v1/tokens', { method: 'POST' });
  token = ((await minted.json()) as { token: string }).token;
});

describe('a credential opens a session', () => {
  it.each(['key', 'token'])('accepts it in the Authorization header: %s', async (kind) => {
    const client = live.connect(
      { model },
      { authorize: false, headers: { Authorization: `Bearer ${kind === 'key' ? live.key : token}` } },
    );
    await client.event('session_started');
    expect(client.socket.protocol).toBe('');
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
  });

  it.each(['key', 'token'])('accepts it in the subprotocol pair, and never echoes it: %s', async (kind) => {
    const client = live.connect(
      { model },
      { authorize: false, protocols: ['bearer', kind === 'key' ? live.key : token] },
    );
    await client.event('session_started');
    expect(client.socket.protocol).toBe('bearer');
    client.send({ type: 'close' });
    await client.close();
  });

  it.each(['key', 'token'])('accepts it in the query, with a warning: %s', async (kind) => {
    const client = live.connect({ model, api_key: kind === 'key' ? live.key : token }, { authorize: false });
    expect(await client.event('warning')).toMatchObject({ code: 'credential_in_url', param: 'api_key' });
    client.send({ type: 'close' });
    await client.close();
  });
});

// Header, subprotocol, query, each with every kind of credential: what stands in a later place never counts.
describe('the first method present is the one judged', () => {
  const kinds = ['none', 'key', 'token', 'wrong', 'poor', 'empty'] as const;
  type Kind = (typeof kinds)[number];
  const verdicts: Readonly<Record<Kind, string>> = {
    none: 'missing_credential',
    key: 'session_started',
    token: 'session_started',
    wrong: 'invalid_api_key',
    poor: 'scope_not_allowed',
    empty: 'missing_credential',
  };
  let own: LiveGateway;
  let credentials: Readonly<Record<Kind, string>>;

  beforeAll(async () => {
    own = await startLiveGateway({ VOXGATE_FAILED_AUTHENTICATIONS_PER_MINUTE_MAX: '1000' });
    const [poor] = await createKeys(own.directory, [{ scopes: ['transcribe'] }]);
    const minted = (await (await own.request('/v1/tokens', { method: 'POST' })).json()) as { token: string };
    credentials = { none: '', key: own.key, token: minted.token, wrong: 'sk_vox_wrong', poor: poor!.secret, empty: '' };
  });

  async function judge(header: Kind, protocol: Kind, query: Kind): Promise<{ verdict: string; told: string }> {
    const client = own.connect(query === 'none' ? { model } : { model, api_key: credentials[query] }, {
      authorize: false,
      headers: header === 'none' ? {} : { Authorization: header === 'empty' ? '' : `Bearer ${credentials[header]}` },
      protocols: protocol === 'none' ? [] : protocol === 'empty' ? ['bearer'] : ['bearer', credentials[protocol]],
    });
    const first = await Promise.race([client.event('session_started'), client.event('error'), client.refused()]);
    client.socket.terminate();
    if ('status' in first) return { verdict: JSON.parse(first.body).error.code, told: 'HTTP' };
    return { verdict: first.type === 'error' ? first.error.code : first.type, told: 'socket' };
  }

  it.each(kinds)('judges `%s` in the header before the other places', async (header) => {
    for (const protocol of kinds) {
      for (const query of kinds) {
        const first = [header, protocol, query].findIndex((kind) => kind !== 'none');
        const verdict = verdicts[[header, protocol, query][first] ?? 'none'];
        const isHttp = verdict !== 'session_started' && first < 1;
        const expected = { verdict, told: isHttp ? 'HTTP' : 'socket' };
        expect({ protocol, query, ...(await judge(header, protocol, query)) }).toEqual({
          protocol,
          query,
          ...expected,
        });
      }
    }
  });

  it('refuses one place given twice, even when the other places are valid', async () => {
    const url = `${own.url.replace('http', 'ws')}/v1/listen?model=${model}`;
    const client = new LiveClient(`${url}&api_key=${own.key}&api_key=${own.key}`, [], {
      headers: { Authorization: `Bearer ${own.key}` },
    });
    const { status, body } = await client.refused();
    expect([status, JSON.parse(body).error]).toEqual([
      400,
      expect.objectContaining({ code: 'duplicate_parameter', param: 'api_key' }),
    ]);
    expect(body).not.toContain(own.key);
    const twice = { Authorization: `Bearer ${own.key}, Bearer ${own.key}` };
    expect((await own.connect({ model }, { authorize: false, headers: twice }).refused()).status).toBe(401);
  });

  it('ignores cookies', async () => {
    for (const cookie of [`api_key=${own.key}`, `__Host-sid=${own.key}`, `Authorization=Bearer ${own.key}`]) {
      const { status, body } = await own
        .connect({ model }, { authorize: false, headers: { Cookie: cookie } })
        .refused();
      expect([status, JSON.parse(body).error.code]).toEqual([401, 'missing_credential']);
    }
    const client = own.connect({ model }, { headers: { Cookie: '__Host-sid=somebody-else' } });
    await client.event('session_started');
    client.socket.terminate();
  });
});

it('sends the request id in the handshake’s answer and in the first event', async () => {
  const client = live.connect({ model });
  const [answer] = (await once(client.socket, 'upgrade')) as [IncomingMessage];
  const { request_id } = await client.event('session_started');
  expect([answer.headers['x-request-id'], request_id.slice(0, 4)]).toEqual([request_id, 'req_']);
  expect(answer.headers['ratelimit-remaining']).toBeDefined();
  client.socket.terminate();
  const refused = live.connect({ model: 'loopback/scirpt' }, { authorize: false, protocols: ['bearer', token] });
  const [told] = (await once(refused.socket, 'upgrade')) as [IncomingMessage];
  expect(told.headers['x-request-id']).toBe((await refused.event('error')).error.request_id);
});

describe('a refusal reaches', () => {
  it('gives a client with a header an HTTP status and body, with the request id', async () => {
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

  it('gives a browser an error event and a close code', async () => {
    const client = live.connect({ model: 'loopback/scirpt' }, { authorize: false, protocols: ['bearer', token] });
    expect(await client.event('error')).toMatchObject({ seq: 1, error: { code: 'model_not_found' } });
    expect(await client.close()).toEqual({ code: 4004, reason: 'model_not_found' });
  });

  it('gives a client without any credential HTTP 401', async () => {
    const { status, body } = await live.connect({ model }, { authorize: false }).refused();
    expect([status, JSON.parse(body).error.code]).toEqual([401, 'missing_credential']);
  });

  it('gives a plain GET an explanation', async () => {
    const response = await live.request(`/v1/listen?model=${model}`);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      'invalid_request',
    ]);
  });

  it('gives an upgrade at any other path 404', async () => {
    const { status } = await live.connect({}, {}).refused();
    expect(status).toBe(400);
  });
});

it('rejects an expired or tampered token', async () => {
  const client = live.connect({ model }, { authorize: false, protocols: ['bearer', `${token.slice(0, -2)}xx`] });
  expect((await client.event('error')).error.code).toBe('invalid_token');
  expect((await client.close()).code).toBe(4001);
});

it('keeps every credential out of the log', () => {
  expect(live.log.join('')).not.toContain(live.key);
  expect(live.log.join('')).not.toContain(token);
});

it('reports and counts credentials in URLs where they are turned off', async () => {
  const strict = await startLiveGateway({ VOXGATE_QUERY_CREDENTIALS: 'off' });
  for (const given of [{ api_key: strict.key }, { api_key: 'sk_vox_wrong' }]) {
    const client = strict.connect({ model, ...given }, { authorize: false });
    expect((await client.event('error')).error).toMatchObject({ code: 'missing_credential', param: 'api_key' });
    expect(await client.close()).toEqual({ code: 4001, reason: 'missing_credential' });
  }
  const client = strict.connect({ model });
  await client.event('session_started');
  client.socket.terminate();
  const metrics = await (await fetch(`${strict.url}/metrics`)).text();
  expect(metrics).toMatch(/^voxgate_query_credentials_total\S* 2$/m);
  expect(strict.log.join('')).not.toContain(strict.key);
});
