// The promises of the proxy that spoils connections, which other tests lean on: exact bytes, order, times, and clean ends.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { FaultProxy, type FaultProxyOptions, type ProxyConnection } from '../fakes/fault-proxy.ts';

/** A server that keeps what it is sent, and sends what the test tells it to. */
let server: Server;
let accepted: (socket: Socket) => void = () => {};
const sockets = new Set<Socket>();
beforeAll(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    accepted(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

let proxy: FaultProxy;
afterEach(async () => {
  await proxy.close();
  expect(proxy.connections).toBe(0);
});

interface Pair {
  client: Socket;
  server: Socket;
  connection: ProxyConnection;
}

/** Starts the proxy; `open` makes one connection through it. */
async function start(options: Omit<FaultProxyOptions, 'port'> = {}) {
  const { program } = options;
  let begun: ProxyConnection | undefined;
  proxy = await FaultProxy.start({
    ...options,
    port: (server.address() as AddressInfo).port,
    program: (connection) => {
      begun = connection;
      return program?.(connection);
    },
  });
  return async (): Promise<Pair> => {
    const arrived = new Promise<Socket>((resolve) => {
      accepted = resolve;
    });
    const client = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    return { client, server: await arrived, connection: begun as ProxyConnection };
  };
}

/** Everything that comes until the end, and whether it came in order. */
function collect(socket: Socket): Promise<{ bytes: Buffer; pieces: number; error: string | undefined }> {
  const pieces: Buffer[] = [];
  let error: string | undefined;
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.on('error', (problem: NodeJS.ErrnoException) => {
    error = problem.code;
  });
  return new Promise((resolve) => {
    const finish = () => resolve({ bytes: Buffer.concat(pieces), pieces: pieces.length, error });
    if (socket.readableEnded || socket.closed) finish();
    socket.once('end', finish);
    socket.once('close', finish);
  });
}

/** Resolves when so many bytes have come. */
function received(socket: Socket, count: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  return new Promise((resolve) => {
    const hear = (piece: Buffer) => {
      pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      if (bytes.length < count) return;
      socket.off('data', hear);
      resolve(bytes);
    };
    socket.on('data', hear);
  });
}

const numbered = (length: number) => Buffer.from(Uint8Array.from({ length }, (_, at) => at % 251));
/** Lets sockets of this process exchange what they have. */
const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('a fault proxy', () => {
  it('passes everything both ways without toxics, counts it, and passes each end on', async () => {
    const open = await start();
    const { client, server: far, connection } = await open();
    const [up, down] = [numbered(3_000_000), numbered(2_000_000)];
    const heard = [collect(far), collect(client)];
    client.end(up);
    far.end(down);
    const [there, back] = await Promise.all(heard);
    expect(there?.bytes.equals(up) && back?.bytes.equals(down)).toBe(true);
    expect(connection.passed).toEqual({ toServer: up.length, toClient: down.length });
    await connection.closed;
  });

  it('passes one end on while the other direction continues', async () => {
    const open = await start();
    const { client, server: far } = await open();
    client.end('question');
    expect((await collect(far)).bytes.toString()).toBe('question');
    far.end('answer');
    expect((await collect(client)).bytes.toString()).toBe('answer');
  });

  it('passes a reset on', async () => {
    const open = await start();
    const { client, server: far } = await open();
    far.resetAndDestroy();
    expect((await collect(client)).error).toBe('ECONNRESET');
  });

  it('passes an exact number of bytes with limit_data, at any split, and closes both sides', async () => {
    let limit = 0;
    let isUp = true;
    const open = await start({
      program: () => (isUp ? { toServer: { limitDataBytes: limit } } : { toClient: { limitDataBytes: limit } }),
    });
    const writes = fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(writes, fc.nat({ max: 1_000 }), fc.boolean(), async (sizes, permille, up) => {
        const all = numbered(sizes.reduce((sum, size) => sum + size, 0));
        limit = Math.floor((all.length * permille) / 1_000);
        isUp = up;
        const { client, server: far, connection } = await open();
        const [source, target] = up ? [client, far] : [far, client];
        const heard = collect(target);
        let at = 0;
        for (const size of sizes) {
          if (source.writable) source.write(all.subarray(at, at + size));
          at += size;
        }
        expect((await heard).bytes.equals(all.subarray(0, limit))).toBe(true);
        source.resume();
        await connection.closed;
        expect(connection.passed[up ? 'toServer' : 'toClient']).toBe(limit);
        client.destroy();
        far.destroy();
      }),
      { numRuns: 150 },
    );
  });

  it('resets both sides after a number of bytes with reset_peer', async () => {
    const open = await start({ program: () => ({ toServer: { resetPeerBytes: 5 } }) });
    const { client, server: far, connection } = await open();
    const heard = [collect(client), collect(far)];
    client.write('0123456789');
    expect((await Promise.all(heard)).map(({ error }) => error)).toEqual(['ECONNRESET', 'ECONNRESET']);
    expect(connection.passed).toEqual({ toServer: 5, toClient: 0 });
  });

  it('drops what follows a number of bytes with blackhole, while the other way works', async () => {
    const open = await start({ program: () => ({ toServer: { blackholeBytes: 5 } }) });
    const { client, server: far, connection } = await open();
    const pieces: Buffer[] = [];
    far.on('data', (piece: Buffer) => pieces.push(piece));
    const ended = once(far, 'end').then(() => 'ended');
    client.write('01234567');
    client.end('89');
    far.write('still here');
    expect((await received(client, 10)).toString()).toBe('still here');
    await turns();
    expect(await Promise.race([ended, turns().then(() => 'open')])).toBe('open');
    expect([Buffer.concat(pieces).toString(), connection.passed.toServer, proxy.connections]).toEqual(['01234', 5, 1]);
  });

  it('delays everything in order with latency, in one direction', async () => {
    const clock = new SimulatedClock();
    const open = await start({ clock, program: () => ({ toServer: { latencyMs: 100 } }) });
    const { client, server: far, connection } = await open();
    far.write('at once');
    await received(client, 7);
    client.write('first ');
    await turns();
    clock.increment(60);
    client.write('second');
    await turns();
    expect(connection.passed.toServer).toBe(0);
    const first = received(far, 6);
    clock.increment(40);
    expect((await first).toString()).toBe('first ');
    const second = received(far, 6);
    clock.increment(60);
    expect((await second).toString()).toBe('second');
  });

  it('passes a number of bytes per second with bandwidth', async () => {
    const clock = new SimulatedClock();
    const open = await start({ clock, program: () => ({ toClient: { bandwidth: 1_000, slicerBytes: 100 } }) });
    const { client, server: far, connection } = await open();
    client.resume();
    far.write(numbered(1_000));
    await turns();
    for (let tenth = 1; tenth <= 10; tenth++) {
      clock.increment(100);
      await turns();
      expect(connection.passed.toClient).toBe(tenth * 100);
    }
  });

  it('passes the same bytes in pieces with a slicer', async () => {
    const open = await start({ program: () => ({ toServer: { slicerBytes: 1 } }) });
    const { client, server: far } = await open();
    const heard = collect(far);
    client.end(numbered(300));
    const { bytes, pieces } = await heard;
    expect(bytes.equals(numbered(300))).toBe(true);
    expect(pieces).toBeGreaterThan(30);
  });

  it('passes the end on later with slow_close', async () => {
    const clock = new SimulatedClock();
    const open = await start({ clock, program: () => ({ toServer: { slowCloseMs: 500 } }) });
    const { client, server: far } = await open();
    const heard = collect(far);
    client.end('all');
    await turns();
    expect(far.readableEnded).toBe(false);
    clock.increment(500);
    expect((await heard).bytes.toString()).toBe('all');
  });

  it('holds no more than a megabyte of what it delays', async () => {
    const clock = new SimulatedClock();
    const open = await start({ clock, program: () => ({ toServer: { latencyMs: 1_000 } }) });
    const { client, server: far } = await open();
    const all = numbered(12_000_000);
    client.end(all);
    await turns(50);
    // What is beyond it waits in the sender.
    expect(client.writableLength).toBeGreaterThan(0);
    const heard = collect(far);
    let isOver = false;
    void heard.then(() => {
      isOver = true;
    });
    while (!isOver) {
      clock.increment(1_000);
      await turns(1);
    }
    expect((await heard).bytes.equals(all)).toBe(true);
  });

  it('resets open connections and rejects new ones while down', async () => {
    const open = await start();
    const { client } = await open();
    const heard = collect(client);
    await proxy.down();
    expect((await heard).error).toBe('ECONNRESET');
    const refused = connect(proxy.port, '127.0.0.1');
    await once(refused, 'error').then(([error]) => expect(error.code).toBe('ECONNREFUSED'));
    await proxy.up();
    const again = await open();
    again.client.end('back');
    expect((await collect(again.server)).bytes.toString()).toBe('back');
  });

  it('decides for each connection apart, numbered from one', async () => {
    const open = await start({
      program: ({ number }) => (number === 2 ? { toServer: { limitDataBytes: 3 } } : undefined),
    });
    const heard: string[] = [];
    for (let number = 1; number <= 3; number++) {
      const { client, server: far } = await open();
      client.end('0123456');
      heard.push((await collect(far)).bytes.toString());
      far.end();
      client.resume();
    }
    expect(heard).toEqual(['0123456', '012', '0123456']);
  });

  it('resets its clients when its target port is closed', async () => {
    const unused = createServer();
    await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve));
    const { port } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    proxy = await FaultProxy.start({ port });
    const client = connect(proxy.port, '127.0.0.1');
    expect((await collect(client)).error).toBe('ECONNRESET');
  });
});
