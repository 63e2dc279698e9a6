// Sessions that go on where their connection broke: the gateway's own session, with one bill and no audio twice; and every case in
// which it cannot, where a new one begins as if nobody had asked.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LiveSession, type Reconnected, type SessionEvent, Voxgate } from '../../clients/typescript/src/index.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { type CuttingProxy, startCuttingProxy } from './rig/cutting-proxy.ts';
import { type ScriptedSocket, scriptedSockets } from './rig/scripted-socket.ts';

const MODEL = { model: 'loopback/numbered', providerParams: { turn_seconds: 0.5, interim_seconds: 0.1 } } as const;

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function eventsOf(session: LiveSession): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of session) events.push(event);
  return events;
}

const reconnectedOf = (events: SessionEvent[]) =>
  events.filter((event): event is Reconnected => event.type === 'reconnected');
const finalsOf = (events: SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'transcript' && event.is_final ? [event] : []));

describe('a resumed session with a real gateway', () => {
  let live: LiveGateway;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    live = await startLiveGateway({ VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000' });
    proxy = await startCuttingProxy(live.url);
  });
  beforeEach(() => {
    proxy.cuts = [];
    proxy.paths.length = 0;
  });

  /** Says so many samples through connections that are cut, and closes. */
  async function said(samples: number, options: object = {}) {
    const session = new Voxgate({ apiKey: live.key, baseUrl: proxy.url }).listen({ ...MODEL, ...options });
    const reading = eventsOf(session);
    for (let at = 0; at < samples; at += 4_000) await session.send(numberedAudio(at, Math.min(samples, at + 4_000)));
    const summary = await session.close();
    return { summary, events: await reading };
  }

  it.each([1006, 1012, 1001])('continues the session after %i, with one bill and no repeats', async (code) => {
    proxy.cuts = [
      { audioBytes: 20_000, code },
      { audioBytes: 1, code },
      { events: 4, code },
    ];
    const { summary, events } = await said(48_000);
    expect(reconnectedOf(events)).toMatchObject([1, 2, 3].map(() => ({ resumed: true, replayed_seconds: 0 })));
    expect(summary).toMatchObject({ audioSeconds: 3, isUsageComplete: true, reconnections: 3 });
    expect(summary.sessionIds).toHaveLength(1);
    expect(summary.usage.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(3, 3);
    expectWhole(finalsOf(events), 48_000);
    expect(events.some(({ type }) => ['received', 'session_resumed'].includes(type))).toBe(false);
    expect(events[0]).toMatchObject({ type: 'session_started', resume_token: null });
  });

  it('delivers a missed end, and its bill, to the next connection', async () => {
    proxy.cuts = [{ before: 'session_ended', code: 1006 }];
    const { summary, events } = await said(16_000);
    expect(summary).toMatchObject({ reason: 'client_closed', isUsageComplete: true, reconnections: 1 });
    expect(summary.sessionIds).toHaveLength(1);
    expect(summary.usage).toMatchObject([{ seconds: 1 }]);
    expectWhole(finalsOf(events), 16_000);
  });

  it('replaces a lost session by a new one on the same connection', async () => {
    proxy.cuts = [{ audioBytes: 20_000, code: 1006, endsSession: true }];
    const { summary, events } = await said(32_000);
    expect(reconnectedOf(events)).toMatchObject([{ resumed: false }]);
    expect(proxy.paths).toHaveLength(2);
    expect(summary.sessionIds).toHaveLength(2);
    expectWhole(finalsOf(events), 32_000);
  });

  it('continues a session with a first message, and repeats it in a new one', async () => {
    proxy.cuts = [
      { audioBytes: 20_000, code: 1006 },
      { audioBytes: 20_000, code: 1006, endsSession: true },
    ];
    const keyterms = Array.from({ length: 90 }, (_, index) => `a term of some length ${index}`.padEnd(60, 'x'));
    const { summary, events } = await said(64_000, { keyterms });
    expect(proxy.paths[0]).toContain('start=message');
    expect(reconnectedOf(events).map(({ resumed }) => resumed)).toEqual([true, false]);
    expect(summary.sessionIds).toHaveLength(2);
    expectWhole(finalsOf(events), 64_000);
  });

  it('`reconnect: false` asks for nothing', async () => {
    await said(1_600, { reconnect: false });
    expect(proxy.paths[0]).not.toContain('resume');
  });
});

describe('a resumed session with any gateway', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });

  const pass = (ms = 1_000) => vi.advanceTimersByTimeAsync(ms);
  const cut = (socket: ScriptedSocket | undefined, code = 1006) => socket?.emit('close', { code, reason: '' });
  const refuse = (socket: ScriptedSocket, code: number, param: string) => {
    socket.say('error', { error: { type: 'x', code: 'invalid_request', message: 'No.', param, request_id: 'req_1' } });
    cut(socket, code);
  };
  const WAITS = { resume_token: 'rt_1' };
  const ENDED = { reason: 'client_closed', audio_seconds: 1, usage: [], cost_usd: '0.00' };

  /** A session whose sockets do this in their order; those behind the last do nothing. */
  async function opened(script: ((socket: ScriptedSocket) => void)[], options: object = {}) {
    const { sockets, webSocket } = scriptedSockets((socket, index) => script[index]?.(socket));
    const session = new Voxgate({ token: 'st_a.b', webSocket }).listen({ model: 'm/m', ...options });
    await pass(0);
    return { session, sockets };
  }
  const queries = (sockets: ScriptedSocket[]) =>
    sockets.map(({ query }) => ['resume', 'last_seq', 'heard_seconds', 'model'].map((name) => query.get(name)));
  const final = (end: number, seq: number) => ({
    text: 'x',
    is_final: true,
    turn: 0,
    start: 0,
    end,
    model: 'm/m',
    seq,
  });

  it('sends its last event’s number, including unknown kinds, and its transcribed position', async () => {
    const { session, sockets } = await opened([(socket) => socket.start(WAITS)]);
    await session.send(new Uint8Array(64_000));
    sockets[0]?.say('transcript', final(1.25, 2));
    sockets[0]?.say('a_thing_of_later', { seq: 3 });
    cut(sockets[0]);
    await pass();
    expect(queries(sockets)).toEqual([
      ['on', null, null, 'm/m'],
      ['rt_1', '3', '1.250000', 'm/m'],
    ]);
    session.terminate();
  });

  it('replays what was not taken, with its finalize in place and `close`', async () => {
    const { session, sockets } = await opened([(socket) => socket.start(WAITS)]);
    await session.send(new Uint8Array(1_000));
    session.finalize();
    await session.send(new Uint8Array(1_000));
    session.finalize();
    void session.close();
    cut(sockets[0]);
    await pass();
    sockets[1]?.say('session_resumed', { received_bytes: 1_500, next_seq: 2 });
    const words = (sockets[1]?.sent ?? []).map((data) => (typeof data === 'string' ? data : data.length));
    expect(words).toEqual([500, '{"type":"finalize"}', '{"type":"close"}']);
    session.terminate();
  });

  it.each([
    [4004, 'resume'],
    [4000, 'last_seq'],
    [4000, 'heard_seconds'],
  ])('replaces a refused session (%i, %s) by a new one at once', async (code, param) => {
    const { session, sockets } = await opened([
      (socket) => socket.start(WAITS),
      (socket) => refuse(socket, code, param),
      (socket) => socket.start({ session_id: 'ses_2' }),
    ]);
    const reading = eventsOf(session);
    await session.send(new Uint8Array(1_000));
    cut(sockets[0]);
    await pass();
    expect(queries(sockets).map(([resume]) => resume)).toEqual(['on', 'rt_1', 'on']);
    session.terminate();
    const kinds = (await reading).map((event) => (event.type === 'reconnected' ? event.resumed : event.type));
    expect(kinds).toEqual(['session_started', 'reconnecting', false]);
  });

  it('asks a gateway without the feature once, and then reconnects as before', async () => {
    const { session, sockets } = await opened([(socket) => refuse(socket, 4000, 'resume'), (socket) => socket.start()]);
    await pass(0);
    cut(sockets[1]);
    await pass();
    expect(queries(sockets).map(([resume]) => resume)).toEqual(['on', null, null]);
    session.terminate();
  });

  it.each([4101, 4200])('requests no session that the gateway ended by %i', async (code) => {
    const { session, sockets } = await opened([(socket) => socket.start(WAITS)]);
    cut(sockets[0], code);
    await pass();
    expect(queries(sockets).map(([resume]) => resume)).toEqual(['on', 'on']);
    session.terminate();
  });

  it('attempts that fail do not lose it', async () => {
    const { session, sockets } = await opened([
      (socket) => socket.start(WAITS),
      (socket) => cut(socket),
      (socket) => cut(socket, 4101),
    ]);
    await session.send(new Uint8Array(1_000));
    cut(sockets[0]);
    await pass(5_000);
    expect(queries(sockets).map(([resume]) => resume)).toEqual(['on', 'rt_1', 'rt_1', 'rt_1']);
    session.terminate();
  });

  it('asks for the end once when all is transcribed, without a new session', async () => {
    const { session, sockets } = await opened([(socket) => socket.start(WAITS), (socket) => cut(socket)]);
    await session.send(new Uint8Array(32_000));
    sockets[0]?.say('transcript', final(1, 2));
    const closing = session.close();
    cut(sockets[0]);
    await pass();
    expect(queries(sockets)[1]).toEqual(['rt_1', '2', '1.000000', null]);
    expect(await closing).toMatchObject({ reason: 'client_closed', isUsageComplete: false, reconnections: 0 });
    expect(sockets).toHaveLength(2);
  });

  it('audio that was taken is progress, and is counted once', async () => {
    const { session, sockets } = await opened(
      [
        (socket) => socket.start(WAITS),
        ...[2_000, 4_000, 4_000].map((bytes) => (socket: ScriptedSocket) => {
          socket.say('session_resumed', { received_bytes: bytes, next_seq: 2 });
          socket.say('received', { bytes: 2_000 });
          cut(socket);
        }),
      ],
      { reconnect: { attemptsMax: 1 } },
    );
    const reading = eventsOf(session);
    await session.send(new Uint8Array(8_000));
    cut(sockets[0]);
    const failed = expect(reading).rejects.toMatchObject({ code: 'connection_lost' });
    await pass(10_000);
    await failed;
    expect(sockets).toHaveLength(4);
  });

  it('audio that is kept no longer ends the session, and a new one begins behind it', async () => {
    const { session, sockets } = await opened(
      [
        (socket) => socket.start(WAITS),
        (socket) => socket.say('session_resumed', { received_bytes: 100, next_seq: 2 }),
        (socket) => socket.start({ session_id: 'ses_2' }),
      ],
      { reconnect: { replaySecondsMax: 0 } },
    );
    const reading = eventsOf(session);
    await session.send(new Uint8Array(32_000));
    cut(sockets[0]);
    await pass();
    expect(sockets[1]?.closedWith).toBe(1000);
    session.terminate();
    expect((await reading).slice(-2)).toMatchObject([
      { type: 'reconnected', resumed: false },
      { type: 'discontinuity', from: 0, to: 1, reason: 'replay_exceeded' },
    ]);
  });

  it('closes a browser’s connection with a code by which its session waits', async () => {
    const { session, sockets } = await opened([(socket) => socket.start(WAITS)]);
    (sockets[0] as { terminate?: unknown }).terminate = undefined;
    await session.send(new Uint8Array(1_000));
    void session.close();
    await pass(70_000);
    expect(sockets[0]?.closedWith).toBe(3006);
    expect(queries(sockets)[1]?.[0]).toBe('rt_1');
    sockets[1]?.say('session_resumed', { received_bytes: 1_000, next_seq: 2 });
    sockets[1]?.say('session_ended', ENDED);
    cut(sockets[1], 1000);
    await pass(0);
    expect(await session.close()).toMatchObject({ reconnections: 1, isUsageComplete: true });
  });
});
