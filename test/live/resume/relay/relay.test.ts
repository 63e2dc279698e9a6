// The two ends of a relay: what is said reaches the other side whole and in order, or both are cut.
import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { BusError } from '../../../../src/cluster/bus/bus.ts';
import { MemoryBus } from '../../../../src/cluster/bus/memory.ts';
import { loadConfig } from '../../../../src/config/load.ts';
import { SocketPaces } from '../../../../src/live/pace/socket-pace.ts';
import { InFlightChunks } from '../../../../src/live/resume/relay/client-end.ts';
import { Relays } from '../../../../src/live/resume/relay/relays.ts';
import { OpenSockets } from '../../../../src/live/socket/open-sockets.ts';
import { WaitingWork } from '../../../../src/live/socket/socket-work.ts';
import { oneEnd, opened, PONG_MS, rig, SILENCE_MS, unansweredEnd } from './rig.ts';

const MIB = 1024 * 1024;

describe('a relay', () => {
  it('hands on audio, texts and pongs of the client in their order, large messages in pieces', () => {
    const { client, socket, heard } = opened();
    client.message(socket, new Uint8Array(600 * 1024), true);
    client.message(socket, Buffer.from('{"type":"close"}'), false);
    client.pong(socket, '7');
    const pieces = [...Array(9).fill('part 65536'), 'part 24576'];
    expect(heard).toEqual(['open', 'arriving 614400 binary', ...pieces, '{"type":"close"}', 'pong 7']);
  });

  it('passes its node’s message limit, if any, to the session', () => {
    const [large, small] = [rig(), rig()];
    small.pace.staySmall();
    for (const { client, socket } of [large, small]) client.open(socket);
    expect([large, small].map(({ session }) => session().messageBytesMax)).toEqual([undefined, MIB]);
  });

  it('hands on events, pings and the close of the session', async () => {
    const { session, said, heard } = opened();
    session().send('event');
    session().ping('3');
    session().close(1000, '');
    await Promise.resolve();
    expect(said).toEqual(['event', 'ping 3', 'close 1000']);
    expect(heard).toEqual(['open', 'drained', 'closed 1000']);
  });

  it('counts what the client has not read as unread by the session', () => {
    const { client, session, state, heard } = opened();
    state.bufferedBytes = 5;
    session().send('12345');
    expect(session().bufferedBytes).toBe(5);
    client.drained();
    expect([session().bufferedBytes, heard.at(-1)]).toEqual([0, 'drained']);
  });

  it('notifies the session when the client leaves', async () => {
    const { client, socket, heard } = opened();
    client.closed(socket, 1006);
    await Promise.resolve();
    expect(heard).toEqual(['open', 'closed 1006']);
  });

  it.each([
    ['a message is missing', { type: 'relay.here', number: 9 }],
    ['it is none that there is', { type: 'relay.other', number: 2 }],
  ])('cuts the session’s side when %s', async (_, body) => {
    const { client, end, forge, heard } = opened();
    forge(end.address, client.address, body);
    await Promise.resolve();
    expect(heard).toEqual(['open', 'closed 1006']);
  });

  it.each([
    ['a message is missing', { type: 'relay.cut', number: 9 }],
    ['it is none that there is', { type: 'relay.other', number: 1 }],
  ])('cuts the client’s side when %s', (_, body) => {
    const { client, end, forge, said } = opened();
    forge(client.address, end.address, body);
    expect(said).toEqual(['cut']);
  });

  it('accepts messages only from its other end', () => {
    const { client, end, forge, said, heard } = opened();
    forge(client.address, 'abcdef/other', { type: 'relay.cut', number: 1 });
    forge(end.address, 'abcdef/other', { type: 'relay.pong', number: 2 });
    expect([said, heard]).toEqual([[], ['open']]);
  });

  it('gives up when the client’s socket does not open in ten seconds', async () => {
    const { clock, heard } = rig();
    clock.increment(10_000);
    await Promise.resolve();
    expect(heard).toEqual(['closed 1006']);
  });

  it('cuts the client, which comes back, when the other node has been silent for too long', () => {
    const { clock, client, socket, said, session } = opened();
    clock.increment(SILENCE_MS - 1);
    session().ping();
    client.pong(socket, '');
    clock.increment(SILENCE_MS - 1);
    expect(said).toEqual(['ping']);
    clock.increment(1);
    expect(said).toEqual(['ping', 'cut']);
  });

  it('counts events that are on their way as unread beyond 1 MiB only', () => {
    const { end } = unansweredEnd();
    for (let at = 0; at < 40; at++) end.send('e'.repeat(MIB / 32));
    expect(end.bufferedBytes).toBe(MIB / 4);
  });

  it('hands on a large text whole, and announces one beyond all limits only', () => {
    const { client, socket, heard } = opened();
    client.message(socket, Buffer.alloc(MIB, 'a'), false);
    client.message(socket, Buffer.alloc(MIB + 1, 'b'), false);
    client.message(socket, Buffer.from('c'), false);
    expect(heard.map((each) => each.slice(0, 24))).toEqual([
      ...['open', 'arriving 1048576 text', 'a'.repeat(24), 'arriving 1048577 text', 'c'],
    ]);
    expect(heard[2]?.length).toBe(MIB);
  });

  it('notifies the session that a message arrives, and that the client sends too much', () => {
    const { client, socket, heard } = opened();
    client.arriving(socket, 5 * MIB, true);
    client.pace.exceeded();
    expect(heard).toEqual(['open', 'arriving 5242880 binary', 'exceeded messages']);
  });

  it('sends the client elsewhere when its node is shut down, and the session waits for it', async () => {
    const { client, socket, said, heard, isOver } = opened();
    client.leave();
    client.closed(socket, 1012);
    await Promise.resolve();
    expect([said, heard, isOver()]).toEqual([['close 1012'], ['open', 'closed 1012'], true]);
  });

  it('sends a client elsewhere whose socket opens behind that', () => {
    const { client, socket, said } = rig();
    client.leave();
    client.open(socket);
    expect(said).toEqual(['close 1012']);
  });

  it('cuts a socket that opens when the session cannot be reached any more', () => {
    const { client, end, socket, said } = rig();
    end.terminate();
    client.open(socket);
    expect(said).toEqual(['cut']);
  });
});

