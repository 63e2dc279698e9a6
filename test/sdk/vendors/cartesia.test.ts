// Cartesia's official SDK, unmodified, against the simulated Cartesia.
import Cartesia from '@cartesia/cartesia-js';
import { expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { scripted, WHOLE, wavFile } from '../../suites/provider/scripted.ts';

const RATE = 16_000;
const SESSION = { model: 'ink-2', encoding: 'pcm_s16le', sample_rate: RATE } as const;

// This Node has none of its own without a flag.
vi.stubGlobal('WebSocket', WebSocket);
const simulated = scripted('cartesia');

const client = async () => new Cartesia({ apiKey: 'good', baseURL: (await simulated()).url, maxRetries: 0 });

it('gets interims and settled text, the mark of an end, and the end of the session', async () => {
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
  expect(settled.map(({ text }) => text).join('')).toBe(`${WHOLE} hello and welcome.`);
  expect(said.some(({ is_final }) => is_final === false)).toBe(true);
  expect(said.slice(-2).map(({ type }) => type)).toEqual(['flush_done', 'done']);
});

it('gets, of a file, words, language and seconds', async () => {
  const asked = { model: 'ink-whisper', file: wavFile(), timestamp_granularities: ['word' as const] };
  const answer = await (await client()).stt.transcribe(asked);
  expect(answer).toMatchObject({ text: WHOLE, language: 'en', duration: 2 });
  expect(answer.words).toHaveLength(5);
});

it('fails for a file with a model for streams', async () => {
  const asked = { model: 'ink-2', file: wavFile() };
  await expect((await client()).stt.transcribe(asked)).rejects.toMatchObject({ status: 400 });
});
