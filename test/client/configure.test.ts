// Sessions that are changed while they go on: each change at its place in the audio, also where the connection breaks around it.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type ConfigureOptions, type SessionEvent, Voxgate } from '../../clients/typescript/src/index.ts';
import { configureMessage } from '../../clients/typescript/src/live/configure-options.ts';
import { SessionEvents } from '../../clients/typescript/src/live/session-events.ts';
import type { ErrorEvent } from '../../clients/typescript/src/types/events.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { expectWhole } from '../fakes/audio/numbered-finals.ts';
import { startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { type ScriptedSocket, scriptedSockets } from './rig/scripted-socket.ts';

describe('a change', () => {
  it.each<[ConfigureOptions, object]>([
    [{ model: 'a/b' }, { model: 'a/b' }],
    [{ fallbacks: ['a/b', 'c/d'] }, { fallbacks: 'a/b,c/d' }],
    [{ fallbacks: [] }, { fallbacks: [] }],
    [
      { fallbacks: null, language: null },
      { fallbacks: null, language: null },
    ],
    [
      { providerParams: { x: 1 }, keyterms: ['y'] },
      { provider_params: { x: 1 }, keyterms: '["y"]' },
    ],
    [
      { keyterms: null, vocabularyBoost: null },
      { keyterms: null, vocabulary_boost: null },
    ],
    [
      { prompt: 'p', redact: true, languages: ['de'] },
      { prompt: 'p', redact: true, languages: '["de"]' },
    ],
    [{ replace: ['a:b', { from: 'c', to: '' }] }, { replace: '["a:b",{"from":"c","to":""}]' }],
    [{ replace: null }, { replace: null }],
    [
      { returnToPrimary: true, standby: false },
      { return_to_primary: true, standby: false },
    ],
  ])('%j is said as %j', (changes, said) => {
    expect(JSON.parse(JSON.stringify(configureMessage(changes)))).toEqual({ type: 'configure', ...said });
  });

  it('fails for an option that cannot change', () => {
    expect(() => configureMessage({ sampleRate: 8_000 } as ConfigureOptions)).toThrow('`sampleRate` is not an option');
  });
});

it('continues a session with another model, and reports an unavailable one', async () => {
  const live = await startLiveGateway();
  const session = new Voxgate({ apiKey: live.key, baseUrl: live.url }).listen({ model: 'loopback/numbered' });
  const events: SessionEvent[] = [];
  await session.send(numberedAudio(0, 16_000));
  session.finalize();
  for await (const event of session) {
    events.push(event);
    if (event.type === 'transcript' && event.is_final) break;
  }
  session.configure({ model: 'loopback/nobody' });
  session.configure({ model: 'loopback/numbered', providerParams: { turn_seconds: 0.5 } });
  for await (const event of session) {
    events.push(event);
    if (event.type !== 'configured') continue;
    await session.send(numberedAudio(16_000, 48_000));
    void session.close();
  }
  const finals = events.flatMap((event) => (event.type === 'transcript' && event.is_final ? [event] : []));
  expectWhole(finals, 48_000);
  expect(finals.length).toBeGreaterThan(3);
  expect(events.filter(({ type }) => type === 'error')).toMatchObject([{ error: { code: 'model_not_found' } }]);
  expect(events.filter(({ type }) => type === 'configured')).toMatchObject([{ model: 'loopback/numbered', from: 1 }]);
});

it('reports a refused change at once, and a possibly fatal error with the end', () => {
  const told: string[] = [];
  const events = new SessionEvents(16_000, (event) => told.push(event.type));
  const head = { session_id: 'ses_1', seq: 2, at: '2026-01-01T00:00:00.000Z' };
  const error = { type: 'invalid_request_error', code: 'model_not_found', message: 'm', param: null, request_id: 'r' };
  events.heard({ type: 'error', ...head, error } as ErrorEvent);
  expect(told).toEqual([]);
  events.heard({ type: 'error', ...head, error, fatal: false } as ErrorEvent);
  expect(told).toEqual(['error', 'error']);
});

describe('a broken connection', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    return () => vi.useRealTimers();
  });
  const pass = (ms = 1_000) => vi.advanceTimersByTimeAsync(ms);
  const wordsOf = (socket: ScriptedSocket | undefined) =>
    (socket?.sent ?? []).map((data) => (typeof data === 'string' ? (JSON.parse(data).model ?? data) : data.length));

  async function changedTwice(resume_token: string | null) {
    const { sockets, webSocket } = scriptedSockets((socket, index) => {
      if (index === 0 || resume_token === null) socket.start({ resume_token });
    });
    const session = new Voxgate({ token: 'st_a.b', webSocket }).listen({ model: 'm/m' });
    await pass(0);
    await session.send(new Uint8Array(32_000));
    session.configure({ model: 'm/one' });
    await session.send(new Uint8Array(32_000));
    session.configure({ model: 'm/two' });
    expect(wordsOf(sockets[0])).toEqual([32_000, 'm/one', 32_000, 'm/two']);
    return { session, sockets };
  }

  it('sends the continuing session the changes it missed', async () => {
    const { session, sockets } = await changedTwice('rt_1');
    sockets[0]?.emit('close', { code: 1006, reason: '' });
    await pass();
    sockets[1]?.say('session_resumed', { received_bytes: 40_000, next_seq: 2 });
    expect(wordsOf(sockets[1])).toEqual([24_000, 'm/two']);
    session.terminate();
  });

  it('starts a new session with the earlier changes, and sends the rest in place', async () => {
    const { session, sockets } = await changedTwice(null);
    sockets[0]?.say('transcript', { text: 'x', is_final: true, turn: 0, start: 0, end: 1.5, model: 'm/m' });
    sockets[0]?.emit('close', { code: 1006, reason: '' });
    await pass();
    expect(wordsOf(sockets[1])).toEqual(['m/one', 16_000, 'm/two']);
    session.terminate();
  });

  it('repeats a change right after the last final, which the session may have missed', async () => {
    const { session, sockets } = await changedTwice('rt_1');
    sockets[0]?.say('transcript', { text: 'x', is_final: true, turn: 0, start: 0, end: 2, model: 'm/m' });
    sockets[0]?.emit('close', { code: 1006, reason: '' });
    await pass();
    sockets[1]?.say('session_resumed', { received_bytes: 64_000, next_seq: 3 });
    expect(wordsOf(sockets[1])).toEqual(['m/two']);
    session.terminate();
  });

  it('repeats the initial changes to a session that breaks before it took any', async () => {
    const { sockets, webSocket } = scriptedSockets((socket, index) => {
      if (index < 2) socket.start({ resume_token: index === 0 ? null : 'rt_1' });
    });
    const session = new Voxgate({ token: 'st_a.b', webSocket }).listen({ model: 'm/m' });
    await pass(0);
    session.configure({ model: 'm/one' });
    await session.send(new Uint8Array(32_000));
    sockets[0]?.say('transcript', { text: 'x', is_final: true, turn: 0, start: 0, end: 1, model: 'm/m' });
    sockets[0]?.emit('close', { code: 1006, reason: '' });
    await pass();
    expect(wordsOf(sockets[1])).toEqual(['m/one']);
    sockets[1]?.emit('close', { code: 1006, reason: '' });
    await pass();
    sockets[2]?.say('session_resumed', { received_bytes: 0, next_seq: 2 });
    expect(wordsOf(sockets[2])).toEqual(['m/one']);
    session.terminate();
  });

  it('allows a hundred changes', async () => {
    const { session } = await changedTwice(null);
    for (let change = 2; change < 100; change++) session.configure({ language: 'en' });
    expect(() => session.configure({ language: 'en' })).toThrow(/100 times/);
    session.terminate();
  });
});