describe('a client that is silent', () => {
  const asked = (change: (all: ReturnType<typeof opened>) => void) => {
    const all = opened();
    all.session().ping();
    expect(all.session().watchesSilence).toBe(true);
    change(all);
    all.clock.increment(PONG_MS);
    return all.said;
  };

  it('loses its connection at its own node', () => expect(asked(() => {})).toEqual(['ping', 'cut']));

  it.each<[string, Parameters<typeof asked>[0]]>([
    ['answers', ({ client, socket }) => client.pong(socket, '')],
    ['sends audio', ({ client, socket }) => client.message(socket, new Uint8Array(2), true)],
    ['is in the middle of a large message', ({ client, socket }) => client.arriving(socket, 2 * MIB, true)],
    ['is not read for the moment', ({ state }) => Object.assign(state, { heldBack: true })],
    ['is watched by the library', ({ state }) => Object.assign(state, { watchesSilence: true })],
  ])('stays connected when it %s', (_, change) => expect(asked(change)).toEqual(['ping']));

  it('leaves the timeout to the session where its own node does not answer', () => {
    const { end } = unansweredEnd();
    end.ping();
    expect(end.watchesSilence).toBe(false);
  });
});

describe('a client whose session takes nothing for now', () => {
  const UNDER_WAY_BYTES = 256 * 1024;
  const slow = (bytesMax?: number) => {
    const all = oneEnd(bytesMax);
    all.client.open(all.socket);
    all.client.message(all.socket, new Uint8Array(2 * MIB), true);
    return all;
  };
  const audio = (heard: ReturnType<typeof oneEnd>['heard']) =>
    heard.filter(({ type }) => type === 'relay.part').reduce((sum, { bytes }) => sum + bytes, 0);
  const takeAll = ({ heard, say }: ReturnType<typeof slow>) => {
    for (let taken = 0; taken < audio(heard); taken += UNDER_WAY_BYTES)
      say({ type: 'relay.part_taken', count: UNDER_WAY_BYTES });
  };

  it('keeps a quarter of a MiB in flight, and stays unread above 1 MiB of backlog', () => {
    const { client, heard, waiting } = slow();
    expect([audio(heard), waiting.bytes]).toEqual([UNDER_WAY_BYTES, 2 * MIB - UNDER_WAY_BYTES]);
    expect(client.pace.take(1, true, true)).toBeGreaterThanOrEqual(20);
    expect(client.pace.owedMs()).toBeGreaterThanOrEqual(20);
    expect(client.pace.take(1, true, false)).toBe(0);
  });

  it('continues as that is taken, with small messages in their place', () => {
    const all = slow();
    const small = Buffer.from('text');
    all.client.message(all.socket, small, false);
    small.fill(0);
    takeAll(all);
    const { clock, client, heard, waiting } = all;
    expect([audio(heard), heard.at(-1)?.type, heard.at(-1)?.bytes]).toEqual([2 * MIB, 'relay.text', 4]);
    clock.increment(1_000);
    expect([client.pace.take(1, true, true), waiting.bytes]).toEqual([0, 0]);
  });

  it('leaves when everything it sent is passed on', () => {
    const all = slow();
    all.client.closed(all.socket, 1000);
    expect([all.heard.at(-1)?.type, all.isOver()]).toEqual(['relay.part', false]);
    takeAll(all);
    expect([audio(all.heard), all.heard.at(-1)?.type, all.isOver()]).toEqual([2 * MIB, 'relay.closed', true]);
  });

  it('leaves as well when its session ends, or falls silent', () => {
    for (const end of [
      ({ client, socket, say }: ReturnType<typeof slow>) => {
        say({ type: 'relay.close', code: 4000, reason: '' });
        client.closed(socket, 4000);
      },
      ({ client, clock, socket }: ReturnType<typeof slow>) => {
        client.closed(socket, 1000);
        clock.increment(SILENCE_MS);
      },
    ]) {
      const all = slow();
      end(all);
      expect([all.isOver(), all.waiting.bytes]).toEqual([true, 0]);
    }
  });

  it('gets disconnected when it keeps sending where it cannot be paused', () => {
    const { client, socket, said, drops } = slow();
    client.message(socket, new Uint8Array(64 * MIB), true);
    expect(said).toEqual([]);
    client.message(socket, new Uint8Array(64 * MIB), true);
    expect([said, drops()]).toEqual([['close 1013'], 1]);
  });

  it('gets disconnected where all sockets hold too much, and frees its share', () => {
    const { client, socket, said, waiting, isOver, drops } = slow(MIB);
    expect([said, waiting.bytes, drops()]).toEqual([['close 1013'], 0, 1]);
    client.closed(socket, 1013);
    expect(isOver()).toBe(true);
  });
});

