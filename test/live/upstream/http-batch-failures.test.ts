// Whatever a provider of files does comes out as a failure with a kind, in time, and without a word that clients must not see.
import type { ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { networkFailure } from '../../../src/live/upstream/leg-failures.ts';
import type { HttpBatchCodec } from '../../../src/vendors/kit/provider.ts';
import { type Answer, answer, type CodecOptions, SECRET, scriptedCodec } from './http-batch-fixture.ts';
import { AUDIO, closers, world } from './http-batch-world.ts';

/** A provider of bare TCP: it says these bytes when a request has come. */
async function rawUrl(say: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => say(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe('a provider that', () => {
  const text =
    (body: string, type: string, status = 200): Answer =>
    (response) =>
      response.writeHead(status, { 'content-type': type }).end(body);

  it.each<[string, Answer, object]>([
    ['answers 500', answer({}, 500), { kind: 'retry', reason: 'connect_failed', code: 'http_500' }],
    ['answers 401', answer({}, 401), { kind: 'account', code: 'http_401' }],
    ['answers 400', answer({}, 400), { kind: 'caller', code: 'http_400' }],
    ['answers 429', answer({}, 429, { 'retry-after': '7' }), { kind: 'next', code: 'http_429', retryAfterMs: 7_000 }],
    ['sends elsewhere', answer({}, 302, { location: '/elsewhere' }), { kind: 'next', code: 'http_302' }],
    ['answers 200 with a page', text('<html>', 'text/html; charset=utf-8'), { kind: 'next', code: 'bad_answer' }],
    ['answers 200 with half a JSON', text('{"text":"he', 'application/json'), { kind: 'next', code: 'bad_answer' }],
    ['hangs up instead', (response) => response.destroy(), { kind: 'retry', reason: 'upstream_closed' }],
    [
      'hangs up within its answer',
      (response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('{"te', () => response.destroy());
      },
      { kind: 'retry', reason: 'upstream_closed' },
    ],
    [
      'has larger headers than there may be',
      answer({}, 200, { 'x-large': 'x'.repeat(20_000) }),
      { kind: 'next', code: 'bad_answer' },
    ],
    [
      'answers without an end',
      (response) => {
        const piece = Buffer.alloc(1_048_576, ' ');
        const more = () => response.write(piece, (error) => (error ? undefined : more()));
        more();
      },
      { kind: 'next', code: 'bad_answer' },
    ],
    [
      'refuses without an end',
      (response) => {
        response.writeHead(503);
        const more = () => response.write('x'.repeat(1_000), (error) => (error ? undefined : more()));
        more();
      },
      { kind: 'retry', code: 'http_503' },
    ],
  ])('%s causes a failure', async (_, said, expected) => {
    const made = await world([said]);
    const failure = await made.failure();
    expect(failure).toMatchObject(expected);
    expect(failure.message).not.toContain('127.0.0.1');
    expect(made.provider.arrived).toHaveLength(1);
    await made.expectNothingLeft();
  });

  it('rejects the connection causes a failure at once, without an address', async () => {
    const made = await world();
    await made.provider.close();
    const failure = await made.failure();
    expect(failure).toMatchObject({ kind: 'next', reason: 'connect_failed', code: 'unreachable' });
    expect(failure.message).toBe('The provider could not be reached (ECONNREFUSED).');
  });

  it.each([
    ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'bad_answer'],
    ['says a line that is none', 'HTTP/1.1 two hundred\r\n\r\n', 'bad_answer'],
  ])('%s causes a failure', async (_, bytes, code) => {
    const made = await world();
    const url = await rawUrl((socket) => socket.write(bytes));
    await expect(made.run(scriptedCodec(), undefined, {}, { baseUrl: url })).rejects.toMatchObject({
      failure: { code },
    });
  });

  it.each<[string, Answer]>([
    ['never answers', () => {}],
    ['never continues its answer', (response) => response.write('{')],
  ])('%s causes a failure when its time is over, and not before', async (_, said) => {
    const made = await world([said]);
    const failed = made.failure(scriptedCodec({ answerMs: 30_000 }));
    await made.provider.until(() => made.provider.arrived.length === 1);
    const over = { now: false };
    void failed.then(() => {
      over.now = true;
    });
    made.clock.increment(29_000);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(over.now).toBe(false);
    while (!over.now) {
      made.clock.increment(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await failed).toMatchObject({ kind: 'next', reason: 'stalled', code: 'answer_timeout' });
    await made.expectNothingLeft();
  });

  it('trickles its answer gets no more time than a silent one', async () => {
    const trickle = (response: ServerResponse) => {
      const more = () => setImmediate(() => response.destroyed || response.write(' ', more));
      response.write('{', more);
    };
    const made = await world([trickle]);
    const failed = made.failure(scriptedCodec({ answerMs: 30_000 }));
    const over = { now: false };
    void failed.then(() => {
      over.now = true;
    });
    await made.provider.until(() => made.provider.arrived.length === 1);
    for (let turn = 0; turn < 2_000 && !over.now; turn++) {
      made.clock.increment(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(over.now).toBe(true);
    expect(await failed).toMatchObject({ kind: 'next', code: 'answer_timeout' });
    await made.expectNothingLeft();
  });

  it('trickles the body of its refusal is abandoned soon', async () => {
    const made = await world([(response) => response.writeHead(400).write('{"error":')]);
    const failed = made.failure(scriptedCodec({ codec: { refused: (_, { body }) => ({ ...CALLER, message: body }) } }));
    const over = { now: false };
    void failed.then(() => {
      over.now = true;
    });
    while (!over.now) {
      made.clock.increment(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await failed).toMatchObject({ kind: 'caller', message: '{"error":' });
    await made.expectNothingLeft();
  });

  it('refuses before it has read the file is still read', async () => {
    const made = await world();
    made.provider.early = (_, response) => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
      return true;
    };
    async function* forever() {
      yield AUDIO;
      await new Promise(() => {});
    }
    expect(await made.failure(scriptedCodec(), forever)).toMatchObject({ kind: 'account', code: 'http_401' });
    await made.expectNothingLeft();
  });

  it.each<[string, CodecOptions]>([
    ['in its refusal', { codec: { refused: (_, { body }) => ({ ...CALLER, message: body }) } }],
    ['as the status', {}],
  ])('quotes the credential %s is kept from the client', async (_, options) => {
    const made = await world([text(`Key ${SECRET} is wrong, ${SECRET}!`, 'text/plain', 400)]);
    const failure = await made.failure(scriptedCodec(options));
    expect(JSON.stringify(failure)).not.toContain(SECRET);
  });

  it('quotes the credential in a failure or a warning of a 200 is too', async () => {
    const quoting = (step: 'failed' | 'done'): Partial<HttpBatchCodec> => ({
      read: () =>
        step === 'failed'
          ? { type: 'failed', failure: { ...CALLER, message: SECRET } }
          : {
              type: 'done',
              result: {
                utterances: [],
                language: undefined,
                seconds: 1,
                warnings: [{ code: 'odd', message: `odd ${SECRET}` }],
              },
            },
    });
    const made = await world();
    expect(await made.failure(scriptedCodec({ codec: quoting('failed') }))).toMatchObject({ message: '[redacted]' });
    expect(await made.run(scriptedCodec({ codec: quoting('done') }))).toMatchObject({
      warnings: [{ message: 'odd [redacted]' }],
    });
  });

  it('meets a throwing codec causes an internal fault, and the job continues elsewhere', async () => {
    const made = await world();
    const throwing = () => {
      throw new Error('A fault of the codec.');
    };
    expect(await made.failure(scriptedCodec({ codec: { begin: throwing } }))).toMatchObject({ code: 'internal_fault' });
    expect(await made.failure(scriptedCodec({ codec: { read: throwing } }))).toMatchObject({ code: 'bad_answer' });
    made.provider.answers = [answer({}, 500)];
    expect(await made.failure(scriptedCodec({ codec: { refused: throwing } }))).toMatchObject({ code: 'http_500' });
    expect(made.faults).toEqual(['codec.begin', 'codec.read', 'codec.refused']);
  });
});

const CALLER = { kind: 'caller', reason: 'upstream_error', code: 'refused', message: '' } as const;

describe('an error of the network', () => {
  it.each([
    ['UND_ERR_CONNECT_TIMEOUT', 'connect_timeout', 'next'],
    ['ETIMEDOUT', 'connect_timeout', 'next'],
    ['ECONNRESET', 'upstream_closed', 'retry'],
    ['EPIPE', 'upstream_closed', 'retry'],
    ['ENOTFOUND', 'connect_failed', 'next'],
    ['CERT_HAS_EXPIRED', 'connect_failed', 'next'],
    ['UND_ERR_INVALID_ARG', 'upstream_error', 'next'],
    [undefined, 'upstream_error', 'next'],
  ])('%s is %s, %s', (code, reason, kind) => {
    const error = Object.assign(new Error('connect to 10.0.0.1:443'), code === undefined ? {} : { code });
    expect(networkFailure(error)).toMatchObject({ reason, kind });
    expect(networkFailure(error).message).not.toContain('10.0.0.1');
  });
});
