// Deepgram's official SDK, unmodified, against the simulated Deepgram: it is pointed there by its `environment` alone.
import { DeepgramClient } from '@deepgram/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { simulator } from '../../../src/vendors/deepgram/simulator/index.ts';
import { scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../../src/vendors/simulation/server.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { quickClock } from '../../vendors/simulation/quick-clock.ts';

const RATE = 16_000;
const TURNS = [
  { text: 'hello and welcome to the show', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];
const NOVA = { model: 'nova-3', encoding: 'linear16', sample_rate: RATE } as const;

const servers: SimulatorServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function client(key: { apiKey: string } | { accessToken: string } = { apiKey: 'good' }, faults: string[] = []) {
  const server = await SimulatorServer.start({
    simulator,
    ear: scriptEar({ turns: TURNS, interim_seconds: 0.25 }),
    faults,
    clock: quickClock(40),
  });
  servers.push(server);
  const socketUrl = server.url.replace('http', 'ws');
  return new DeepgramClient({
    ...key,
    environment: { base: server.url, production: socketUrl, agent: socketUrl, agentRest: server.url },
    maxRetries: 0,
  });
}

interface Said {
  type: string;
  [member: string]: unknown;
}

/** What a live socket of the SDK is used for here. */
interface Socket {
  on(event: 'message', callback: (message: never) => void): void;
  on(event: 'close', callback: (event: { code: number; reason: string }) => void): void;
  on(event: 'error', callback: (error: Error) => void): void;
  connect(): unknown;
  waitForOpen(): Promise<unknown>;
  close(): void;
}

/** Connects, and keeps what is said; `closed` is the close that ended it. */
async function listening(socket: Socket) {
  const said: Said[] = [];
  let wake = () => {};
  socket.on('message', (message) => {
    said.push(message);
    wake();
  });
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => socket.on('close', resolve));
  socket.connect();
  await socket.waitForOpen();
  const until = async (wanted: (message: Said) => boolean): Promise<Said> => {
    for (;;) {
      const found = said.find(wanted);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { said, closed, until };
}

const ONCE = { reconnectAttempts: 0, shouldReconnect: () => false };
const textOf = (message: Said) =>
  (message.channel as { alternatives: { transcript: string }[] }).alternatives[0]?.transcript ?? '';

describe('the SDK on /v1/listen', () => {
  it('gets interims, settled windows, ends of speech, and Metadata after CloseStream', async () => {
    const deepgram = await client();
    const socket = await deepgram.listen.v1.connect({
      ...NOVA,
      ...ONCE,
      interim_results: 'true',
      vad_events: 'true',
      utterance_end_ms: 1_000,
      diarize_model: 'latest',
    });
    const { said, closed } = await listening(socket);
    for (let frame = 0; frame < 25; frame++) socket.sendMedia(new Uint8Array(3_200));
    socket.sendCloseStream({ type: 'CloseStream' });
    expect(await closed).toMatchObject({ code: 1000 });
    const results = said.filter(({ type }) => type === 'Results');
    const settled = results.filter(({ is_final }) => is_final === true);
    expect(settled.map((message) => [textOf(message), message.speech_final])).toEqual([
      ['hello and welcome', false],
      ['to the show', true],
      ['good', false],
      ['bye', true],
      ['hello and welcome', false],
      ['to the show', false],
    ]);
    expect(results.some(({ is_final }) => is_final === false)).toBe(true);
    // Windows lie end to end, from the first sample to the last.
    let next = 0;
    for (const { start, duration } of settled as unknown as { start: number; duration: number }[]) {
      expect(start).toBeCloseTo(next, 6);
      next = start + duration;
    }
    expect(next).toBeCloseTo(2.5, 6);
    expect(said.filter(({ type }) => type === 'SpeechStarted')).toHaveLength(3);
    expect(said.at(-1)).toMatchObject({ type: 'Metadata', duration: 2.5, channels: 1 });
    const speakers = settled.flatMap(
      (message) =>
        (message.channel as { alternatives: { words: { speaker: number }[] }[] }).alternatives[0]?.words ?? [],
    );
    expect(new Set(speakers.map(({ speaker }) => speaker))).toEqual(new Set([0, 1]));
  });

  it('flushes by Finalize, and keeps the connection by KeepAlive', async () => {
    const deepgram = await client();
    const socket = await deepgram.listen.v1.connect({ ...NOVA, ...ONCE });
    const { until } = await listening(socket);
    socket.sendMedia(new Uint8Array(RATE));
    socket.sendKeepAlive({ type: 'KeepAlive' });
    socket.sendFinalize({ type: 'Finalize' });
    expect(await until(({ from_finalize }) => from_finalize === true)).toMatchObject({ is_final: true });
    socket.close();
  });

  it.each([{ apiKey: 'bad-key' }, { apiKey: 'broke-key' }, { apiKey: 'limited-key' }])('fails with %o', async (key) => {
    const deepgram = await client(key);
    const socket = await deepgram.listen.v1.connect({ ...NOVA, ...ONCE });
    const refused = new Promise<Error>((resolve) => socket.on('error', resolve));
    socket.connect();
    const status = { 'bad-key': '401', 'broke-key': '402', 'limited-key': '429' }[key.apiKey];
    expect((await refused).message).toContain(`Unexpected server response: ${status}`);
    socket.close();
  });

  it('gets in with a granted token', async () => {
    const granted = await (await client()).auth.v1.tokens.grant({ ttl_seconds: 30 });
    expect(granted).toMatchObject({ expires_in: 30 });
    const deepgram = await client({ accessToken: granted.access_token });
    const socket = await deepgram.listen.v1.connect({ ...NOVA, ...ONCE });
    await listening(socket);
    socket.close();
  });
});

describe('the SDK on /v2/listen', () => {
  const FLUX = { model: 'flux-general-en', encoding: 'linear16', sample_rate: RATE } as const;

  it('gets turns each quarter second of audio, ended by name', async () => {
    const deepgram = await client();
    const socket = await deepgram.listen.v2.connect({ ...FLUX, ...ONCE });
    const { said, until } = await listening(socket);
    await until(({ type }) => type === 'Connected');
    for (let frame = 0; frame < 20; frame++) socket.sendMedia(new Uint8Array(3_200));
    await until(({ event, turn_index }) => event === 'EndOfTurn' && turn_index === 1);
    const turns = said.filter(({ type }) => type === 'TurnInfo');
    expect(
      turns.filter(({ event }) => event === 'EndOfTurn').map((each) => [each.turn_index, each.transcript]),
    ).toEqual([
      [0, 'hello and welcome to the show'],
      [1, 'good bye'],
    ]);
    // On a busy machine, one may come again with what was heard meanwhile.
    const ends = turns.filter(({ event }) => event === 'Update').map((each) => Number(each.audio_window_end));
    const updates = [...new Set(ends)];
    expect(updates.filter((end) => end % 0.25 === 0).slice(0, 7)).toEqual([0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]);
    // Words come a moment before the start of their turn.
    expect(turns.slice(0, 2).map(({ event }) => event)).toEqual(['Update', 'StartOfTurn']);
    expect(said.map(({ sequence_id }) => sequence_id)).toEqual(said.map((_, index) => index));
    socket.close();
  });

  it('gets early ends on request, each followed by its revocation or a matching end', async () => {
    const deepgram = await client();
    const socket = await deepgram.listen.v2.connect({ ...FLUX, eager_eot_threshold: 0.5, ...ONCE });
    const { said, until } = await listening(socket);
    await until(({ type }) => type === 'Connected');
    for (let frame = 0; frame < 20; frame++) socket.sendMedia(new Uint8Array(3_200));
    await until(({ event, turn_index }) => event === 'EndOfTurn' && turn_index === 1);
    const bounds = said.filter(({ event }) => ['EagerEndOfTurn', 'TurnResumed', 'EndOfTurn'].includes(String(event)));
    const ends = bounds.filter(({ event }) => event === 'EndOfTurn').map(({ transcript }) => transcript);
    expect(ends).toEqual(TURNS.map(({ text }) => text));
    // With which words it is early depends on when frames come.
    const behind = bounds.flatMap(({ event, transcript }, index) => {
      const next = bounds[index + 1];
      if (event !== 'EagerEndOfTurn' || next === undefined) return [];
      return [[next.event, next.transcript === transcript]];
    });
    expect(behind.length).toBeGreaterThan(0);
    for (const [event, isSame] of behind) expect(event).toBe(isSame ? 'EndOfTurn' : 'TurnResumed');
    socket.close();
  });

  it('ends a turn by ForceEndTurn, and changes thresholds by Configure', async () => {
    const deepgram = await client();
    const socket = await deepgram.listen.v2.connect({ ...FLUX, ...ONCE });
    const { until } = await listening(socket);
    socket.sendConfigure({ type: 'Configure', thresholds: { eot_threshold: 0.8 } });
    await until(({ type }) => type === 'ConfigureSuccess');
    socket.sendConfigure({ type: 'Configure', thresholds: { eot_threshold: 8 } });
    await until(({ type }) => type === 'ConfigureFailure');
    socket.sendMedia(new Uint8Array(RATE));
    await until(({ event }) => event === 'StartOfTurn');
    socket.sendForceEndTurn({ type: 'ForceEndTurn' });
    expect(await until(({ event }) => event === 'EndOfTurn')).toMatchObject({
      trigger: 'manual',
      audio_window_end: 0.5,
    });
    socket.close();
  });

  it('gets no end of turn and no close code for CloseStream', async () => {
    const deepgram = await client();
    const socket = await deepgram.listen.v2.connect({ ...FLUX, ...ONCE });
    const { said, closed, until } = await listening(socket);
    socket.sendMedia(new Uint8Array(RATE));
    await until(({ event }) => event === 'StartOfTurn');
    socket.sendCloseStream({ type: 'CloseStream' });
    expect((await closed).code).toBe(1005);
    expect(said.at(-1)).toMatchObject({ event: 'Update', transcript: 'hello and welcome to the show' });
    expect(said.some(({ event }) => event === 'EndOfTurn')).toBe(false);
  });
});

describe('the SDK on POST /v1/listen', () => {
  it('gets channels, utterances, words and seconds of a file', async () => {
    const deepgram = await client();
    const answer = await deepgram.listen.v1.media.transcribeFile(silentWav(2), {
      model: 'nova-3',
      smart_format: true,
      utterances: true,
      detect_language: true,
      diarize_model: 'v2',
    });
    expect(answer).toMatchObject({
      metadata: { duration: 2, channels: 1 },
      results: {
        channels: [
          { alternatives: [{ transcript: 'hello and welcome to the show good bye' }], detected_language: 'en' },
        ],
        utterances: [
          { transcript: TURNS[0]?.text, start: 0, end: 1, speaker: 0 },
          { transcript: TURNS[1]?.text, start: 1, end: 2, speaker: 1 },
        ],
      },
    });
  });

  it.each([
    [{ apiKey: 'bad-key' }, {}, 401],
    [{ apiKey: 'broke-key' }, {}, 402],
    [{ apiKey: 'limited-key' }, {}, 429],
    [{ apiKey: 'good' }, { keywords: 'snuffle:2' }, 400],
  ])('fails with %o and %o', async (key, more, statusCode) => {
    const deepgram = await client(key);
    const request = deepgram.listen.v1.media.transcribeFile(silentWav(1), { model: 'nova-3', ...more });
    await expect(request).rejects.toMatchObject({ statusCode });
  });

  it('fails with a file without audio', async () => {
    const deepgram = await client();
    const request = deepgram.listen.v1.media.transcribeFile(Buffer.from('no audio at all'), { model: 'nova-3' });
    await expect(request).rejects.toMatchObject({ statusCode: 400, body: { err_code: 'Bad Request' } });
  });
});
