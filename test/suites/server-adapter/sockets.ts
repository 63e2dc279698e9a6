// The server adapters' suite, part three: WebSockets. Messages both ways, closes both ways, slow readers and handlers that throw.
import { describe, expect, test } from 'vitest';
import { type RawData, WebSocket } from 'ws';
import type { ServerSocket, SocketHandlers } from '../../../src/http/server.ts';
import { clientFrame, closePayload, OPCODE, turns } from '../../fakes/raw-socket.ts';
import {
  type AdapterUnderTest,
  digest,
  type Event,
  echoHandlers,
  MESSAGE_BYTES_MAX,
  nextMessage,
  rawSocket,
  recordingHandlers,
  Signal,
  start,
  webSocket,
} from './fixture.ts';

const KIBIBYTE = 1024;

export function socketSuite(under: AdapterUnderTest): void {
  /** A server whose sockets record what happens; `on` runs inside the handlers. */
  const recording = async (on?: (event: Event) => void) => {
    const events = new Signal<Event>();
    const started = await start(under, { upgrade: async () => ({ accept: recordingHandlers(events, on) }) });
    return { ...started, events };
  };
  const opened = async (events: Signal<Event>): Promise<ServerSocket> => {
    const event = await events.next();
    expect(event.type).toBe('open');
    return event.socket;
  };

  describe('a message', () => {
    test.each([0, 1, 125, 126, 65_535, 65_536, MESSAGE_BYTES_MAX])(
      'arrives with %i bytes and gets an answer, as text and as binary',
      async (bytes) => {
        const { port } = await start(under);
        const client = await webSocket(port);
        const text = 'ä'.repeat(bytes / 2).padEnd(bytes / 2 + (bytes % 2), 'z');
        client.send(text);
        expect((await nextMessage(client)) === text).toBe(true);
        const binary = Buffer.alloc(bytes, 'binary');
        client.send(binary);
        expect(await nextMessage(client)).toBe(`${bytes} ${digest(binary)}`);
      },
    );

    test('arrives whole byte by byte', async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      await socket.handshake('/');
      await socket.writeApart([...clientFrame(OPCODE.text, 'slöw')].map((byte) => Uint8Array.of(byte)));
      expect((await socket.frame()).payload.toString()).toBe('slöw');
    });

    test('arrives whole in fragments, with a ping answered in between', async () => {
      const { port } = await start(under);
      const socket = await rawSocket(port);
      await socket.handshake('/');
      await socket.writeApart([
        clientFrame(OPCODE.text, 'one ', { fin: false }),
        clientFrame(OPCODE.ping, 'hey'),
        clientFrame(OPCODE.continuation, '', { fin: false }),
        clientFrame(OPCODE.continuation, 'two'),
      ]);
      expect(await socket.frame()).toMatchObject({ opcode: OPCODE.pong, payload: Buffer.from('hey') });
      expect((await socket.frame()).payload.toString()).toBe('one two');
    });

    test('larger than the product’s limit is delivered up to twice the limit, so that the handler can say why', async () => {
      const { port, events } = await recording();
      const client = await webSocket(port);
      await opened(events);
      client.send(Buffer.alloc(2 * MESSAGE_BYTES_MAX));
      expect(await events.next()).toMatchObject({ type: 'message', data: { length: 2 * MESSAGE_BYTES_MAX } });
    });

    test('stays with the handler after the call when it is over 1 MiB', async () => {
      const taken = new Signal<Uint8Array>();
      const accept = { ...echoHandlers, message: (_: ServerSocket, data: Uint8Array) => taken.add(data) };
      const { port } = await start(under, { upgrade: async () => ({ accept }) });
      const client = await webSocket(port);
      const sent = [1, 2].map((fill) => Buffer.alloc(MESSAGE_BYTES_MAX + fill, fill));
      for (const message of sent) client.send(message);
      const kept = [await taken.next(), await taken.next()];
      expect(kept.map(digest)).toEqual(sent.map(digest));
    });

    test('sent in the same segment as a frame that closes is not delivered', async () => {
      const { port, events } = await recording(({ type, socket }) => {
        if (type === 'message') socket.close(1000, '');
      });
      const socket = await rawSocket(port);
      await socket.handshake('/');
      await opened(events);
      socket.write(
        Buffer.concat([clientFrame(OPCODE.text, '1'), clientFrame(OPCODE.text, '2'), clientFrame(OPCODE.text, '3')]),
      );
      expect((await events.next()).type).toBe('message');
      expect((await events.next()).type).toBe('closed');
      await turns();
      expect(events.left).toEqual([]);
    });
  });

  describe('a close', () => {
    test.each([
      ['with code and reason', closePayload(4321, 'bye'), 4321, 'bye'],
      ['with code 1000', closePayload(1000), 1000, ''],
      ['without a code', Buffer.alloc(0), 1005, ''],
    ])('reports and answers once when the client closes %s', async (_what, payload, code, reason) => {
      const { port, events } = await recording();
      const socket = await rawSocket(port);
      await socket.handshake('/');
      await opened(events);
      socket.write(clientFrame(OPCODE.close, payload));
      expect((await socket.frame()).opcode).toBe(OPCODE.close);
      socket.end();
      expect(await events.next()).toMatchObject({ type: 'closed', code, reason });
      await socket.closed;
      expect(events.left).toEqual([]);
    });

    test.each([
      ['RST', (client: { reset(): void }) => client.reset()],
      ['FIN', (client: { end(): void }) => client.end()],
    ] as const)('reports 1006 for %s', async (_how, leave) => {
      const { port, events } = await recording();
      const socket = await rawSocket(port);
      await socket.handshake('/');
      await opened(events);
      leave(socket);
      expect(await events.next()).toMatchObject({ type: 'closed', code: 1006 });
    });

    test('follows earlier messages when the host closes, and is reported with the host’s code', async () => {
      const { port, events } = await recording(({ type, socket }) => {
        if (type !== 'open') return;
        socket.send('last words');
        socket.close(4001, 'invalid_api_key');
      });
      const client = new WebSocket(`ws://127.0.0.1:${port}/`);
      const words = nextMessage(client);
      const closed = new Promise((resolve) =>
        client.once('close', (code, reason) => resolve([code, reason.toString()])),
      );
      expect(await words).toBe('last words');
      expect(await closed).toEqual([4001, 'invalid_api_key']);
      await opened(events);
      expect(await events.next()).toMatchObject({ type: 'closed', code: 4001, reason: 'invalid_api_key' });
      expect(events.left).toEqual([]);
    });

    test('gets reported outside any call', async () => {
      const order: string[] = [];
      const { port, events } = await recording(({ type, socket }) => {
        if (type === 'closed') order.push('closed');
        if (type !== 'message') return;
        socket.close(1000, '');
        order.push('close returned');
      });
      (await webSocket(port)).send('now');
      for (let seen = 0; seen < 3; seen++) await events.next();
      expect(order).toEqual(['close returned', 'closed']);
    });

    test.each([
      ['a reason too long is cut between characters', 4000, 'é'.repeat(100), 4000, 'é'.repeat(61)],
      ['a code that may not be sent becomes 1011', 1006, 'x', 1011, 'x'],
      ['a code that is none becomes 1011', 99_999, '', 1011, ''],
    ])('%s', async (_what, code, reason, sentCode, sentReason) => {
      const { port } = await recording(({ type, socket }) => {
        if (type === 'open') socket.close(code, reason);
      });
      const client = new WebSocket(`ws://127.0.0.1:${port}/`);
      const closed = await new Promise((resolve) => client.once('close', (got, why) => resolve([got, why.toString()])));
      expect(closed).toEqual([sentCode, sentReason]);
    });

    test('drops the client when it is abrupt', async () => {
      const { port, events } = await recording();
      const client = await webSocket(port);
      const socket = await opened(events);
      const closed = new Promise((resolve) => client.once('close', resolve));
      socket.terminate();
      expect([socket.closed, await closed]).toEqual([true, 1006]);
      expect(await events.next()).toMatchObject({ type: 'closed', code: 1006 });
    });

    test.each([
      ['closed by the host', (socket: ServerSocket) => socket.close(1000, '')],
      ['dropped by the host', (socket: ServerSocket) => socket.terminate()],
      ['left by the client', (_socket: ServerSocket, client: WebSocket) => client.terminate()],
    ])('leaves a socket %s on which every call is safe', async (_what, finish) => {
      const { port, events, faults } = await recording();
      const client = await webSocket(port);
      const socket = await opened(events);
      finish(socket, client);
      expect((await events.next()).type).toBe('closed');
      for (let time = 0; time < 2; time++) {
        expect([socket.send('x'), socket.closed, socket.bufferedBytes]).toEqual(['gone', true, 0]);
        socket.ping();
        socket.close(1000, '');
        socket.terminate();
      }
      await turns();
      expect([events.left, faults]).toEqual([[], []]);
    });
  });

  test('gets the client’s answer to a host ping, with its text', async () => {
    const { port, events } = await recording();
    await webSocket(port);
    const socket = await opened(events);
    for (const text of ['', '41']) {
      socket.ping(text);
      expect(await events.next()).toMatchObject({ type: 'pong', text });
    }
  });

  describe('a client that does not read', () => {
    /** Numbered messages of 64 KiB. */
    const numbered = (index: number) => String(index).padEnd(64 * KIBIBYTE, '.');
    const COUNT = 192;

    const flooded = async () => {
      const { port, events } = await recording();
      const client = await rawSocket(port);
      await client.handshake('/');
      client.pause();
      const socket = await opened(events);
      const outcomes = Array.from({ length: COUNT }, (_, index) => socket.send(numbered(index)));
      return { client, events, socket, outcomes, port };
    };
    const readAll = async (client: Awaited<ReturnType<typeof rawSocket>>) => {
      client.resume();
      for (let index = 0; index < COUNT; index++) {
        expect((await client.frame()).payload.toString('latin1', 0, 8)).toBe(numbered(index).slice(0, 8));
      }
    };

    test('receives what the network takes; the rest is counted, kept and sent in order', async () => {
      const { client, events, socket, outcomes } = await flooded();
      expect([outcomes[0], outcomes.at(-1)]).toEqual(['sent', 'queued']);
      expect(socket.bufferedBytes).toBeGreaterThan(1024 * KIBIBYTE);
      await readAll(client);
      expect((await events.next()).type).toBe('drained');
      expect(socket.bufferedBytes).toBe(0);
    });

    test('loses its connection, and never a message of it, to a host that sends on and on', async () => {
      const { client, events, socket } = await flooded();
      let sent = COUNT;
      while (socket.send(numbered(sent)) === 'queued') sent++;
      expect([socket.closed, sent * 64 * KIBIBYTE > 16 * 1024 * KIBIBYTE]).toEqual([true, true]);
      expect(await events.next()).toMatchObject({ type: 'closed', code: 1006 });
      client.resume();
      await client.closed;
    });

    test('loses its connection when it only pings', async () => {
      const { port, events } = await recording();
      const client = await rawSocket(port);
      await client.handshake('/');
      await opened(events);
      client.pause();
      const pings = Buffer.concat(Array.from({ length: 5_000 }, () => clientFrame(OPCODE.ping, 'p'.repeat(125))));
      let over = false;
      void client.closed.then(() => {
        over = true;
      });
      for (let megabytes = 0; megabytes < 60 && !over && events.left.length === 0; megabytes++)
        await client.writeApart([pings]);
      expect(await events.next()).toMatchObject({ type: 'closed', code: 1006 });
    });

    test('does not slow the others down', async () => {
      const { port } = await flooded();
      const other = await rawSocket(port);
      await other.handshake('/');
      other.write(clientFrame(OPCODE.ping, 'quick'));
      expect((await other.frame()).payload.toString()).toBe('quick');
    });

    test('gets what was queued before the close, then the close', async () => {
      const { client, events, socket } = await flooded();
      socket.close(4011, 'slow_consumer');
      expect([socket.closed, socket.send('more')]).toEqual([true, 'gone']);
      await readAll(client);
      expect((await client.frame()).payload).toEqual(closePayload(4011, 'slow_consumer'));
      expect(await events.next()).toMatchObject({ type: 'closed', code: 4011 });
    });

    test('can be dropped at once with any queue', async () => {
      const { client, events, socket } = await flooded();
      socket.close(4011, 'slow_consumer');
      socket.terminate();
      expect(await events.next()).toMatchObject({ type: 'closed', code: 1006 });
      client.resume();
      await client.closed;
    });
  });

  describe('a handler that throws', () => {
    const thrower = (name: keyof SocketHandlers): SocketHandlers => ({
      ...echoHandlers,
      [name]: () => {
        throw new Error(name);
      },
    });

    test.each(['open', 'message', 'pong'] as const)(
      'costs its own socket in %s: 1011, and the fault is reported',
      async (name) => {
        const { port, faults } = await start(under, {
          upgrade: async ({ path }) => ({ accept: path === '/bad' ? thrower(name) : echoHandlers }),
        });
        const other = await webSocket(port, '/good');
        const client = new WebSocket(`ws://127.0.0.1:${port}/bad`);
        const closed = new Promise((resolve) => client.once('close', (code) => resolve(code)));
        client.once('open', () => {
          client.send('x');
          client.pong();
        });
        expect([await closed, faults]).toEqual([1011, [new Error(name)]]);
        other.send('still here');
        expect(await nextMessage(other)).toBe('still here');
      },
    );

    test('only causes a report in closed', async () => {
      const faulted = new Signal<unknown>();
      const onFault = (error: unknown) => {
        faulted.add(error);
        return { status: 500 };
      };
      const { port } = await start(under, { upgrade: async () => ({ accept: thrower('closed') }) }, { onFault });
      (await webSocket(port)).close();
      expect(await faulted.next()).toEqual(new Error('closed'));
      const other = await webSocket(port);
      other.send('still here');
      expect(await nextMessage(other)).toBe('still here');
    });
  });

  describe('the server', () => {
    test('keeps its open sockets when it stops listening', async () => {
      const { server, port } = await start(under);
      const client = await webSocket(port);
      server.stopListening();
      client.send('still here');
      expect(await nextMessage(client)).toBe('still here');
    });

    test('drops its sockets on close, each reported before it has closed', async () => {
      const { server, port, events } = await recording();
      const clients = await Promise.all([webSocket(port), webSocket(port), webSocket(port)]);
      const dropped = clients.map((client) => new Promise((resolve) => client.once('close', resolve)));
      for (const _ of clients) await opened(events);
      await server.close();
      expect(events.left.map((event) => (event.type === 'closed' ? event.code : event.type))).toEqual([
        1006, 1006, 1006,
      ]);
      expect(await Promise.all(dropped)).toEqual([1006, 1006, 1006]);
    });

    test('lets each closed socket read its close, though all continue to send', async () => {
      const { server, port, events } = await recording();
      const clients = await Promise.all(Array.from({ length: 20 }, () => webSocket(port)));
      const sockets = await Promise.all(clients.map(() => opened(events)));
      const words = clients.map(nextMessage);
      const closed = clients.map((client) => new Promise((resolve) => client.once('close', resolve)));
      const goOn = () => {
        for (const client of clients) for (let frames = 0; frames < 50; frames++) client.send(Buffer.alloc(3200));
      };
      goOn();
      for (const socket of sockets) {
        socket.send('last words');
        socket.close(4200, 'node_draining');
      }
      const serverClosed = server.close();
      goOn();
      await serverClosed;
      expect(new Set(await Promise.all(words))).toEqual(new Set(['last words']));
      expect(new Set(await Promise.all(closed))).toEqual(new Set([4200]));
    });
  });

  test('answers a hundred sockets at once, each separately', async () => {
    const { port } = await start(under);
    const clients = await Promise.all(Array.from({ length: 100 }, () => webSocket(port)));
    const answers = clients.map((client) => new Promise<RawData>((resolve) => client.once('message', resolve)));
    for (const [index, client] of clients.entries()) client.send(`number ${index}`);
    expect((await Promise.all(answers)).map(String)).toEqual(clients.map((_, index) => `number ${index}`));
  });
}
