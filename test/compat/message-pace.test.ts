// Clients whose audio comes in text: what is no audio is held to the pace of messages as on `/v1/listen`, and audio is not.
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answerDialect } from '../../src/compat/live.ts';
import type { ServerSocket } from '../../src/http/server.ts';
import { type PaceSettings, SocketPaces } from '../../src/live/pace/socket-pace.ts';
import type { Dialect } from '../../src/vendors/compat/dialect.ts';
import { livekit } from '../../src/vendors/livekit/index.ts';
import { openai } from '../../src/vendors/openai/compat/index.ts';
import { twilio } from '../../src/vendors/telephony/carriers.ts';
import { listenRig, request } from '../live/socket/listen-rig.ts';
import { vendorDependencies } from './vendor-dependencies.ts';

/** Ten seconds’ worth may come at once. */
const MESSAGES_MAX = 500;
const SETTINGS: PaceSettings = {
  ...{ socketFramesPerSecondMax: 50_000, socketBytesPerSecondMax: 4_194_304, socketMessagesPerSecondMax: 50 },
  ...{ organisationFramesPerSecondMax: 250_000, organisationMessagesPerSecondMax: 1_000 },
  ...{ largeMessagesMax: 4, largeMessageSocketsMax: 4 },
};
const MODEL = 'loopback/script';
const json = JSON.stringify;
const silence = (bytes: number) => Buffer.alloc(bytes, 0xff).toString('base64');
const START = { callSid: 'CA1', tracks: ['inbound'], customParameters: { model: MODEL } };

interface Client {
  dialect: Dialect;
  path: string;
  query?: string;
  first: string;
}
const CLIENTS = {
  twilio: { dialect: twilio, path: '/media', first: json({ event: 'start', start: START }) },
  both: {
    ...{ dialect: twilio, path: '/media' },
    first: json({ event: 'start', start: { ...START, tracks: ['inbound', 'outbound'] } }),
  },
  openai: {
    ...{ dialect: openai, path: '/v1/realtime', query: 'intent=transcription' },
    first: json({
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { transcription: { model: MODEL } } } },
    }),
  },
  livekit: {
    ...{ dialect: livekit, path: '/v1/stt' },
    first: json({ type: 'session.create', model: MODEL, settings: { sample_rate: '16000' } }),
  },
} as const satisfies Record<string, Client>;

/** A session of such a client, and how its socket was ended: by itself it goes on. */
async function opened({ dialect, path, query = '', first }: Client) {
  const ends: string[] = [];
  let heardBytes = 0;
  const session = {
    audio: (bytes: Uint8Array) => {
      heardBytes += bytes.byteLength;
    },
    ...{ control: () => {}, misunderstood: () => {}, gone: () => {} },
    abort: (code: string) => ends.push(code),
  };
  const time = { ms: 0 };
  const { dependencies } = listenRig({ open: () => session });
  const calls = { open: () => undefined };
  Object.assign(dependencies, { paces: new SocketPaces(SETTINGS, () => time.ms), calls });
  const said: string[] = [];
  const socket = {
    ...{ ping: () => {}, close: (code: number, reason: string) => said.push(`${code} ${reason}`) },
    send: (text: string) => said.push(text),
  } as unknown as ServerSocket;
  const asked = { ...request, query };
  const answer = await answerDialect(dialect, path, asked, 'req_1', vendorDependencies(dependencies));
  if (!('accept' in answer)) throw new Error(`It was refused: ${json(answer)}`);
  const { accept, pace } = answer;
  onTestFinished(() => accept.closed(socket, 1000, ''));
  accept.open(socket);
  const send = (data: string | Uint8Array, canWait = true): number => {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const waitMs = pace?.take(bytes.byteLength, typeof data !== 'string', canWait) ?? 0;
    accept.message(socket, bytes, typeof data !== 'string');
    return waitMs;
  };
  send(first);
  for (let turns = 0; turns < 20; turns++) await turn();
  return { time, ends, said, send, heardBytes: () => heardBytes };
}

