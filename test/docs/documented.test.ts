// The comparison that runs beside every test bites: what a gateway was never documented to say is found, and what it does say is
// looked at.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import {
  type Answer,
  problemsOfAnswer,
  problemsOfClose,
  problemsOfEvent,
  problemsOfRequest,
} from '../setup/documented-check.ts';
import { counted, failures } from '../setup/documented-notes.ts';

const LIMITS = { 'ratelimit-limit': '600', 'ratelimit-remaining': '599', 'ratelimit-reset': '1' };

const answer = (line: string, headers: Record<string, string> = {}): Answer => {
  const [method = '', path = '', status = ''] = line.split(' ');
  const all: Record<string, string> = {
    'content-type': 'application/json',
    'x-request-id': 'req_1',
    ...LIMITS,
    ...headers,
  };
  return {
    method,
    url: `http://127.0.0.1${path}`,
    status: Number(status),
    header: (name) => all[name.toLowerCase()] ?? null,
  };
};

const balance = {
  object: 'balance',
  currency: 'USD',
  balance_usd: '1',
  held_usd: '0',
  available_usd: null,
  credit_limit_usd: null,
};
const refused = (code: string, more = {}) => ({
  error: { type: 'invalid_request_error', code, message: 'No.', param: null, request_id: 'req_1', ...more },
});
const TEXT = { 'content-type': 'text/plain; charset=utf-8' };

describe('an answer', () => {
  test.each([
    ['GET /v1/balance 200', balance, {}],
    ['GET /v1/balance 400', refused('invalid_request'), {}],
    ['GET /v1/nothing 404', refused('not_found'), {}],
    ['DELETE /v1/balance 405', refused('method_not_allowed'), {}],
    ['HEAD /v1/balance 200', '', {}],
    ['POST /v1/audio/transcriptions 200', 'text\n', TEXT],
    ['GET /v1/models/local/commands-en 404', refused('model_not_found'), {}],
  ])('passes as documented: %s', (line, body, headers) => {
    expect(problemsOfAnswer(answer(line, headers), typeof body === 'string' ? body : JSON.stringify(body))).toEqual([]);
  });

  test.each([
    ['a member that is not documented', 'GET /v1/balance 200', { ...balance, secret: 1 }, {}, 'secret'],
    ['a member that is missing', 'GET /v1/balance 200', { ...balance, held_usd: undefined }, {}, 'held_usd'],
    ['a member of another type', 'GET /v1/balance 200', { ...balance, held_usd: 0 }, {}, 'held_usd'],
    ['a status', 'GET /v1/balance 402', refused('insufficient_credit'), {}, 'status'],
    ['a code that does not occur there', 'GET /v1/balance 400', refused('missing_file'), {}, 'code'],
    ['a code that there is none of', 'GET /v1/nothing 404', refused('gone'), {}, 'code'],
    ['a member of an error', 'GET /v1/balance 400', refused('invalid_request', { stack: '' }), {}, 'stack'],
    ['a content type', 'GET /v1/balance 200', 'text', TEXT, 'text/plain'],
    ['a path', 'GET /v1/nothing 200', balance, {}, 'no such path'],
    ['a header', 'GET /v1/balance 200', balance, { 'voxgate-warning': 'x' }, 'Voxgate-Warning'],
    ['a header with another value', 'GET /v1/balance 200', balance, { 'ratelimit-limit': 'many' }, 'RateLimit-Limit'],
    ['a header that is missing', 'GET /v1/balance 200', balance, { 'ratelimit-limit': undefined }, 'RateLimit-Limit'],
    [
      'its id that is missing',
      'GET /v1/balance 200',
      balance,
      { 'x-request-id': undefined },
      'X-Request-Id is missing',
    ],
    [
      'a challenge that is missing',
      'GET /v1/balance 401',
      refused('invalid_api_key'),
      {},
      'WWW-Authenticate is missing',
    ],
    ['a tag that is missing', 'GET /openapi.json 200', {}, {}, 'ETag is missing'],
    [
      'an event of a stream',
      'POST /v1/audio/transcriptions 200',
      'data: {"type":"transcript.text.delta","delta":"a"}\n\ndata: {"type":"transcript.text.gone"}\n\n',
      { 'content-type': 'text/event-stream' },
      'transcript.text.gone',
    ],
  ])('fails by %s', (_, line, body, headers, named) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const problems = problemsOfAnswer(answer(line, headers as Record<string, string>), text);
    expect(problems.join('\n')).toContain(named);
    const [method, path] = line.split(' ');
    for (const problem of problems) expect(problem).toContain(`${method} ${path} answered`);
  });
});

