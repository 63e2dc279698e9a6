// The router: which route answers, what every answer carries, and what becomes of whatever a route throws.
import { beforeEach, describe, expect, test } from 'vitest';
import { apiError } from '../../src/api/errors.ts';
import { createRouter, json, type RouteContext } from '../../src/http/router.ts';
import { BodyTooLarge, type Reply, type ServerRequest } from '../../src/http/server.ts';

let faults: unknown[];
let replies: unknown[];
beforeEach(() => {
  faults = [];
  replies = [];
});

const echo = async ({ request, params, requestId }: RouteContext): Promise<Reply> =>
  json(200, { path: request.path, params, requestId });
const thrower = (error: unknown) => async (): Promise<Reply> => {
  throw error;
};

async function* pieces(error?: unknown) {
  yield 'one';
  if (error !== undefined) throw error;
}
const inPieces = (error?: unknown) => async (): Promise<Reply> => ({ status: 201, body: pieces(error) });

const ask = (method: string, path: string, { aborted = false } = {}) =>
  createRouter(
    [
      { method: 'GET', path: '/v1/models', handle: echo },
      { method: 'GET', path: '/v1/models/:provider/:model', handle: echo },
      { method: 'GET', path: '/v1/models/special/one', handle: async () => json(200, 'literal') },
      { method: 'POST', path: '/v1/tokens', handle: echo },
      {
        method: 'GET',
        path: '/page',
        handle: async () => ({
          status: 200,
          headers: { 'cache-control': 'public', 'Content-Type': 'text/html' },
          body: '<p>',
        }),
      },
      {
        method: 'GET',
        path: '/refused',
        handle: thrower(
          apiError('rate_limit_exceeded', 'Too many.', {
            param: 'model',
            retryAfterSeconds: 1.2,
            headers: { 'RateLimit-Limit': '600' },
          }),
        ),
      },
      { method: 'GET', path: '/unknown', handle: thrower(apiError('missing_credential', 'None.')) },
      { method: 'GET', path: '/pieces', handle: inPieces() },
      { method: 'GET', path: '/pieces/refused', handle: inPieces(apiError('upstream_exhausted', 'None is left.')) },
      { method: 'GET', path: '/pieces/broken', handle: inPieces(new Error('behind the head')) },
      { method: 'GET', path: '/broken', handle: thrower(new Error('secret detail')) },
      { method: 'GET', path: '/odd', handle: thrower('a string') },
      { method: 'GET', path: '/large', handle: thrower(new BodyTooLarge('The body is larger than 10 bytes.')) },
    ],
    {
      newRequestId: () => 'req_1',
      onFault: (error, requestId) => faults.push([error, requestId]),
      onReply: (route, status, refusal) => replies.push([route, status, refusal?.code]),
    },
  )({
    method,
    path,
    query: '',
    headers: new Map(),
    remoteAddress: '',
    signal: aborted ? AbortSignal.abort() : new AbortController().signal,
  } as unknown as ServerRequest);

const bodyOf = (reply: Reply) => JSON.parse(reply.body as string);

describe('a route', () => {
  test.each([
    ['GET', '/v1/models', {}],
    ['HEAD', '/v1/models', {}],
    ['GET', '/v1/models/deepgram/nova-3', { provider: 'deepgram', model: 'nova-3' }],
    ['GET', '/v1/models/a%2Fb/%20c', { provider: 'a/b', model: ' c' }],
    ['GET', '/v1/models/:provider/:model', { provider: ':provider', model: ':model' }],
    ['GET', '/v1/models/__proto__/constructor', { provider: '__proto__', model: 'constructor' }],
  ])('%s %s is found', async (method, path, params) => {
    expect(bodyOf(await ask(method, path))).toEqual({ path, params, requestId: 'req_1' });
  });

  test('wins as a literal over one with parameters', async () => {
    expect(bodyOf(await ask('GET', '/v1/models/special/one'))).toBe('literal');
  });

  test.each([
    '/',
    '',
    '/v1',
    '/v1/models/',
    '/v1/models/x',
    '/v1/models/x/y/z',
    '/v1/models//y',
    '/v1/models/%zz/y',
    '//v1/models',
    '/V1/models',
    '*',
    '/__proto__',
  ])('answers 404 at %s', async (path) => {
    const reply = await ask('GET', path);
    expect([reply.status, bodyOf(reply).error.code]).toEqual([404, 'not_found']);
    expect(replies).toEqual([['other', 404, 'not_found']]);
  });

  test('translations are refused with what to do instead', async () => {
    const { error } = bodyOf(await ask('POST', '/v1/audio/translations'));
    expect(error).toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^Translations are not served: .*\/v1\/audio\/transcriptions/),
    });
  });

  test.each([
    ['DELETE', '/v1/models', 'GET, HEAD'],
    ['GET', '/v1/tokens', 'POST'],
    ['HEAD', '/v1/tokens', 'POST'],
    ['PUT', '/v1/models/a/b', 'GET, HEAD'],
  ])('answers %s %s with the methods it has', async (method, path, allowed) => {
    const reply = await ask(method, path);
    expect([reply.status, reply.headers?.Allow, bodyOf(reply).error.code]).toEqual([
      405,
      allowed,
      'method_not_allowed',
    ]);
  });

  test('throws when it is defined twice', () => {
    const route = { method: 'GET', path: '/a', handle: echo };
    expect(() =>
      createRouter([route, route], { newRequestId: () => '', onFault: () => {}, onReply: () => {} }),
    ).toThrow('GET /a is given twice');
  });
});

