// Live audio in a container that nobody declared, as pages record it, at every endpoint whose vendor recognises it by its first bytes.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { cut, recording } from '../../../audio/opus/opus-fixture.ts';
import { type LiveGateway, startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { seeded } from '../../../fakes/random.ts';

const MODEL = 'local/commands-en';
const FIRST = 'turn on the kitchen lights';
const WAV = readFileSync(join(import.meta.dirname, '../../../fixtures/audio/commands.wav')).subarray(0, 6 * 32_000);
const HEADER_BYTES = 44;

let live: LiveGateway;
beforeAll(async () => {
  live = await startLiveGateway();
});

interface SocketEndpoint {
  address: string;
  headersOf(key: string): Record<string, string>;
  /** What its client says first. */
  start?: object;
  end: string;
}

const ENDPOINTS: Readonly<Record<string, SocketEndpoint>> = {
  'Deepgram’s /v1/listen': {
    address: `/compat/deepgram/v1/listen?model=${MODEL}`,
    headersOf: (key) => ({ Authorization: `Token ${key}` }),
    end: '{"type":"CloseStream"}',
  },
  'Deepgram’s /v2/listen': {
    address: `/compat/deepgram/v2/listen?model=${MODEL}`,
    headersOf: (key) => ({ Authorization: `Token ${key}` }),
    end: '{"type":"CloseStream"}',
  },
  'Soniox’ /transcribe-websocket': {
    address: '/compat/soniox/transcribe-websocket',
    headersOf: (key) => ({ Authorization: `Bearer ${key}` }),
    start: { model: MODEL, audio_format: 'auto' },
    end: '',
  },
  'Speechmatics’ /v2': {
    address: '/compat/speechmatics/v2',
    headersOf: (key) => ({ Authorization: `Bearer ${key}` }),
    start: {
      message: 'StartRecognition',
      audio_format: { type: 'file' },
      transcription_config: { language: 'en', model: MODEL },
    },
    end: '{"message":"EndOfStream"}',
  },
  '/v1/listen?encoding=auto': {
    address: `/v1/listen?model=${MODEL}&encoding=auto`,
    headersOf: (key) => ({ Authorization: `Bearer ${key}` }),
    end: '{"type":"close"}',
  },
};

/** Sends all of it at once, without waiting for any answer, and gives what was said and how it ended. */
async function spoken({ address, headersOf, start, end }: SocketEndpoint, messages: readonly Uint8Array[]) {
  const socket = new WebSocket(live.url.replace('http', 'ws') + address, { headers: headersOf(live.key) });
  const texts: string[] = [];
  socket.on('message', (data) => texts.push(String(data)));
  await once(socket, 'open');
  if (start !== undefined) socket.send(JSON.stringify(start));
  for (const message of messages) socket.send(message);
  socket.send(end);
  const [code] = await once(socket, 'close');
  return { code: code as number, text: texts.join('\n') };
}

/** Said in one text, or in tokens that bring their own spaces. */
function wordsIn(text: string): string {
  const told = text.split('\n').map((line) => JSON.parse(line));
  const tokens = told.flatMap((message) => message.tokens ?? []).filter((token) => token.is_final);
  return tokens.length > 0 ? tokens.map((token) => token.text).join('') : text;
}

const streamed = (): Buffer => {
  const wav = Buffer.from(WAV);
  wav.writeUInt32LE(0xffff_ffff, 4);
  wav.writeUInt32LE(0xffff_ffff, HEADER_BYTES - 4);
  return wav;
};
/** A header that was written before anything was recorded, for less than what follows. */
const tooShort = (): Buffer => {
  const wav = Buffer.from(WAV);
  wav.writeUInt32LE(3_200, HEADER_BYTES - 4);
  return wav;
};

const CONTAINERS: Readonly<Record<string, () => Buffer>> = {
  'WebM of a browser’s recorder': () => recording('recorder/speech.webm'),
  'WebM without a length': () => recording('opus-live.webm'),
  'Ogg with Opus': () => recording('opus.ogg'),
  'WAV without a length': streamed,
  'WAV with a length that is too short': tooShort,
};

describe.each(Object.entries(ENDPOINTS))('%s', (_, endpoint) => {
  it.each(Object.entries(CONTAINERS))('recognises %s', async (__, bytes) => {
    const { code, text } = await spoken(endpoint, [bytes()]);
    expect([code, wordsIn(text).toLowerCase()]).toEqual([1000, expect.stringContaining(FIRST)]);
  });

  it.each<[string, (bytes: Buffer) => Uint8Array[]]>([
    ['a first message of one byte', (bytes) => [bytes.subarray(0, 1), bytes.subarray(1)]],
    ['messages of one to forty bytes', (bytes) => cut(bytes, seeded(4), 40)],
    ['slices as a recorder gives them', (bytes) => cut(bytes, seeded(5), 800)],
  ])('recognises a recording in %s', async (__, cutOf) => {
    const { code, text } = await spoken(endpoint, cutOf(recording('recorder/speech.webm')));
    expect([code, wordsIn(text).toLowerCase()]).toEqual([1000, expect.stringContaining(FIRST)]);
  });

  it.each<[string, () => Uint8Array, string]>([
    ['MP4', () => recording('recorder/recorder.m4a'), 'The audio is MP4'],
    ['MP3', () => recording('cbr.mp3'), 'not those of WebM, Ogg or WAV|The audio is MP3'],
    ['Ogg with Vorbis', () => recording('vorbis.ogg'), 'no Opus in it'],
    ['a recording without its first piece', () => recording('recorder/speech.webm').subarray(1_000), 'first byte'],
    ['samples without a header', () => WAV.subarray(HEADER_BYTES), 'declare the encoding'],
  ])('refuses %s, and says what is accepted', async (__, bytes, words) => {
    const { code, text } = await spoken(endpoint, [bytes()]);
    expect(code).not.toBe(1000);
    expect(text).toMatch(new RegExp(words));
  });
});