describe('a request that was taken', () => {
  test.each([
    ['an unknown parameter', 'GET /v1/balance?unknown=1 200', undefined, 'unknown'],
    ['a value out of range', 'GET /v1/sessions?limit=1000 200', undefined, '100'],
    ['a text for a number', 'GET /v1/sessions?limit=ten 200', undefined, 'integer'],
    ['a body', 'POST /v1/tokens 200', '{"ttl_seconds":1}', 'ttl_seconds'],
    [
      'a field',
      'POST /v1/audio/transcriptions 200',
      [
        ['file', ''],
        ['model', 'a/b'],
        ['modle', 'a/b'],
      ],
      'modle',
    ],
    ['a field that is missing', 'POST /v1/audio/transcriptions 200', [['file', '']], 'model'],
    [
      'a value of a field',
      'POST /v1/audio/transcriptions 200',
      [
        ['file', ''],
        ['model', 'a/b'],
        ['stream', 'yes'],
      ],
      'stream',
    ],
  ])('fails by %s', async (_, line, sent, named) => {
    expect((await problemsOfRequest(answer(line), sent)).join('\n')).toContain(named);
  });

  test('passes as documented', async () => {
    const fields = [
      ['file', new Blob(['RIFF'])],
      ['model', 'local/commands-en'],
      ['diarization', 'true'],
      ['temperature', '0.5'],
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['provider_params', '{"grammar":"#JSGF V1.0;"}'],
      ['language', ''],
    ];
    expect(await problemsOfRequest(answer('POST /v1/audio/transcriptions 200'), fields)).toEqual([]);
    expect(await problemsOfRequest(answer('GET /v1/sessions?limit=5 200'), undefined)).toEqual([]);
  });
});

describe('a live session', () => {
  const stamp = { session_id: 'ses_1', seq: 1, at: '2026-11-21T12:00:00.000Z' };

  test.each([
    ['a type', { type: 'session_gone', ...stamp }, 'session_gone'],
    ['a member', { type: 'speech_started', ...stamp, start: 0, extra: 1 }, 'extra'],
    ['a member that is missing', { type: 'speech_started', ...stamp }, 'start'],
    ['a code', { type: 'error', ...stamp, ...refused('gone') }, 'code'],
  ])('fails by %s', (_, event, named) => {
    expect(problemsOfEvent(JSON.stringify(event)).join('\n')).toContain(named);
  });

  test('fails by its close code', () => {
    expect(problemsOfClose(4999)).toHaveLength(1);
    expect([...problemsOfClose(1000), ...problemsOfClose(4008)]).toEqual([]);
  });

  test('passes as documented', () => {
    expect(problemsOfEvent(JSON.stringify({ type: 'speech_started', ...stamp, start: 0.5 }))).toEqual([]);
  });
});

test('answers, refusals and events of a gateway are looked at as tests hear them', async () => {
  const before = { ...counted };
  const live = await startLiveGateway();
  await live.request('/v1/models');
  await live.request('/v1/tokens', { method: 'POST' });
  const client = live.connect({ model: 'loopback/script' });
  await client.event('session_started');
  client.send({ type: 'close' });
  await client.close();
  const refusedClient = live.connect({ model: 'loopback/script' }, { authorize: false });
  await refusedClient.refused();
  expect(await failures()).toEqual([]);
  // The refused handshake is an answer as well.
  expect(counted.answers - before.answers).toBe(3);
  expect(counted.requests - before.requests).toBe(2);
  expect(counted.events - before.events).toBeGreaterThanOrEqual(2);
  expect(counted.closes - before.closes).toBeGreaterThanOrEqual(1);
});

test('checks an answer without its id once it was read', async () => {
  let headers: Record<string, string> = {};
  const server = createServer((_, response) => response.writeHead(299, headers).end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const byFetch = async () => void (await (await fetch(`http://127.0.0.1:${port}/v1/balance`)).text());
  const byRequest = async () => {
    const [heard] = await once(get(`http://127.0.0.1:${port}/v1/balance`), 'response');
    await once((heard as IncomingMessage).resume(), 'end');
  };
  const problemsAfter = async (ask: () => Promise<void>) => {
    await ask();
    return (await failures()).length;
  };
  // Some other server, as far as anybody knows.
  expect([await problemsAfter(byFetch), await problemsAfter(byRequest)]).toEqual([0, 0]);
  headers = { 'X-Request-Id': 'req_019aa5b0-7c1e-7d3a-9f55-2f8e4b7c6d10' };
  expect(await problemsAfter(byRequest)).toBe(1);
  headers = {};
  expect([await problemsAfter(byFetch), await problemsAfter(byRequest)]).toEqual([1, 1]);
  server.close();
});
