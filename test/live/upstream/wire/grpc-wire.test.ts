// A wire that is a gRPC call, against a real server of the same library: what is sent and said, how it ends, and what is left of it.
import { createServer, type Server as PlainServer } from 'node:net';
import { Metadata, Server, ServerCredentials, type ServerDuplexStream, type ServiceError, status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { openWire } from '../../../../src/live/upstream/wire/open-wire.ts';
import type { Wire } from '../../../../src/live/upstream/wire/wire.ts';
import { systemClock } from '../../../../src/runtime/telemetry/clock.ts';
import { formsOf } from '../../../../src/vendors/kit/grpc/messages.ts';
import { type GrpcEndpoint, type GrpcMethod, HALF_CLOSE } from '../../../../src/vendors/kit/provider.ts';
import { demandIn, demandText, SIMULATED_HEADER } from '../../../../src/vendors/kit/simulated-wire.ts';
import { WireLog } from '../../../suites/wire.suite.ts';

type Call = ServerDuplexStream<Buffer, Buffer>;

const method: GrpcMethod = {
  request: 'Request',
  response: 'Response',
  audio: 'audio',
  types: {
    Request: { fields: { name: { type: 'string', id: 1 }, audio: { type: 'bytes', id: 2 } } },
    Response: { fields: { text: { type: 'string', id: 1 }, count: { type: 'int64', id: 2 } } },
  },
};
const PATH = '/test.Service/Talk';
const asItIs = (bytes: Buffer): Buffer => bytes;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Serves calls, and gives where. */
async function serve(talk: (call: Call) => void): Promise<{ url: string; server: Server }> {
  const server = new Server();
  server.register(PATH, talk, asItIs, asItIs, 'bidi');
  const credentials = ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error))),
  );
  closing.push(() => server.forceShutdown());
  return { url: `http://127.0.0.1:${port}${PATH}`, server };
}

function open(url: string, more: Partial<GrpcEndpoint> = {}): { wire: Wire; log: WireLog } {
  const log = new WireLog();
  const endpoint: GrpcEndpoint = { kind: 'grpc', url, headers: {}, method, pingMs: undefined, ...more };
  const wire = openWire(endpoint, {}, log, systemClock);
  closing.push(() => wire.terminate());
  return { wire, log };
}

const fail = (call: Call, code: status, details: string, metadata = new Metadata()) =>
  call.emit('error', { code, details, metadata, name: '', message: details } satisfies ServiceError);

const forms = await formsOf(method);
const response = (message: object) => Buffer.from(forms.response.write({ ...message }));