describe('a flood of texts without audio ends as on /v1/listen', () => {
  it.each<[string, Client, string]>([
    ['Twilio: an object of nothing', CLIENTS.twilio, '{}'],
    ['Twilio: marks', CLIENTS.twilio, '{"event":"mark"}'],
    ['OpenAI: commits', CLIENTS.openai, '{"type":"input_audio_buffer.commit"}'],
    ['OpenAI: no audio', CLIENTS.openai, '{"type":"input_audio_buffer.append","audio":""}'],
    ['LiveKit: updates', CLIENTS.livekit, '{"type":"session.update","settings":{}}'],
    ['LiveKit: finalizes', CLIENTS.livekit, '{"type":"session.finalize"}'],
  ])('%s', async (_, client, text) => {
    const { send, ends, said } = await opened(client);
    for (let count = 0; count < MESSAGES_MAX - 2; count++) send(text);
    expect(ends).toEqual([]);
    for (let count = 0; count < 10; count++) send(text);
    expect(ends).toEqual(['rate_limit_exceeded']);
    // An answer to each at most, and none is longer than what is told of an error.
    expect(said.length).toBeLessThan(MESSAGES_MAX + 10);
  });

  it('OpenAI: binary messages, each refused as invalid', async () => {
    const { send, ends } = await opened(CLIENTS.openai);
    for (let count = 0; count < MESSAGES_MAX + 10; count++) send(new Uint8Array(2));
    expect(ends).toEqual(['rate_limit_exceeded']);
  });

  it('earlier where they are long: all of it is parsed', async () => {
    const { send, ends } = await opened(CLIENTS.livekit);
    const long = `{"type":"x","a":[${'{},'.repeat(340_000)}{}]}`;
    for (let count = 0; count < 7; count++) send(long);
    expect(ends).toEqual([]);
    send(long);
    expect(ends).toEqual(['rate_limit_exceeded']);
  });

  it('but not at the permitted pace', async () => {
    const { send, ends, time } = await opened(CLIENTS.openai);
    for (let second = 0; second < 30; second++, time.ms += 1_000)
      for (let count = 0; count < 50; count++) send('{"type":"input_audio_buffer.commit"}');
    expect(ends).toEqual([]);
  });
});

describe('audio at any rate is neither refused nor made to wait', () => {
  const media = (chunk: number, track = 'inbound') =>
    json({
      event: 'media',
      media: { track, chunk: String(chunk), timestamp: String(chunk * 20), payload: silence(160) },
    });

  it.each<[string, Client, number, (count: number) => string | readonly string[]]>([
    ['Twilio', CLIENTS.twilio, 160, (count) => media(count)],
    ['Twilio, pairs out of order', CLIENTS.twilio, 320, (count) => [media(2 * count + 2), media(2 * count + 1)]],
    ['Twilio, both tracks', CLIENTS.both, 320, (count) => [media(count), media(count, 'outbound')]],
    ['Twilio, the track that is left out', CLIENTS.twilio, 160, (count) => [media(count), media(count, 'outbound')]],
    [
      'OpenAI, a sample at a time',
      CLIENTS.openai,
      2,
      () => json({ type: 'input_audio_buffer.append', audio: silence(2) }),
    ],
    ['LiveKit', CLIENTS.livekit, 640, () => json({ type: 'input_audio', audio: silence(640) })],
  ])('%s', async (_, client, bytes, texts) => {
    const { send, ends, heardBytes } = await opened(client);
    send([texts(0)].flat()[0] as string);
    const before = heardBytes();
    let waits = 0;
    for (let count = 1; count <= 5_000; count++)
      for (const text of [texts(count)].flat()) if (send(text, false) > 0) waits++;
    expect([ends, waits]).toEqual([[], 0]);
    expect(heardBytes() - before).toBeGreaterThanOrEqual(bytes * 4_990);
  });
});
