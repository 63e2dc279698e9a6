// Live sessions of the client whose connections break at any moment: what the consumer sees is one session, with one final for
// each turn, and every sample in one of them. The audio is numbered, so that nothing can be lost or doubled unseen.
import * as fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type LiveSession,
  type Reconnected,
  type SessionEvent,
  type Transcript,
  Voxgate,
  VoxgateError,
} from '../../clients/typescript/src/index.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { drawn } from '../fakes/drawn.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { type CuttingProxy, startCuttingProxy } from './rig/cutting-proxy.ts';

const RATE = 16_000;
let live: LiveGateway;
let proxy: CuttingProxy;
beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000' });
  proxy = await startCuttingProxy(live.url);
});
beforeEach(() => {
  proxy.cuts = [];
  proxy.paths.length = 0;
  proxy.credentials.length = 0;
  proxy.made = 0;
  // Waits are drawn from nothing to a bound: here always nothing.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const client = () => new Voxgate({ apiKey: live.key, baseUrl: proxy.url });
const MODEL = { model: 'loopback/numbered', providerParams: { turn_seconds: 0.5, interim_seconds: 0.1 } } as const;

/** Reads a session to its end. */
async function eventsOf(session: LiveSession): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of session) events.push(event);
  return events;
}

/** As the gateway rounds them. */
const secondsOf = (samples: number) => Math.round((samples / RATE) * 1e6) / 1e6;
const finalsOf = (events: SessionEvent[]): Transcript[] =>
  events.filter((event): event is Transcript => event.type === 'transcript' && event.is_final);
const typesOf = (events: SessionEvent[], type: SessionEvent['type']) => events.filter((event) => event.type === type);

/** What every consumer may rely on, whatever happened to the connections. */
function expectOneSession(events: SessionEvent[], samples: number): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(typesOf(events, 'session_started')).toHaveLength(1);
  expect(events[0]?.type).toBe('session_started');
  expect(events.at(-1)).toMatchObject({ type: 'session_ended', audio_seconds: secondsOf(samples) });
  expect(typesOf(events, 'error')).toEqual([]);
  expect(typesOf(events, 'discontinuity')).toEqual([]);
  expectWhole(finalsOf(events), samples);
  const ended = new Set<number>();
  for (const event of events) {
    if (event.type !== 'transcript') continue;
    expect(ended.has(event.turn)).toBe(false);
    if (event.is_final) ended.add(event.turn);
  }
}

const cut = fc
  .record({
    audioBytes: fc.integer({ min: 1, max: 120_000 }),
    events: fc.integer({ min: 1, max: 12 }),
    how: fc.constantFrom<[number, string | undefined]>(
      [1006, undefined],
      [1012, undefined],
      [4101, 'upstream_exhausted'],
      [4101, undefined],
      [4200, 'node_draining'],
    ),
  })
  .map(({ how: [code, error], ...when }) => ({ ...when, code, ...(error === undefined ? {} : { error }) }));

it('shows one session to its consumer despite cuts at random moments', { timeout: 300_000 }, async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(cut, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 60_000 }),
      fc.array(fc.integer({ min: 1, max: 20_001 }), { minLength: 1, maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 3 }),
      async (cuts, samples, sizes, marks) => {
        proxy.cuts = [...cuts];
        proxy.made = 0;
        const session = client().listen(MODEL);
        const reading = eventsOf(session);
        const audio = numberedAudio(0, samples);
        for (let at = 0, index = 0; at < audio.length; index++) {
          const size = sizes[index % sizes.length] as number;
          await session.send(audio.subarray(at, at + size));
          // The turn is ended behind whole samples: a lone byte of one has no place in it.
          if (marks.includes(index) && (at + size) % 2 === 0) session.finalize();
          at += size;
        }
        const summary = await session.close();
        const events = await reading;
        expectOneSession(events, samples);
        expect(summary.audioSeconds).toBe(secondsOf(samples));
        const again = typesOf(events, 'reconnected') as Reconnected[];
        expect(summary.reconnections).toBe(again.length);
        expect(summary.sessionIds).toHaveLength(1 + again.filter(({ resumed }) => !resumed).length);
        made += proxy.made;
      },
    ),
    { numRuns: drawn(60), seed: 7, endOnFailure: true },
  );
  // The moments were such that most sessions were cut off at all.
  expect(made).toBeGreaterThan(drawn(60));
});

