// Cartesia's official SDK, unmodified, against the simulated Cartesia.
import Cartesia from '@cartesia/cartesia-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { simulator } from '../../../src/providers/cartesia/simulator/index.ts';
import { scriptEar } from '../../../src/simulator/ears.ts';
import { silentWav } from '../../fakes/audio/audio-files.ts';
import { Client, closeAll, serve } from '../../simulator/client.ts';
import { quickClock } from '../../simulator/quick-clock.ts';

const RATE = 16_000;
const TURNS = [
  { text: 'hello and welcome', seconds: 1 },
  { text: 'good bye', seconds: 1 },
];
const SESSION = { model: 'ink-2', encoding: 'pcm_s16le', sample_rate: RATE } as const;

// This Node has none of its own without a flag.
vi.stubGlobal('WebSocket', WebSocket);
afterEach(closeAll);

const simulated = (speed = 1) =>
  serve({ simulator, ear: scriptEar({ turns: TURNS, interim_seconds: 0.25 }), clock: quickClock(speed) });

async function client(apiKey = 'good') {
  const { url } = await simulated();
  return new Cartesia({ apiKey, baseURL: url, maxRetries: 0 });
}

describe('the SDK live', () => {
  it('hears interims and settled text, the mark of an end, and the end of the session', async () => {
    const socket = (await client()).stt.manualFinalize.websocket(SESSION, { reconnect: null });
    const said: { type: string; text?: string; is_final?: boolean }[] = [];
    const done = new Promise<void>((resolve) => {
      socket.on('event', (event) => {
        said.push(event as (typeof said)[number]);
        if (event.type === 'done') resolve();
      });
    });
    socket.on('error', () => {});
    for (let frame = 0; frame < 25; frame++) socket.sendRaw(new Uint8Array(3_200));
    socket.sendRaw('finalize');
    socket.sendRaw('close');
    await done;
    const settled = said.filter(({ is_final }) => is_final === true);
    expect(settled.map(({ text }) => text).join('')).toBe('hello and welcome good bye hello and welcome');
    expect(said.some(({ is_final }) => is_final === false)).toBe(true);
    expect(said.slice(-2).map(({ type }) => type)).toEqual(['flush_done', 'done']);
  });
});

describe('the SDK with files', () => {
  it('gets words, language and seconds', async () => {
    const file = new File([new Uint8Array(silentWav(2))], 'audio.wav', { type: 'audio/wav' });
    const asked = { model: 'ink-whisper', file, timestamp_granularities: ['word' as const] };
    const answer = await (await client()).stt.transcribe(asked);
    expect(answer).toMatchObject({ text: 'hello and welcome good bye', language: 'en', duration: 2 });
    expect(answer.words).toHaveLength(5);
  });

  it.each([
    ['bad-key', 'ink-whisper', 401],
    ['broke-key', 'ink-whisper', 402],
    ['limited-key', 'ink-whisper', 429],
    ['good', 'ink-2', 400],
  ])('is refused with %s and %s', async (key, model, status) => {
    const file = new File([new Uint8Array(silentWav(1))], 'audio.wav', { type: 'audio/wav' });
    await expect((await client(key)).stt.transcribe({ model, file })).rejects.toMatchObject({ status });
  });
});

describe('a session', () => {
  const QUERY = 'model=ink-2&encoding=pcm_s16le&sample_rate=16000';
  const open = async (query: string, speed = 1) => {
    const { url } = await simulated(speed);
    return new Client(`${url}/stt/websocket?${query}`, { authorization: 'Bearer good' });
  };

  it.each(['model=none&encoding=pcm_s16le&sample_rate=16000', `${QUERY}&keyterm=${'x'.repeat(1_201)}`, 'model=ink-2'])(
    'is refused with %s',
    async (query) => {
      expect(await (await open(query)).refused).toMatchObject({ status: 400 });
    },
  );

  it('is ended with a command that is none, and when nothing is sent', async () => {
    const socket = await open(QUERY);
    await socket.opened;
    socket.send('flush');
    expect(await socket.message('error')).toMatchObject({ status_code: 400 });
    expect((await (await open(QUERY, 4_000)).closed).code).toBe(1000);
  });
});
