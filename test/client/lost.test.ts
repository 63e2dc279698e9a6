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
  'waits for a draining node of 75 s without an alternative, with default options (%d)',
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

it('gives a new session’s speakers new numbers, announced before the first', async () => {
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

it('gives up a lost gateway after two minutes', async () => {
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

describe('a provider that cannot be reached', () => {
  const SECOND_BYTES = 32_000;

  /** Sessions of so many seconds that take audio and end without a final, as those of a gateway without its provider. */
  function failing(seconds: number, warns: boolean, after: (session: number) => boolean = () => false) {
    return scriptedSockets((socket, index) => {
      socket.start();
      if (warns) socket.say('warning', { code: 'upstream_waiting', message: 'x' });
      for (let second = 1; second <= seconds; second++) {
        setTimeout(() => {
          const bytes = socket.sent.reduce((sum, each) => sum + (typeof each === 'string' ? 0 : each.length), 0);
          socket.say('received', { bytes });
          if (after(index) && second === seconds) {
            const end = bytes / SECOND_BYTES;
            socket.say('transcript', { text: 'x', is_final: true, turn: 0, start: 0, end, model: 'm' });
          }
          if (second < seconds) return;
          const error = { type: 'upstream_error', code: 'upstream_exhausted', message: 'x', param: null };
          socket.say('error', { error });
          socket.say('session_ended', { reason: 'upstream', audio_seconds: 0, usage: [], cost_usd: '0.00' });
          socket.emit('close', { code: 4101, reason: 'upstream_exhausted' });
        }, second * 1_000);
      }
    });
  }

  /** Speaks into a session until it is over, a second at a time; gives what was told, and when it was over. */
  async function speak(
    webSocket: ReturnType<typeof scriptedSockets>['webSocket'],
    secondsMax: number,
    spoken = secondsMax,
  ) {
    const session = made(webSocket).listen(MODEL);
    const attempts: number[] = [];
    let outcome: unknown;
    const reading = (async () => {
      for await (const event of session) if (event.type === 'reconnecting') attempts.push(event.attempt);
    })().then(
      () => (outcome = 'ended'),
      (error) => (outcome = error),
    );
    let second = 0;
    for (; second < secondsMax && outcome === undefined; second++) {
      if (second < spoken) session.send(new Uint8Array(SECOND_BYTES)).catch(() => {});
      else if (second === spoken) session.close().catch(() => {});
      await pass(1_000);
    }
    session.terminate();
    await reading;
    return { attempts, outcome, second };
  }

  it.each<[string, number, boolean, number]>([
    ['in the middle of speech', 13, true, 600],
    ['after all was sent', 13, true, 20],
    ['by a gateway that does not warn', 13, false, 600],
    ['in sessions of 45 s', 45, true, 600],
    ['in sessions of 45 s by a gateway that does not warn', 45, false, 600],
    ['in sessions of five minutes that warn', 300, true, 1_500],
  ])('gives up after two minutes %s', async (_, seconds, warns, spoken) => {
    const { attempts, outcome, second } = await speak(failing(seconds, warns).webSocket, 1_500, spoken);
    expect(outcome).toMatchObject({ code: 'upstream_exhausted', closeCode: 4101 });
    expect(attempts).toEqual(attempts.map((_, index) => index + 1));
    expect(second).toBeGreaterThanOrEqual(100);
    expect(second).toBeLessThanOrEqual(120 + 2 * seconds);
  });

  it('continues while each session brings a final', async () => {
    const { attempts, outcome } = await speak(failing(13, true, () => true).webSocket, 400);
    expect([new Set(attempts), outcome]).toEqual([new Set([1]), 'ended']);
  });

  it('continues despite earlier losses of long sessions', async () => {
    const { attempts, outcome } = await speak(failing(200, false).webSocket, 900);
    expect([attempts, outcome]).toEqual([[1, 1, 1, 1], 'ended']);
  });
});

it('continues on an unstable network while audio gets further', async () => {
  let bytes = 0;
  const { webSocket } = scriptedSockets((socket, index) => {
    if (index === 0) socket.start({ resume_token: 'rt' });
    else socket.say('session_resumed', { received_bytes: bytes, next_seq: 2, limits: { binary_frame_bytes: 65_536 } });
    setTimeout(() => {
      bytes += 32_000;
      socket.say('received', { bytes });
      socket.emit('close', { code: 1006, reason: '' });
    }, 5_000);
  });
  const session = made(webSocket).listen(MODEL);
  const attempts: number[] = [];
  const reading = (async () => {
    for await (const event of session) if (event.type === 'reconnecting') attempts.push(event.attempt);
  })();
  for (let second = 0; second < 300; second++) {
    session.send(new Uint8Array(32_000)).catch(() => {});
    await pass(1_000);
  }
  session.terminate();
  await reading;
  expect([attempts.length > 30, new Set(attempts)]).toEqual([true, new Set([1])]);
});

it.each([1000, 1001, 1005, 1006, 1011, 4200])(
  'counts a session that reported its end as over, with any close code: %i',
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

  it('gets a second call after the connect timeout, and appears in the error', async () => {
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