describe('a connection that ends', () => {
  it('causes no event before the session is open', async () => {
    const live = client();
    proxy.cuts = [1006, 4101, 4200].map((code) => ({ audioBytes: 0, code }));
    const session = live.listen(MODEL);
    await session.send(numberedAudio(0, 8_000));
    const [events] = await Promise.all([eventsOf(session), session.close()]);
    expectOneSession(events, 8_000);
    expect([...typesOf(events, 'reconnecting'), ...typesOf(events, 'reconnected')]).toEqual([]);
    expect(proxy.paths).toHaveLength(4);
  });

  it('causes an event in the middle, with the reason and what was replayed', async () => {
    // The session, an interim or five and the final of the first turn, and then some.
    proxy.cuts = [{ audioBytes: 24_000, code: 4101, error: 'upstream_exhausted' }];
    const session = client().listen(MODEL);
    await session.send(numberedAudio(0, 12_000));
    const [events] = await Promise.all([eventsOf(session), session.close()]);
    const told = typesOf(events, 'reconnected')[0];
    expect(told).toMatchObject({ type: 'reconnected', attempt: 1, reason: 'upstream_exhausted' });
    const summary = await session.close();
    expect(summary).toMatchObject({ reconnections: 1, reason: 'client_closed', audioSeconds: 0.75 });
    expect(summary.sessionIds).toHaveLength(2);
    expectOneSession(events, 12_000);
  });

  it('reports the break and each failed attempt, with the first cause as the reason', async () => {
    proxy.cuts = [
      { audioBytes: 24_000, code: 1012 },
      { audioBytes: 0, code: 4101, error: 'overloaded' },
    ];
    const session = client().listen(MODEL);
    await session.send(numberedAudio(0, 12_000));
    const [events] = await Promise.all([eventsOf(session), session.close()]);
    expect(typesOf(events, 'reconnecting')).toMatchObject([
      { attempt: 1, wait_seconds: 0, reason: 'close_1012' },
      { attempt: 2, wait_seconds: 0, reason: 'overloaded' },
    ]);
    expect(typesOf(events, 'reconnected')).toMatchObject([{ attempt: 2, reason: 'close_1012' }]);
    expectOneSession(events, 12_000);
  });

  it.each([4000, 4001, 4002, 4003, 4004, 4008, 4010, 4011, 1009, 1011, 1008])(
    'ends everything with %i: the iteration, `send` and `close` fail with one error',
    async (code) => {
      proxy.cuts = [{ events: 1, code, error: 'upstream_failed' }];
      const session = client().listen(MODEL);
      const error = await eventsOf(session).then(
        () => undefined,
        (reason: unknown) => reason as VoxgateError,
      );
      expect(error).toBeInstanceOf(VoxgateError);
      expect(error).toMatchObject({ code: 'upstream_failed', closeCode: code, requestId: 'req_x' });
      await expect(session.send(new Uint8Array(2))).rejects.toBe(error);
      await expect(session.close()).rejects.toBe(error);
      expect(() => session.finalize()).toThrow(error);
      expect(proxy.paths).toHaveLength(1);
    },
  );

  it('again and again, without any progress, is given up after the attempts that are allowed', async () => {
    proxy.cuts = Array.from({ length: 20 }, () => ({ events: 1, code: 4101, error: 'upstream_exhausted' }));
    const session = client().listen({ ...MODEL, reconnect: { attemptsMax: 3 } });
    await expect(eventsOf(session)).rejects.toMatchObject({ code: 'upstream_exhausted', closeCode: 4101 });
    expect(proxy.paths).toHaveLength(4);
  });

  it('never leads to giving up while each brings a final', async () => {
    // The session, speech, and the final of the first turn.
    proxy.cuts = Array.from({ length: 8 }, () => ({ events: 3, code: 4101, error: 'upstream_failed' }));
    const session = client().listen({ ...MODEL, interimResults: false, reconnect: { attemptsMax: 1 } });
    await session.send(numberedAudio(0, 96_000));
    const [events] = await Promise.all([eventsOf(session), session.close()]);
    expectOneSession(events, 96_000);
    expect(typesOf(events, 'reconnected')).toHaveLength(8);
  });

  it('ends the session where `reconnect` is false, with an error for an unfinished turn', async () => {
    proxy.cuts = [{ audioBytes: 8_000, code: 1006 }];
    const session = client().listen({ ...MODEL, reconnect: false });
    await session.send(numberedAudio(0, 4_000));
    await expect(session.close()).rejects.toMatchObject({ code: 'connection_lost', name: 'ConnectionError' });
    expect(proxy.paths).toHaveLength(1);
  });
});

