// The server adapters' suite, part eight: sockets that send faster than their pace. What can wait, waits unread; what has no end is told of
// and left unread; and a socket that is no more listened to is let go of, however much it sends.
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import type { SocketHandlers, SocketPace } from '../../../src/http/server.ts';
import { SocketPaces } from '../../../src/live/pace/socket-pace.ts';
import { clientFrame, OPCODE, type RawSocket, turns } from '../../fakes/raw-socket.ts';
import {
  type AdapterUnderTest,
  type Event,
  MESSAGE_BYTES_MAX,
  nextMessage,
  rawSocket,
  recordingHandlers,
  Signal,
  start,
  webSocket,
} from './fixture.ts';

/** A pace that answers as it is told to, and records what it was asked. */
class ToldPace implements SocketPace {
  waitMs = 0;
  readonly asked: [bytes: number, isAudio: boolean][] = [];
  exceededCount = 0;
  hasPlace = true;
  granted: () => void = () => {};
  readonly gathered: ('enter' | 'leave')[] = [];
  pieces = 0;
  canWait: boolean | undefined;
  onExceeded: () => void = () => {};

  take(bytes: number, isAudio: boolean, canWait: boolean): number {
    this.asked.push([bytes, isAudio]);
    this.canWait = canWait;
    return this.waitMs;
  }
  fragments(count: number): number {
    this.pieces += count;
    return 0;
  }
  owedMs(): number {
    return this.waitMs;
  }
  enter(granted: () => void): boolean {
    this.gathered.push('enter');
    this.granted = granted;
    return this.hasPlace;
  }
  leave(): void {
    this.gathered.push('leave');
  }
  isLarge = true;
  mayBeLarge(): boolean {
    return this.isLarge;
  }
  exceeded(): void {
    this.exceededCount++;
    this.onExceeded();
  }
}