describe('every answer', () => {
  const common = {
    'X-Request-Id': 'req_1',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  };

  test.each(['/v1/models', '/refused', '/broken', '/nowhere'])(
    'carries the request id and safe headers: %s',
    async (path) => {
      expect((await ask('GET', path)).headers).toMatchObject({
        ...common,
        'Content-Type': 'application/json; charset=utf-8',
      });
    },
  );

  test('says what its route says where both say something', async () => {
    const { headers } = await ask('GET', '/page');
    expect(headers).toEqual({
      'X-Request-Id': 'req_1',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'cache-control': 'public',
      'Content-Type': 'text/html',
    });
  });

  test('counts once, by its route', async () => {
    for (const path of ['/v1/models/a/b', '/refused', '/broken']) await ask('GET', path);
    expect(replies).toEqual([
      ['/v1/models/:provider/:model', 200, undefined],
      ['/refused', 429, 'rate_limit_exceeded'],
      ['/broken', 500, 'internal_error'],
    ]);
  });
});

describe('an error of a route', () => {
  test('becomes the answer when it is an API error', async () => {
    const reply = await ask('GET', '/refused');
    expect([reply.status, reply.headers?.['Retry-After'], reply.headers?.['RateLimit-Limit']]).toEqual([
      429,
      '2',
      '600',
    ]);
    expect(bodyOf(reply)).toEqual({
      error: {
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        message: 'Too many.',
        param: 'model',
        request_id: 'req_1',
      },
    });
    expect(faults).toEqual([]);
  });

  test('names the scheme, when a credential is wanted', async () => {
    expect((await ask('GET', '/unknown')).headers?.['WWW-Authenticate']).toBe('Bearer');
  });

  test.each(['/broken', '/odd'])('becomes a report, never shown, when it is anything else: %s', async (path) => {
    const reply = await ask('GET', path);
    expect([reply.status, bodyOf(reply).error.code, faults.length]).toEqual([500, 'internal_error', 1]);
    expect(reply.body).not.toContain('secret');
  });

  test('becomes 413 with the limit, when the body is too large', async () => {
    const reply = await ask('GET', '/large');
    expect([reply.status, bodyOf(reply).error.message]).toEqual([413, 'The body is larger than 10 bytes. Send less.']);
  });

  test('causes no fault when the client has left', async () => {
    await ask('GET', '/broken', { aborted: true });
    expect(faults).toEqual([]);
  });
});

describe('an answer in pieces is counted once, when it ends', () => {
  const read = async ({ body }: Reply) => {
    let text = '';
    try {
      for await (const piece of body as AsyncIterable<string>) text += piece;
    } catch (error) {
      return [text, (error as Error).message];
    }
    return [text];
  };

  test.each([
    ['/pieces', ['one'], 201, undefined, []],
    ['/pieces/refused', ['one', 'None is left.'], apiError('upstream_exhausted', '').status, 'upstream_exhausted', []],
    ['/pieces/broken', ['one', 'behind the head'], 500, 'internal_error', [[new Error('behind the head'), 'req_1']]],
  ])('%s', async (path, said, status, code, expectedFaults) => {
    const reply = await ask('GET', path);
    expect([reply.status, replies]).toEqual([201, []]);
    expect(await read(reply)).toEqual(said);
    expect([replies, faults]).toEqual([[[path, status, code]], expectedFaults]);
  });

  test('keeps the status of its head when it is released early', async () => {
    const { body } = await ask('GET', '/pieces/broken');
    const iterator = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.return?.();
    await iterator.next();
    expect([replies, faults]).toEqual([[['/pieces/broken', 201, undefined]], []]);
  });
});