it('audio that was kept no longer is a discontinuity, and finals cover the rest', async () => {
  // A turn of 10 s is cut off after 2 s, of which the last second was kept. No more than a second is ever given beyond what may be
  // kept: of a recording the client would first wait for finals.
  proxy.cuts = [{ audioBytes: 64_000, code: 1006, endsSession: true }];
  const options = { model: 'loopback/numbered', providerParams: { turn_seconds: 10 } } as const;
  const session = client().listen({ ...options, reconnect: { replaySecondsMax: 1 } });
  await session.send(numberedAudio(0, 32_000));
  await proxy.opened(2);
  await session.send(numberedAudio(32_000, 48_000));
  const [events] = await Promise.all([eventsOf(session), session.close()]);
  const [gap] = typesOf(events, 'discontinuity') as { from: number; to: number; reason: string }[];
  expect(gap).toMatchObject({ from: 0, reason: 'replay_exceeded' });
  const [final] = finalsOf(events);
  expect(final).toMatchObject({ turn: 0, start: gap?.to, end: 3 });
  expect(gap?.to).toBeGreaterThanOrEqual(1);
  const first = Math.round((gap?.to as number) * RATE);
  expect(final?.text).toBe(`${first & 0xffff}-${(first & 0xffff) + 48_000 - first}`);
});

it('loses nothing of a recording sent faster than real time when its connection breaks', async () => {
  // All of it would be under way before the first finals are back.
  proxy.cuts = [{ audioBytes: 150 * 2 * RATE, code: 1006 }];
  const options = { model: 'loopback/numbered', providerParams: { turn_seconds: 20 } } as const;
  const session = client().listen(options);
  const reading = eventsOf(session);
  await session.send(numberedAudio(0, 300 * RATE));
  await session.close();
  const events = await reading;
  expectOneSession(events, 300 * RATE);
  expect(typesOf(events, 'reconnected')).toHaveLength(1);
});

it('loses no word when a gateway restarts on its port', async () => {
  const first = await startLiveGateway();
  const port = String(first.gateway.port);
  const session = new Voxgate({ apiKey: first.key, baseUrl: first.url }).listen({
    ...MODEL,
    reconnect: { attemptsMax: 1_000 },
  });
  const events: SessionEvent[] = [];
  await session.send(numberedAudio(0, 20_000));
  for await (const event of session) {
    events.push(event);
    if (event.type === 'transcript') break;
  }
  const reading = eventsOf(session);
  vi.mocked(Math.random).mockReturnValue(0.05);
  first.gateway.stop();
  await first.gateway.ended;
  await session.send(numberedAudio(20_000, 40_000));
  await startLiveGateway({ VOXGATE_DATA_DIRECTORY: first.directory, VOXGATE_PORT: port });
  await session.send(numberedAudio(40_000, 56_000));
  await session.close();
  events.push(...(await reading));
  expectOneSession(events, 56_000);
  expect(typesOf(events, 'reconnected')).toHaveLength(1);
});

it('leaves a draining node between two turns, and continues on another', async () => {
  const draining = await startLiveGateway({ VOXGATE_DATA_DIRECTORY: live.directory });
  const other = await startCuttingProxy(draining.url);
  const session = new Voxgate({ apiKey: live.key, baseUrl: other.url }).listen(MODEL);
  const events: SessionEvent[] = [];
  for await (const event of session) {
    events.push(event);
    if (event.type === 'session_started') await session.send(numberedAudio(0, 12_000));
    if (event.type === 'transcript' && event.is_final && event.turn === 0) draining.gateway.drain();
    if (event.type === 'warning') {
      other.target = live.url;
      await session.send(numberedAudio(12_000, 24_000));
    }
    if (event.type === 'reconnected') void session.close();
  }
  expectOneSession(events, 24_000);
  expect(typesOf(events, 'reconnected')).toMatchObject([{ reason: 'node_draining', attempt: 1 }]);
});
