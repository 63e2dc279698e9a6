// Connections whose other side is gone without a word: they are replaced in time, and those that only have nothing to say are not.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Voxgate } from '../../clients/typescript/src/index.ts';
import { type ScriptedSocket, scriptedSockets } from './rig/scripted-socket.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

async function opened() {
  const { sockets, webSocket } = scriptedSockets((socket) => socket.start());
  const session = new Voxgate({ token: 'st_a.b', webSocket }).listen({ model: 'loopback/numbered' });
  await pass(0);
  return { session, sockets, socket: sockets[0] as ScriptedSocket };
}

/** Five minutes and more of pings. */
async function ping(socket: ScriptedSocket, everyMs: number, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await pass(everyMs);
    socket.emit('ping');
  }
}

describe('a dead connection', () => {
  it('gets replaced when the socket accepts data and passes nothing on', async () => {
    const { session, sockets, socket } = await opened();
    socket.send = (data) => {
      socket.bufferedAmount += data.length;
    };
    // A microphone that speaks on.
    for (let second = 0; second < 30; second++) {
      void session.send(new Uint8Array(3_200));
      await pass(1_000);
    }
    expect(sockets).toHaveLength(1);
    await pass(10_000);
    expect(socket.isTerminated).toBe(true);
    expect(sockets).toHaveLength(2);
    // Nothing of it is lost.
    expect(sockets[1]?.sent.reduce((sum, data) => sum + data.length, 0)).toBe(30 * 3_200);
    session.terminate();
  });

  it('gets replaced when pings stop', async () => {
    const { session, sockets, socket } = await opened();
    await ping(socket, 15_000, 20);
    await pass(45_000);
    expect(sockets).toHaveLength(1);
    await pass(10_000);
    expect(sockets).toHaveLength(2);
    session.terminate();
  });

  it('gets replaced when nothing follows `close`', async () => {
    const { session, sockets, socket } = await opened();
    await session.send(new Uint8Array(32_000));
    const closing = session.close();
    await pass(60_000);
    expect(sockets).toHaveLength(1);
    await pass(10_000);
    expect(sockets).toHaveLength(2);
    expect(socket.isTerminated).toBe(true);
    expect(sockets[1]?.sent.at(-1)).toBe('{"type":"close"}');
    sockets[1]?.say('session_ended', { reason: 'client_closed', audio_seconds: 1, usage: [], cost_usd: '0.00' });
    expect(sockets[1]?.emit('close', { code: 1000, reason: '' })).toBeUndefined();
    await pass(0);
    expect(await closing).toMatchObject({ reconnections: 1 });
    // Nothing is looked at any more.
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a healthy connection', () => {
  it('stays when a browser reports no pings, and there is no speech', async () => {
    const { session, sockets } = await opened();
    await pass(3_600_000);
    expect(sockets).toHaveLength(1);
    session.terminate();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stays when pings are rare', async () => {
    const { session, sockets, socket } = await opened();
    await ping(socket, 120_000, 20);
    expect(sockets).toHaveLength(1);
    session.terminate();
  });

  it('stays when the socket is slow and always full', async () => {
    const { session, sockets, socket } = await opened();
    socket.send = (data) => {
      socket.bufferedAmount += data.length;
    };
    for (let second = 0; second < 300; second++) {
      socket.bufferedAmount = Math.max(0, socket.bufferedAmount - 1_000);
      void session.send(new Uint8Array(1_000));
      await pass(1_000);
    }
    expect(socket.bufferedAmount).toBeGreaterThan(0);
    expect(sockets).toHaveLength(1);
    session.terminate();
  });

  it('stays after `close`, as long as the audio may take and results arrive', async () => {
    const { session, sockets, socket } = await opened();
    await session.send(new Uint8Array(50 * 32_000));
    const closing = session.close();
    await pass(100_000);
    socket.say('speech_started', { start: 1 });
    await pass(100_000);
    expect(sockets).toHaveLength(1);
    session.terminate();
    await closing;
  });
});
