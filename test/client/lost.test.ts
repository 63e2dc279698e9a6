// Connections that are lost in ways that no gateway plays on demand, on a clock of the test: a node that drains for long, an end
// whose close frame is lost, a credential that never comes.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type SessionEvent, Voxgate } from '../../clients/typescript/src/index.ts';
import { scriptedSockets } from './rig/scripted-socket.ts';

const MODEL = { model: 'loopback/numbered' } as const;
const ENDED = { reason: 'client_closed', audio_seconds: 0, usage: [], cost_usd: '0.00' };
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const made = (webSocket: ReturnType<typeof scriptedSockets>['webSocket']) =>
  new Voxgate({ token: 'st_a.b', webSocket });

/** Moves time on, and everything that follows from it. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it.each([0, 0.5, 0.999])(
  'a node that drains for 75 s and is the only one is waited for, with the usual options (%d)',
  async (random) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const startMs = performance.now();
    const { sockets, webSocket } = scriptedSockets((socket, index) => {
      if (index === 0 || performance.now() - startMs > 75_000) socket.start();
      if (index === 0 || performance.now() - startMs <= 75_000)
        socket.emit('close', { code: 4200, reason: 'node_draining' });
    });
    const session = made(webSocket).listen(MODEL);
    const events: SessionEvent[] = [];
    const reading = (async () => {
      for await (const event of session) events.push(event);
    })();
    await pass(100_000);
    const attempts = events.flatMap((event) => (event.type === 'reconnecting' ? event.attempt : []));
    expect(attempts).toEqual(attempts.map((_, index) => index + 1));
    expect(events.map(({ type }) => type)).toEqual([
      'session_started',
      ...attempts.map(() => 'reconnecting'),
      'reconnected',
    ]);
    // No more than the gateway is asked for in a moment.
    expect(sockets.length).toBeLessThan(30);
    session.terminate();
    await reading;
  },
);

it('the speakers of the session that goes on have numbers of their own, and that is told before the first of them', async () => {
  const said = { text: 'x', is_final: true, turn: 0, start: 0, end: 1, model: 'm', speaker: 0 };
  const { webSocket } = scriptedSockets((socket, index) => {
    socket.start();
    socket.say('transcript', said);
    if (index === 0) socket.emit('close', { code: 1006, reason: '' });
  });
  const session = made(webSocket).listen(MODEL);
  const told: unknown[][] = [];
  const reading = (async () => {
    for await (const event of session) {
      if (event.type === 'transcript') told.push([event.seq, event.speaker]);
      else if (event.type === 'speakers_restarted') told.push([event.seq, event.type, event.first_speaker]);
      else told.push([event.seq, event.type]);
      if (told.length === 6) session.terminate();
    }
  })();
  await pass(1_000);
  await reading;
  expect(told).toEqual([
    ...[
      [1, 'session_started'],
      [2, 0],
      [3, 'reconnecting'],
    ],
    ...[
      [4, 'reconnected'],
      [5, 'speakers_restarted', 1],
      [6, 1],
    ],
  ]);
});

it('a gateway that is gone for good is given up after two minutes', async () => {
  const { webSocket } = scriptedSockets((socket) => socket.emit('close', { code: 1006, reason: '' }));
  const closing = made(webSocket).listen(MODEL).close();
  const failed = expect(closing).rejects.toMatchObject({ code: 'connection_lost', closeCode: 1006 });
  let isOver = false;
  void closing.catch(() => {
    isOver = true;
  });
  await pass(105_000);
  expect(isOver).toBe(false);
  await pass(20_000);
  await failed;
});

it.each([1000, 1001, 1005, 1006, 1011, 4200])(
  'a session that said it ended is over, whatever close code follows: %i',
  async (code) => {
    const { sockets, webSocket } = scriptedSockets((socket) => socket.start());
    const session = made(webSocket).listen(MODEL);
    await pass(0);
    // Without a final for it: the recogniser heard no speech.
    await session.send(new Uint8Array(3_200));
    const closing = session.close();
    sockets[0]?.say('session_ended', ENDED);
    sockets[0]?.emit('close', { code, reason: '' });
    await pass(60_000);
    expect(await closing).toMatchObject({ reason: 'client_closed', reconnections: 0, isUsageComplete: true });
    expect(sockets).toHaveLength(1);
  },
);

describe('a `getToken` that never answers', () => {
  const never = () => new Promise<never>(() => {});

  it('is asked again after the time to connect, and named when it does not help', async () => {
    const { sockets, webSocket } = scriptedSockets();
    const getToken = vi.fn(never);
    const session = new Voxgate({ getToken, webSocket }).listen({
      ...MODEL,
      connectTimeoutMs: 1_000,
      reconnect: { attemptsMax: 2 },
    });
    const failed = expect(session.close()).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('getToken'),
    });
    await pass(10_000);
    await failed;
    expect([getToken.mock.calls.length, sockets.length]).toEqual([3, 0]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps no timer when the session is ended', async () => {
    const { webSocket } = scriptedSockets();
    const session = new Voxgate({ getToken: never, webSocket }).listen(MODEL);
    await pass(10);
    session.terminate();
    await pass(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(await session.close()).toMatchObject({ reason: 'terminated' });
  });
});
