// The two ends of a relay: what is said reaches the other side whole and in order, or both are cut.
import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { type Address, BusError } from '../../src/bus/bus.ts';
import { MemoryBus } from '../../src/bus/memory.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { DoorSocket, SocketHandlers } from '../../src/edge/door.ts';
import { OpenSockets } from '../../src/edge/listen/open-sockets.ts';
import { SocketPaces } from '../../src/edge/pace/socket-pace.ts';
import { ClientEnd } from '../../src/edge/resume/relay/client-end.ts';
import { Relays } from '../../src/edge/resume/relay/relays.ts';
import { SessionEnd } from '../../src/edge/resume/relay/session-end.ts';

const SILENCE_MS = 30_000;
const MIB = 1024 * 1024;

function rig() {
  const clock = new SimulatedClock();
  const bus = new MemoryBus();
  const heard: string[] = [];
  let session: DoorSocket | undefined;
  const handlers: SocketHandlers = {
    open: (socket) => {
      session = socket;
      heard.push('open');
    },
    message: (_, data, isBinary) => heard.push(isBinary ? `audio ${data.byteLength}` : Buffer.from(data).toString()),
    pong: () => heard.push('pong'),
    drained: () => heard.push('drained'),
    closed: (_, code) => heard.push(`closed ${code}`),
  };
  const paces = new SocketPaces(loadConfig({}, { providers: [] }).limits, () => clock.now());
  const client = new ClientEnd({
    ...{ bus, clock, actorId: 'client', silenceMs: SILENCE_MS, sockets: new OpenSockets() },
    openPace: (exceeded) => paces.open('org', exceeded),
    exceeded: () => heard.push('exceeded'),
  });
  const end = new SessionEnd({ bus, clock, actorId: 'session', client: client.address, handlers });
  client.meet(end.address);
  const said: string[] = [];
  const socket = {
    send: (text: string) => {
      said.push(text);
      return state.isSlow ? 'queued' : 'sent';
    },
    ping: () => said.push('ping'),
    close: (code: number, reason: string) => said.push(`close ${code} ${reason}`),
    terminate: () => said.push('cut'),
  } as unknown as DoorSocket;
  const state = { isSlow: false };
  /** As if the other end had said it. */
  const forge = (to: Address, from: Address, body: { type: string; number: number }) => bus.send(to, from, body);
  return { clock, client, end, socket, said, heard, state, forge, session: () => session as DoorSocket };
}

function opened() {
  const all = rig();
  all.client.open(all.socket);
  return all;
}