describe('a session whose node does not answer', () => {
  const relaysTo = (reason: BusError['reason'], isThere: boolean) => {
    const bus = new MemoryBus();
    bus.requestOf = () => Promise.reject(new BusError(reason, 'No.'));
    const clock = new SimulatedClock();
    const service = { name: 'resume', shape: Type.Object({}), find: () => 'gone' as const };
    const settings = { pingMs: 1_000, pongMs: 1_000, drainMs: 1_000 };
    const sockets = new OpenSockets();
    const isNodeThere = () => isThere;
    const relays = new Relays(
      {
        bus,
        clock,
        settings,
        sockets,
        isNodeThere,
        waiting: new WaitingWork(),
        parts: new InFlightChunks(),
        onRelayDrop: () => {},
      },
      service,
    );
    const paces = new SocketPaces(loadConfig({}, { providers: [] }).limits, () => clock.now());
    const join = () => relays.join('other', { type: 'ask' }, { organisationId: 'org', paces });
    return { relays, join };
  };
  const joined = (...how: Parameters<typeof relaysTo>) => relaysTo(...how).join();

  it('gets no request where this node is shutting down', async () => {
    const { relays, join } = relaysTo('timeout', true);
    await relays.drain();
    await expect(join()).rejects.toMatchObject({ code: 'node_draining' });
  });

  it.each([
    ['disconnected', false],
    ['timeout', true],
  ] as const)('leads to a retry where it may still exist (%s)', async (reason, isThere) => {
    await expect(joined(reason, isThere)).rejects.toMatchObject({ code: 'overloaded' });
  });

  it.each([
    ['unknown_node', true],
    ['unknown_actor', true],
    ['timeout', false],
  ] as const)('counts as gone where that is known (%s)', async (reason, isThere) => {
    await expect(joined(reason, isThere)).resolves.toBe('gone');
  });
});