export function floodSuite(under: AdapterUnderTest): void {
  describe('a socket with a pace', () => {
    const paced = async () => {
      const events = new Signal<Event>();
      const pace = new ToldPace();
      const started = await start(under, { upgrade: async () => ({ accept: recordingHandlers(events), pace }) });
      const client = await rawSocket(started.port);
      await client.handshake('/');
      const { socket } = await events.next();
      return { ...started, events, pace, client, socket };
    };
    const until = async (client: RawSocket, happened: () => boolean) => {
      let isOver = false;
      void client.closed.then(() => {
        isOver = true;
      });
      while (!happened() && !isOver) await turns();
    };

    test('counts frames of each kind before they are parsed', async () => {
      const { client, events, pace, socket } = await paced();
      client.write(
        Buffer.concat([
          clientFrame(OPCODE.binary, 'four'),
          clientFrame(OPCODE.binary),
          clientFrame(OPCODE.text, 'x'),
          clientFrame(OPCODE.ping, 'hey'),
          clientFrame(OPCODE.pong, 'yo'),
        ]),
      );
      while ((await events.next()).type !== 'pong') {}
      expect(pace.asked).toEqual([
        [4, true],
        [0, true],
        [1, false],
        [3, false],
        [2, false],
      ]);
      expect((await client.frame()).opcode).toBe(OPCODE.pong);
      expect([socket.heldBack, pace.exceededCount]).toEqual([false, 0]);
    });

    // A server that cannot pause counts none: pieces of messages cost its library next to nothing.
    test.skipIf(under.gaps.readsOn)('counts the fragments of its messages as well', async () => {
      const { client, events, pace } = await paced();
      const pieces = [
        clientFrame(OPCODE.binary, '', { fin: false }),
        ...Array.from({ length: 998 }, () => clientFrame(OPCODE.continuation, '', { fin: false })),
        clientFrame(OPCODE.continuation, 'x'),
      ];
      const messages = 30;
      client.write(Buffer.concat(Array.from({ length: messages }, () => pieces).flat()));
      for (let message = 0; message < messages; message++) await events.next();
      // Less what may still have been on its way.
      expect([pace.pieces > 0.5 * messages * 1_000, pace.pieces < messages * 1_000]).toEqual([true, true]);
      const large = clientFrame(OPCODE.binary, Buffer.alloc(1_000_000));
      pace.pieces = 0;
      for (let message = 0; message < 5; message++) {
        client.write(large);
        await events.next();
      }
      expect(pace.pieces).toBe(0);
    });

    test(
      under.gaps.readsOn
        ? 'reads frames at excess speed (known gap)'
        : 'leaves excess frames unread until their time, and loses none',
      async () => {
        const { client, events, pace, socket, port } = await paced();
        pace.waitMs = 60_000;
        client.write(clientFrame(OPCODE.binary, 'first'));
        await events.next();
        expect([pace.canWait, socket.heldBack]).toEqual([!under.gaps.readsOn, !under.gaps.readsOn]);
        await client.writeApart([clientFrame(OPCODE.binary, 'second')]);
        // Others are read meanwhile.
        const other = await webSocket(port);
        other.send('other');
        if (!under.gaps.readsOn) {
          const { data } = (await events.next()) as Event & { type: 'open' | 'message'; data?: Buffer };
          expect(String(data ?? 'open')).toBe('open');
          return;
        }
        expect(await events.next()).toMatchObject({ data: Buffer.from('second') });
      },
    );

    // A server that cannot see a message before it is whole gathers all of them.
    test.skipIf(under.gaps.gathersAll)(
      'gathers a large message when it has a place for it, in one piece or in many',
      async () => {
        const { client, events, pace, socket } = await paced();
        const half = Buffer.alloc(700_000, 'x');
        pace.hasPlace = false;
        client.write(clientFrame(OPCODE.binary, half, { fin: false }));
        client.write(clientFrame(OPCODE.ping, 'between'));
        client.write(clientFrame(OPCODE.continuation, half));
        client.write(clientFrame(OPCODE.text, 'behind'));
        while (!socket.heldBack) await turns();
        await turns(40);
        expect([events.left, pace.gathered]).toEqual([[], ['enter']]);
        pace.granted();
        expect(await events.next()).toMatchObject({ type: 'message', data: { length: 1_400_000 } });
        expect(await events.next()).toMatchObject({ type: 'message', data: Buffer.from('behind') });
        expect([pace.gathered, socket.heldBack]).toEqual([['enter', 'leave'], false]);
        pace.hasPlace = true;
        client.write(clientFrame(OPCODE.binary, Buffer.alloc(1_200_000)));
        expect(await events.next()).toMatchObject({ data: { length: 1_200_000 } });
        expect(pace.gathered).toEqual(['enter', 'leave', 'enter', 'leave']);
      },
    );

    // What such a server does instead.
    test.skipIf(!under.gaps.gathersAll)('accepts messages up to 1 MiB where it may have no large ones', async () => {
      const events = new Signal<Event>();
      const isLarge = [true, false, false];
      const upgrade = async () => ({
        accept: recordingHandlers(events),
        pace: Object.assign(new ToldPace(), { isLarge: isLarge.shift() }),
      });
      const { port } = await start(under, { upgrade }, { messageBytesMax: 4 * MESSAGE_BYTES_MAX });
      const sent = async (bytes: number) => {
        const client = await webSocket(port);
        await events.next();
        client.send(Buffer.alloc(bytes));
        return events.next();
      };
      expect(await sent(3 * MESSAGE_BYTES_MAX)).toMatchObject({ data: { length: 3 * MESSAGE_BYTES_MAX } });
      // Up to twice as much is handed on, so that the host can say why it is refused.
      expect(await sent(2 * MESSAGE_BYTES_MAX)).toMatchObject({ data: { length: 2 * MESSAGE_BYTES_MAX } });
      expect(await sent(2 * MESSAGE_BYTES_MAX + 1)).toMatchObject({ type: 'closed', code: 1009 });
    });

    // As above.
    test.skipIf(under.gaps.gathersAll)('gives the place of a message back that is never whole', async () => {
      const { client, events, pace } = await paced();
      client.write(clientFrame(OPCODE.binary, Buffer.alloc(1_200_000)).subarray(0, 500_000));
      while (pace.gathered.length === 0) await turns();
      client.reset();
      expect(await events.next()).toMatchObject({ type: 'closed' });
      expect(pace.gathered).toEqual(['enter', 'leave']);
    });

    test.each([
      [100, 19_200],
      [32, 60_000],
      [1, 100_000],
    ])('delivers every frame of %i bytes sent at full speed', async (bytes, count) => {
      const excesses: string[] = [];
      const { limits } = loadConfig({}, { providers: [] });
      const pace = new SocketPaces(limits).open('org', (excess) => excesses.push(excess));
      const heard = new Signal<number>();
      let received = 0;
      const accept: SocketHandlers = {
        ...recordingHandlers(new Signal<Event>()),
        message: (_, data) => {
          received += data.byteLength;
          if (received === bytes * count) heard.add(received);
        },
      };
      const { port } = await start(under, { upgrade: async () => ({ accept, pace }) });
      const client = await rawSocket(port);
      await client.handshake('/');
      client.write(Buffer.concat(Array.from({ length: count }, () => clientFrame(OPCODE.binary, Buffer.alloc(bytes)))));
      const isOver = client.closed.then(() => 'closed');
      expect([await Promise.race([heard.next(), isOver]), excesses]).toEqual([bytes * count, []]);
    });

    test('reports an endless flood once, and reads no more', async () => {
      const { client, events, pace, socket } = await paced();
      pace.onExceeded = () => socket.close(4100, 'rate_limit_exceeded');
      pace.waitMs = Number.POSITIVE_INFINITY;
      client.write(Buffer.concat(Array.from({ length: 100 }, () => clientFrame(OPCODE.text, 'x'))));
      expect(await events.next()).toMatchObject({ type: 'closed', code: 4100 });
      const frame = await client.frame();
      expect([frame.opcode, frame.payload.readUInt16BE(0), frame.payload.subarray(2).toString()]).toEqual([
        OPCODE.close,
        4100,
        'rate_limit_exceeded',
      ]);
      expect([events.left, pace.exceededCount]).toEqual([[], 1]);
    });

    test('cuts off an endless flood that its host leaves open, and serves others', async () => {
      const { client, events, pace, port } = await paced();
      pace.waitMs = under.gaps.readsOn ? Number.POSITIVE_INFINITY : 0;
      if (!under.gaps.readsOn) pace.take = () => Number.POSITIVE_INFINITY;
      const other = await webSocket(port);
      const { socket: otherSocket } = await events.next();
      const frames = Buffer.concat(Array.from({ length: 25_000 }, () => clientFrame(OPCODE.text, 'x')));
      client.write(frames);
      await until(client, () => pace.exceededCount > 0);
      otherSocket.send('still here');
      expect(await nextMessage(other)).toBe('still here');
      if (!under.gaps.readsOn) return;
      expect(await events.next()).toMatchObject({ type: 'closed', code: 1006 });
      await client.closed;
    });
  });
}