describe('a gRPC wire', () => {
  it('sends messages and audio in order with metadata, receives answers, and ends once', async () => {
    const heard: unknown[] = [];
    const { url } = await serve((call) => {
      heard.push(call.metadata.get('x-key'));
      call.on('data', (bytes: Buffer) => heard.push(forms.request.read(bytes)));
      call.on('end', () => {
        call.write(response({ text: 'good bye', count: 0 }));
        call.end();
      });
      call.write(response({ text: 'hello' }));
    });
    const { wire, log } = open(url, { headers: { 'x-key': 'good' } });
    expect(log.lines).toEqual([]);
    await log.line(/opened/);
    wire.send({ name: 'me' });
    const frame = Uint8Array.of(1, 2);
    wire.send(frame);
    // The caller's buffer is its own again.
    frame.fill(0);
    wire.send('{"name":"text"}');
    await log.line(/hello/);
    wire.send(HALF_CLOSE);
    wire.send({ name: 'too late' });
    expect(await log.line(/closed/)).toBe('closed 1000');
    wire.close();
    wire.terminate();
    expect(heard).toEqual([['good'], { name: 'me' }, { audio: Buffer.of(1, 2) }, { name: 'text' }]);
    expect(log.lines.filter((line) => line !== 'drained')).toEqual([
      'opened',
      'message {"text":"hello"}',
      'message {"text":"good bye","count":0}',
      'closed 1000',
    ]);
    expect(wire.bufferedBytes).toBe(0);
  });

  it('counts as refused, in the form of HTTP, when it gets only a status', async () => {
    const later = new Metadata();
    later.set('retry-after', '7');
    const { url } = await serve((call) => fail(call, status.UNAUTHENTICATED, 'No token.', later));
    const { log } = open(url);
    const body = { error: { code: 401, status: 'UNAUTHENTICATED', message: 'No token.' } };
    expect(await log.line(/refused/)).toBe(`refused 401 ${JSON.stringify(body)}`);
    expect(log.lines).toHaveLength(2);
  });

  it.each([
    [status.OUT_OF_RANGE, 'Too long.', 'closed 4011 OUT_OF_RANGE: Too long.'],
    [status.UNAVAILABLE, 'Later.', 'closed 4014 UNAVAILABLE: Later.'],
  ])('closes with the status %i when it had an answer before', async (code, details, line) => {
    const { url } = await serve((call) => {
      call.write(response({ text: 'hello' }));
      call.on('data', () => fail(call, code, details));
    });
    const { wire, log } = open(url);
    await log.line(/hello/);
    wire.send({ name: 'me' });
    expect(await log.line(/closed/)).toBe(line);
    expect(log.lines.filter((each) => each !== 'drained')).toHaveLength(3);
  });

  it('injects a fault only where the other end declares itself simulated', async () => {
    for (const simulates of [true, false]) {
      const heard: unknown[] = [];
      const { url } = await serve((call) => {
        const metadata = new Metadata();
        if (simulates) metadata.set(SIMULATED_HEADER, 'test');
        call.sendMetadata(metadata);
        call.on('data', (bytes: Buffer) => {
          heard.push(demandIn(bytes) ?? forms.request.read(bytes).name);
          call.write(response({ text: 'heard' }));
        });
      });
      const { wire, log } = open(url);
      await log.line(simulates ? /simulated/ : /opened/);
      wire.breakDown('stall');
      wire.send({ name: 'first' });
      await log.line(/heard/);
      expect(heard[0]).toBe(simulates ? demandText('stall') : 'first');
      expect(log.lines.includes('simulated')).toBe(simulates);
    }
  });

  it('counts as refused by its status when it only began', async () => {
    const { url } = await serve((call) => {
      call.sendMetadata(new Metadata());
      fail(call, status.RESOURCE_EXHAUSTED, 'Later.');
    });
    expect(await open(url).log.line(/refused|closed/)).toContain('refused 429');
  });

  it('closes when its connection is lost', async () => {
    const { url, server } = await serve((call) => void call.write(response({ text: 'hello' })));
    const { log } = open(url);
    await log.line(/hello/);
    server.forceShutdown();
    expect(await log.line(/closed/)).toMatch(/closed 40(?:01|13|14)/);
  });

  it('passes on bytes that are not a message, and ends at one that is too large', async () => {
    const { url } = await serve((call) => {
      call.write(Buffer.of(10, 255));
      call.on('data', () => call.write(response({ text: 'x'.repeat(1_100_000) })));
    });
    const { wire, log } = open(url);
    expect(await log.line(/message/)).toBe('message 2');
    wire.send({ name: 'me' });
    expect(await log.line(/closed/)).toMatch(/closed 4008 RESOURCE_EXHAUSTED/);
  });

  it('counts what a server does not read, and says when it has read it', async () => {
    let reading: Call | undefined;
    const { url } = await serve((call) => {
      reading = call;
      call.write(response({ text: 'hello' }));
    });
    const { wire, log } = open(url);
    await log.line(/hello/);
    // More than what the library, the flow control of HTTP/2 and the network between take.
    for (let frame = 0; frame < 400; frame++) wire.send(new Uint8Array(32_000));
    await new Promise((resolve) => setImmediate(resolve));
    expect(wire.bufferedBytes).toBeGreaterThan(1_048_576);
    reading?.resume();
    await log.line(/drained/);
    expect(wire.bufferedBytes).toBe(0);
  });

  it('shows that the server lives, by asking it', async () => {
    const { url } = await serve(() => {});
    const { wire, log } = open(url);
    await log.line(/opened/);
    wire.ping();
    await log.line(/alive/);
  });

  it.each<[string, (log: WireLog) => unknown]>([
    ['as soon as it was made', () => {}],
    ['when it is open', (log) => log.line(/opened/)],
    ['in mid-stream', (log) => log.line(/hello/)],
  ])('reports nothing more when terminated %s, and leaves no connection', async (_, reach) => {
    const ended: Promise<void>[] = [];
    const { url, server } = await serve((call) => {
      ended.push(new Promise((resolve) => call.once('cancelled', () => resolve())));
      call.write(response({ text: 'hello' }));
    });
    const { wire, log } = open(url);
    await reach(log);
    const before = [...log.lines];
    wire.terminate();
    wire.terminate();
    wire.send({ name: 'me' });
    wire.ping();
    wire.close();
    await Promise.all(ended);
    // Resolves when no connection is open.
    await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    expect(log.lines).toEqual(before);
  });

  it('ends its requests when its holder closes it, and receives the end', async () => {
    const { url } = await serve((call) => {
      call.on('data', () => {});
      call.on('end', () => call.end());
    });
    const { wire, log } = open(url);
    await log.line(/opened/);
    wire.close();
    expect(await log.line(/closed/)).toBe('closed 1000');
  });

  it('reports unreachable where the port is closed, or another protocol is used', async () => {
    const { url, server } = await serve(() => {});
    server.forceShutdown();
    const plain: PlainServer = createServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    closing.push(() => plain.close());
    const { port } = plain.address() as { port: number };
    for (const where of [url, `https://127.0.0.1:${port}${PATH}`]) {
      const { log } = open(where);
      expect(await log.line(/unreachable|closed/)).toBe('unreachable The provider could not be reached.');
      expect(log.lines).toHaveLength(1);
    }
  });
});