describe('a relay', () => {
  it('hands on audio, texts and pongs of the client in their order, large messages in pieces', () => {
    const { client, socket, heard } = opened();
    client.message(socket, new Uint8Array(600 * 1024), true);
    client.message(socket, Buffer.from('{"type":"close"}'), false);
    client.pong();
    expect(heard).toEqual(['open', 'audio 262144', 'audio 262144', 'audio 90112', '{"type":"close"}', 'pong']);
  });

  it('hands on events, pings and the close of the session', async () => {
    const { session, said, heard } = opened();
    session().send('event');
    session().ping();
    session().close(1000, '');
    await Promise.resolve();
    expect(said).toEqual(['event', 'ping', 'close 1000 ']);
    expect(heard).toEqual(['open', 'drained', 'closed 1000']);
  });

  it('counts what the client has not read as unread by the session', () => {
    const { client, session, state, heard } = opened();
    state.isSlow = true;
    session().send('12345');
    expect(session().bufferedBytes).toBe(5);
    client.drained();
    expect([session().bufferedBytes, heard.at(-1)]).toEqual([0, 'drained']);
  });

  it('tells the session when the client is gone', async () => {
    const { client, socket, heard } = opened();
    client.closed(socket, 1006);
    await Promise.resolve();
    expect(heard).toEqual(['open', 'closed 1006']);
  });

  it.each([
    ['a message is missing', { type: 'relay.pong', number: 9 }],
    ['it is none that there is', { type: 'relay.other', number: 2 }],
  ])('is cut on the side of the session when %s', async (_, body) => {
    const { client, end, forge, heard } = opened();
    forge(end.address, client.address, body);
    await Promise.resolve();
    expect(heard).toEqual(['open', 'closed 1006']);
  });

  it.each([
    ['a message is missing', { type: 'relay.ping', number: 9 }],
    ['it is none that there is', { type: 'relay.other', number: 1 }],
  ])('is cut on the side of the client when %s', (_, body) => {
    const { client, end, forge, said } = opened();
    forge(client.address, end.address, body);
    expect(said).toEqual(['cut']);
  });

  it('hears nobody but its other end', () => {
    const { client, end, forge, said, heard } = opened();
    forge(client.address, 'abcdef/other', { type: 'relay.cut', number: 1 });
    forge(end.address, 'abcdef/other', { type: 'relay.pong', number: 2 });
    expect([said, heard]).toEqual([[], ['open']]);
  });

  it('is given up when the client’s socket does not open in ten seconds', async () => {
    const { clock, heard } = rig();
    clock.increment(10_000);
    await Promise.resolve();
    expect(heard).toEqual(['closed 1006']);
  });

  it('cuts the client, which comes back, when the other node has been silent for too long', () => {
    const { clock, said, session } = opened();
    clock.increment(SILENCE_MS - 1);
    session().ping();
    clock.increment(SILENCE_MS - 1);
    expect(said).toEqual(['ping']);
    clock.increment(1);
    expect(said).toEqual(['ping', 'cut']);
  });

  it('does not read the client while more than 1 MiB is under way, and cuts one that cannot be made to wait', () => {
    const { clock, client, end, socket, said } = opened();
    end.terminate();
    said.length = 0;
    client.message(socket, new Uint8Array(2 * MIB), true);
    clock.increment(60_000);
    said.length = 0;
    expect(client.pace.take(1, true, true)).toBeGreaterThanOrEqual(20);
    expect(client.pace.owedMs()).toBeGreaterThanOrEqual(20);
    expect(client.pace.take(1, true, false)).toBe(0);
    client.message(socket, new Uint8Array(63 * MIB), true);
    expect(said).toEqual(['cut']);
  });

  it('reads on when what was under way is taken', () => {
    const { clock, client, socket } = opened();
    client.message(socket, new Uint8Array(2 * MIB), true);
    clock.increment(1_000);
    expect(client.pace.take(1, true, true)).toBe(0);
  });
});

describe('a session whose node does not answer', () => {
  const joined = (reason: BusError['reason'], isThere: boolean) => {
    const bus = new MemoryBus();
    bus.requestOf = () => Promise.reject(new BusError(reason, 'No.'));
    const clock = new SimulatedClock();
    const service = { name: 'resume', shape: Type.Object({}), find: () => 'gone' as const };
    const settings = { pingMs: 1_000, pongMs: 1_000 };
    const sockets = new OpenSockets();
    const relays = new Relays({ bus, clock, settings, sockets, isNodeThere: () => isThere }, service);
    const paces = new SocketPaces(loadConfig({}, { providers: [] }).limits, () => clock.now());
    return relays.join('other', { type: 'ask' }, { organisationId: 'org', paces, exceeded: () => {} });
  };

  it.each([
    ['disconnected', false],
    ['timeout', true],
  ] as const)('is asked for again where it may be there still (%s)', async (reason, isThere) => {
    await expect(joined(reason, isThere)).rejects.toMatchObject({ code: 'overloaded' });
  });

  it.each([
    ['unknown_node', true],
    ['unknown_actor', true],
    ['timeout', false],
  ] as const)('is gone where that is known (%s)', async (reason, isThere) => {
    await expect(joined(reason, isThere)).resolves.toBe('gone');
  });
});
