// REST calls of the client against a server that plays every failure: what is tried again and what is not, what an error is, and
// that no credential appears in one.
import { inspect } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as client from '../../clients/typescript/src/index.ts';
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import { broken, json, refusal, type ScriptedHttp, silent, startScriptedHttp } from './rig/scripted-http.ts';

const KEY = 'sk_vox_abcdefghijklmnopqrstuvwxyz0123456789AB';
let server: ScriptedHttp;
beforeAll(async () => {
  server = await startScriptedHttp();
});
beforeEach(() => {
  server.arrived.length = 0;
  // No time is spent on waiting.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const made = (options: Partial<client.VoxgateOptions> = {}) =>
  new client.Voxgate({ apiKey: KEY, baseUrl: server.url, ...options });
const file = new Uint8Array([1, 2, 3]);
const MODEL = 'local/commands-en';
const done = json(200, { text: 'yes' }, { 'Voxgate-Warning': 'duplicate_fallback, parameter_ignored' });

async function failureOf(work: Promise<unknown>): Promise<client.VoxgateError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(client.VoxgateError);
  expect(inspect(error, { depth: 10 })).not.toContain(KEY);
  return error as client.VoxgateError;
}

describe('an error', () => {
  const CLASSES: Readonly<Record<string, string>> = {
    invalid_request_error: 'InvalidRequestError',
    authentication_error: 'AuthenticationError',
    permission_error: 'PermissionError',
    billing_error: 'InsufficientCreditError',
    rate_limit_error: 'RateLimitError',
    upstream_error: 'UpstreamError',
    server_error: 'ServerError',
  };

  it.each(Object.entries(ERROR_CATALOGUE).filter(([, { status }]) => status !== null))(
    '%s has the class of its type, and says everything the answer said',
    async (code, { type, status }) => {
      server.answers = [refusal(status as number, type, code, { 'Retry-After': '7' })];
      const error = await failureOf(made({ retriesMax: 0 }).transcribe({ model: MODEL, file }));
      expect(error.name).toBe(status === 404 ? 'NotFoundError' : CLASSES[type]);
      expect(error.constructor.name).toBe(error.name);
      const { status: told, param, requestId, retryAfterSeconds, message } = error;
      expect({
        code: error.code,
        type: error.type,
        status: told,
        param,
        requestId,
        retryAfterSeconds,
        message,
      }).toEqual({
        code,
        type,
        status,
        param: 'model',
        requestId: 'req_2',
        retryAfterSeconds: 7,
        message: `It is ${code}.`,
      });
    },
  );

  it.each([
    [401, 'AuthenticationError'],
    [403, 'PermissionError'],
    [404, 'NotFoundError'],
    [429, 'RateLimitError'],
    [400, 'InvalidRequestError'],
    [502, 'ServerError'],
  ])('turns a proxy’s HTTP %i with a page into a %s', async (status, name) => {
    server.answers = [json(status, '<html>no</html>')];
    const error = await failureOf(made({ retriesMax: 0 }).balance());
    expect([error.name, error.code, error.requestId]).toEqual([name, 'bad_answer', 'req_1']);
  });

  it('follows an answer that is not JSON', async () => {
    server.answers = [json(200, '<html>')];
    expect((await failureOf(made().balance())).code).toBe('bad_answer');
  });
});

describe('a retry with the same idempotency key', () => {
  it.each([
    ['408', refusal(408, 'invalid_request_error', 'request_timeout')],
    [
      '409 of a request in progress',
      refusal(409, 'invalid_request_error', 'idempotency_conflict', { 'Retry-After': '0' }),
    ],
    ['429', refusal(429, 'rate_limit_error', 'rate_limit_exceeded', { 'Retry-After': '0' })],
    ['500', refusal(500, 'server_error', 'internal_error')],
    ['502', refusal(502, 'upstream_error', 'upstream_failed')],
    ['503', refusal(503, 'server_error', 'overloaded')],
    ['a connection that breaks', broken],
  ])('covers %s', async (_, answer) => {
    server.answers = [answer, answer, done];
    const { data, metadata } = await made().transcribe({ model: MODEL, file }).withMetadata();
    expect(data).toEqual({ text: 'yes' });
    expect(metadata).toMatchObject({ status: 200, requestId: 'req_1', attempts: 3 });
    expect(metadata.warnings).toEqual(['duplicate_fallback', 'parameter_ignored']);
    expect(server.arrived).toHaveLength(3);
    const keys = server.arrived.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  it('covers a timeout', async () => {
    server.answers = [silent, done];
    expect(await made({ timeoutMs: 300 }).transcribe({ model: MODEL, file })).toEqual({ text: 'yes' });
    expect(server.arrived).toHaveLength(2);
  });

  it('stops at the requested number', async () => {
    server.answers = [refusal(503, 'server_error', 'overloaded')];
    for (const retriesMax of [0, 1, 4]) {
      server.arrived.length = 0;
      expect((await failureOf(made().transcribe({ model: MODEL, file, retriesMax }))).code).toBe('overloaded');
      expect(server.arrived).toHaveLength(retriesMax + 1);
    }
  });
});

describe('a call without a retry', () => {
  it.each([
    ['400', refusal(400, 'invalid_request_error', 'invalid_request')],
    ['401', refusal(401, 'authentication_error', 'invalid_api_key')],
    ['402', refusal(402, 'billing_error', 'insufficient_credit')],
    ['404', refusal(404, 'invalid_request_error', 'model_not_found')],
    ['409 of another body', refusal(409, 'invalid_request_error', 'idempotency_conflict')],
    ['422', refusal(422, 'invalid_request_error', 'unsupported_parameter')],
    [
      '429 that asks for more than a minute',
      refusal(429, 'rate_limit_error', 'rate_limit_exceeded', { 'Retry-After': '61' }),
    ],
  ])('covers %s', async (_, answer) => {
    server.answers = [answer];
    await failureOf(made({ retriesMax: 5 }).transcribe({ model: MODEL, file }));
    expect(server.arrived).toHaveLength(1);
  });

  it('covers a stream, which can be read once', async () => {
    server.answers = [refusal(503, 'server_error', 'overloaded')];
    const stream = (async function* () {
      yield file;
    })();
    await failureOf(made({ retriesMax: 5 }).transcribe({ model: MODEL, file: stream }));
    expect(server.arrived).toHaveLength(1);
  });
});

describe('a signal', () => {
  it.each([
    ['before the call', 'before'],
    ['while it waits for an answer', 'during'],
  ])('ends a call %s, with its own reason', async (_, when) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    server.answers = [() => controller.abort(reason)];
    if (when === 'before') controller.abort(reason);
    await expect(made().balance({ signal: controller.signal })).rejects.toBe(reason);
    expect(server.arrived).toHaveLength(when === 'before' ? 0 : 1);
  });

  it('ends the wait before the next attempt', async () => {
    const controller = new AbortController();
    server.answers = [
      (response) => {
        refusal(429, 'rate_limit_error', 'rate_limit_exceeded', { 'Retry-After': '50' })(response);
        response.on('close', () => setImmediate(() => controller.abort()));
      },
    ];
    await expect(made().balance({ signal: controller.signal })).rejects.toThrow(/abort/);
  });
});

it('reads a stream of events as it arrives, with errors as errors, and stops on request', async () => {
  const events = [
    { type: 'transcript.text.delta', delta: 'so ' },
    { type: 'transcript.text.done', text: 'so' },
  ];
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const start = (text: string, isEnd: boolean) => (response: import('node:http').ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    if (isEnd) response.end(text);
    else response.write(text);
  };
  const read = async (max = 9) => {
    const seen: unknown[] = [];
    for await (const event of await made().transcribe({ model: MODEL, file, stream: true })) {
      if (seen.push(event) === max) break;
    }
    return seen;
  };
  for (const ending of ['\n', '\r\n', '\r']) {
    server.answers = [start(lines.replaceAll('\n', ending), true)];
    expect(await read()).toEqual(events);
  }
  server.answers = [start(`: comment\n\nevent: x\n${lines}data: [DONE]\n\n`, true)];
  expect(await read()).toEqual(events);
  let closed = () => {};
  const gone = new Promise<void>((resolve) => {
    closed = resolve;
  });
  server.answers = [
    (response) => {
      response.on('close', closed);
      start(lines, false)(response);
    },
  ];
  expect(await read(1)).toEqual(events.slice(0, 1));
  await gone;
  server.answers = [
    start('data: {"error":{"type":"upstream_error","code":"upstream_failed","message":"no"}}\n\n', true),
  ];
  expect((await failureOf(read())).name).toBe('UpstreamError');
  server.answers = [start(lines.slice(0, -1), true)];
  expect((await failureOf(read())).code).toBe('connection_lost');
  server.answers = [start('data: {"error"\n\n', true)];
  expect((await failureOf(read())).code).toBe('bad_answer');
});

describe('a call refused before anything is sent', () => {
  it.each<[string, () => unknown, string]>([
    ['no credential', () => new client.Voxgate({ baseUrl: server.url }), 'apiKey'],
    ['two credentials', () => made({ token: 'st_a.b' }), 'apiKey'],
    ['a credential that is none', () => made({ apiKey: 'sk vox' }), 'apiKey'],
    ['a URL that is none', () => made({ baseUrl: 'here' }), 'baseUrl'],
    ['a URL with a name and password', () => made({ baseUrl: 'http://a:b@c' }), 'baseUrl'],
    ['an unknown option', () => made({ maxRetries: 1 } as object), 'maxRetries'],
    ['retries without end', () => made({ retriesMax: 99 }), 'retriesMax'],
    ['no time for a call', () => made().balance({ timeoutMs: 0 }), 'timeoutMs'],
    ['a call’s retries without end', () => made().tokens.mint({ retriesMax: 99 }), 'retriesMax'],
    ['a rate below 8,000', () => made().listen({ model: MODEL, sampleRate: 7 }), 'sampleRate'],
    ['the wire’s name of an option', () => made().listen({ model: MODEL, sample_rate: 8000 } as never), 'sample_rate'],
    ['a live session without a model', () => made().listen({} as never), 'model'],
  ])('covers %s', (_, work, param) => {
    vi.stubEnv('VOXGATE_KEY', '');
    expect(work).toThrow(client.InvalidRequestError);
    try {
      work();
    } catch (error) {
      expect((error as client.VoxgateError).param).toBe(param);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it.each([
    ['a time that is not a number', { model: MODEL, file, timeoutMs: Number.NaN }, 'timeoutMs'],
    ['a count of retries that is a text', { model: MODEL, file, retriesMax: '2' }, 'retriesMax'],
    ['a file that is a path', { model: MODEL, file: 'a.wav' }, 'file'],
    ['an object that is not a file', { model: MODEL, file: {} }, 'file'],
    ['the wire’s name of an option', { model: MODEL, file, response_format: 'srt' }, 'response_format'],
  ])('covers %s', async (_, options, param) => {
    const error = await failureOf(made().transcribe(options as never));
    expect([error.param, error.code]).toEqual([param, 'invalid_option']);
  });

  it('leaves a file with a client token to the gateway', async () => {
    server.answers = [done];
    const before = server.arrived.length;
    for (const own of [{ token: 'st_a.b' }, { getToken: () => 'st_c.d' }]) {
      await new client.Voxgate({ ...own, baseUrl: server.url }).transcribe({ model: MODEL, file });
    }
    const sent = server.arrived.slice(before).map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer st_a.b', 'Bearer st_c.d']);
  });

  it('covers a REST call with a client token', async () => {
    const bearer = new client.Voxgate({ token: 'st_a.b', baseUrl: server.url });
    expect((await failureOf(bearer.balance())).code).toBe('token_not_allowed');
    expect(server.arrived).toEqual([]);
  });
});
