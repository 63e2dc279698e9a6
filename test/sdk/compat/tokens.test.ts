// Short-lived credentials, as other vendors' clients ask for them: what they open, for how long, and who may ask.
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import { type LiveGateway, startLiveGateway } from '../../fakes/processes/live-gateway.ts';
import { assemblyaiClient } from '../drivers/assemblyai.ts';
import { deepgramClient } from '../drivers/deepgram.ts';
import { elevenlabsClient } from '../drivers/elevenlabs.ts';
import { openaiClient } from '../drivers/openai.ts';
import { sonioxClient } from '../drivers/soniox.ts';

const BY = { type: 'operator', id: 'test' } as const;
const MODEL = 'local/commands-en';

let gateway: LiveGateway;
let withoutScope = '';

beforeAll(async () => {
  gateway = await startLiveGateway();
  const store = await openSqliteStore({ directory: gateway.directory });
  const { id } = await store.createOrganisation('Tokens', null, BY);
  withoutScope = (await store.createKey(id, { scopes: ['listen', 'transcribe'] }, BY)).secret;
  store.close();
});

/** The first message of a session. */
async function firstOf(path: string, headers: Record<string, string>, start?: object, protocols: string[] = []) {
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/compat${path}`, protocols, { headers });
  // It may come with the answer of the handshake.
  const first = once(socket, 'message');
  first.catch(() => {});
  try {
    await once(socket, 'open');
    if (start !== undefined) socket.send(JSON.stringify(start));
    const [data] = await first;
    return JSON.parse(String(data));
  } finally {
    socket.terminate();
  }
}

/** Its type. */
async function opened(path: string, headers: Record<string, string>, start?: object): Promise<unknown> {
  const said = await firstOf(path, headers, start);
  return said.type ?? said.message ?? said;
}

async function ask(place: string, headers: Record<string, string>, body?: object) {
  const [method, path] = place.split(' ') as [string, string];
  const response = await fetch(`${gateway.url}/compat${path}`, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('AssemblyAI’s SDK', () => {
  it('gets a token that opens a session', async () => {
    const token = await assemblyaiClient(gateway).streaming.createTemporaryToken({ expires_in_seconds: 60 });
    const path = `/assemblyai/v3/ws?sample_rate=16000&speech_model=${MODEL}`;
    expect(await opened(path, { Authorization: token })).toBe('Begin');
  });

  it.each([
    ['600', 300],
    ['1', 10],
    ['60', 60],
  ])('requests %s seconds, and gets %d', async (asked, expires_in_seconds) => {
    const { body } = await ask(`GET /assemblyai/v3/token?expires_in_seconds=${asked}`, { Authorization: gateway.key });
    expect(body).toEqual({ token: expect.stringMatching(/^st_/), expires_in_seconds });
  });
});

it('Soniox’ SDK is given a key that is taken for a session', async () => {
  const asked = { usage_type: 'transcribe_websocket', expires_in_seconds: 60 } as const;
  const { api_key, expires_at } = await sonioxClient(gateway).auth.createTemporaryKey(asked);
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
  const start = { api_key, model: MODEL, audio_format: 'pcm_s16le', sample_rate: 16_000, num_channels: 1 };
  const refused = opened('/soniox/transcribe-websocket', {}, { ...start, model: 'none/such' });
  // A session says nothing before it hears something. The key is good: what is refused is the model.
  expect(await refused).toMatchObject({ error_message: expect.stringContaining('none/such') });
});

it('Deepgram’s SDK is given a token that opens a session', async () => {
  const { access_token, expires_in } = await deepgramClient(gateway).auth.v1.tokens.grant({ ttl_seconds: 60 });
  expect(expires_in).toBe(60);
  const path = `/deepgram/v2/listen?model=${MODEL}&encoding=linear16&sample_rate=16000`;
  expect(await opened(path, { Authorization: `Bearer ${access_token}` })).toBe('Connected');
  const { body } = await ask('POST /deepgram/v1/auth/grant', { Authorization: `Token ${gateway.key}` });
  expect(body.expires_in).toBe(30);
});

it('ElevenLabs’ SDK is given a token that opens a session', async () => {
  const { token } = await elevenlabsClient(gateway).tokens.singleUse.create('realtime_scribe');
  const path = `/elevenlabs/v1/speech-to-text/realtime?model_id=${MODEL}&audio_format=pcm_16000&token=${token}`;
  expect(await opened(path, {})).toMatchObject({ message_type: 'session_started' });
});

it('gives a client of Speechmatics a key that opens a session', async () => {
  const headers = { Authorization: `Bearer ${gateway.key}` };
  const { status, body } = await ask('POST /speechmatics/v1/api_keys?type=rt', headers, { ttl: 60 });
  expect([status, body]).toEqual([201, { apikey_id: null, key_value: expect.stringMatching(/^st_/) }]);
  const start = {
    message: 'StartRecognition',
    audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
    transcription_config: { language: 'en' },
  };
  const authorization = { Authorization: `Bearer ${body.key_value}` };
  expect(await opened(`/speechmatics/v2?model=${MODEL}`, authorization, start)).toBe('RecognitionStarted');
});

describe('a client secret for OpenAI’s SDK', () => {
  const input = {
    format: { type: 'audio/pcm', rate: 24_000 },
    transcription: { model: MODEL },
    turn_detection: null,
  } as const;
  const session = { type: 'transcription', audio: { input } } as const;

  it('lasts in the beta as long as requested, and fails for a body in the other form', async () => {
    const bearer = { Authorization: `Bearer ${gateway.key}` };
    const place = 'POST /openai/v1/realtime/transcription_sessions';
    const seconds = (expires_at: object) => ask(place, bearer, { client_secret: { expires_at } });
    const { body } = await seconds({ anchor: 'created_at', seconds: 200 });
    const { expires_at } = body.client_secret as { expires_at: number };
    expect(expires_at * 1000 - Date.now()).toBeGreaterThan(150_000);
    expect((await seconds({ seconds: 99_999 })).body).toMatchObject({
      error: { param: 'client_secret.expires_at.seconds' },
    });
    expect((await ask(place, bearer, { session: {} })).body).toMatchObject({ error: { param: 'session.session' } });
  });

  it.each([
    ['wrong', 'ek_wrong', 'invalid_token'],
    ['that was cut', 'cut', 'invalid_token'],
  ])('fails when %s: on the socket for a page, by HTTP for others', async (_, secret, code) => {
    const { value } = await openaiClient(gateway).realtime.clientSecrets.create({ session });
    const said = secret === 'cut' ? value.slice(0, -3) : secret;
    const protocols = ['realtime', `openai-insecure-api-key.${said}`];
    const first = await firstOf('/openai/v1/realtime', {}, undefined, protocols);
    expect(first).toMatchObject({ type: 'error', error: { code } });
    const refused = firstOf('/openai/v1/realtime', { Authorization: `Bearer ${said}` });
    await expect(refused).rejects.toThrow('401');
  });

  it('opens sessions as requested, each of which may change its options', async () => {
    const asked = { expires_after: { anchor: 'created_at', seconds: 60 }, session } as const;
    const { value, expires_at, ...told } = await openaiClient(gateway).realtime.clientSecrets.create(asked);
    expect(told.session).toMatchObject(session);
    expect(expires_at * 1000).toBeGreaterThan(Date.now() + 50_000);
    expect(value).toMatch(/^ek_/);
    // As browsers send it, and servers.
    const protocols = ['realtime', `openai-insecure-api-key.${value}`];
    expect(await firstOf('/openai/v1/realtime', {}, undefined, protocols)).toMatchObject({
      type: 'session.created',
      session,
    });
    const bearer = { Authorization: `Bearer ${value}` };
    const other = {
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { turn_detection: null } } },
    };
    expect(await firstOf('/openai/v1/realtime', bearer, other)).toMatchObject({ type: 'session.created', session });
  });

  it('works in the beta, and for a session without options', async () => {
    const client = openaiClient(gateway);
    const input_audio_transcription = { model: 'gpt-4o-transcribe' } as const;
    const { client_secret, ...told } = await client.beta.realtime.transcriptionSessions.create({
      input_audio_transcription,
    });
    expect(told).toMatchObject({ input_audio_format: 'pcm16', input_audio_transcription });
    const beta = { Authorization: `Bearer ${client_secret.value}`, 'OpenAI-Beta': 'realtime=v1' };
    expect(await firstOf('/openai/v1/realtime', beta)).toMatchObject({
      type: 'transcription_session.created',
      session: { input_audio_transcription },
    });
    const { value } = await client.realtime.clientSecrets.create({});
    const bearer = { Authorization: `Bearer ${value}` };
    expect(await opened(`/openai/v1/realtime?model=${MODEL}`, bearer)).toBe('session.created');
    // It opens sessions, and nothing else.
    expect((await ask('GET /openai/v1/models', bearer)).status).toBe(403);
  });

  it.each<[string, object]>([
    ['session.type', { session: { type: 'realtime', model: 'gpt-realtime' } }],
    ['session.audio.input.turn_detection', { session: { audio: { input: { turn_detection: 'yes' } } } }],
    ['session', { session: 5 }],
    ['session', { session: { audio: { input: { transcription: { prompt: 'x'.repeat(3_072) } } } } }],
    ['expires_after.seconds', { expires_after: { anchor: 'created_at', seconds: 9 } }],
    ['expires_after.anchor', { expires_after: { anchor: 'used_at', seconds: 60 } }],
    ['session.foo', { session: { foo: 1 } }],
    ['session.audio', { session: { audio: 5 } }],
    ['sesion', { sesion: {} }],
    ['session.audio', { session: { audio: { input: 'x' } } }],
    ['expires_after', { expires_after: '60' }],
    [null as never, []],
  ])('stays out with a wrong %s', async (param, body) => {
    const bearer = { Authorization: `Bearer ${gateway.key}` };
    const { status, body: told } = await ask('POST /openai/v1/realtime/client_secrets', bearer, body);
    expect([status, told]).toEqual([400, { error: expect.objectContaining({ param }) }]);
  });
});

const GRANT = 'POST /deepgram/v1/auth/grant';
const SONIOX = 'POST /soniox/v1/auth/temporary-api-key';
const OPENAI = 'POST /openai/v1/realtime/client_secrets';

it.each<[string, (key: string) => Record<string, string>, object | undefined]>([
  ['GET /assemblyai/v3/token?expires_in_seconds=soon', (key) => ({ Authorization: key }), undefined],
  ['GET /assemblyai/v3/token?max_session_duration_seconds=60', (key) => ({ Authorization: key }), undefined],
  ['POST /speechmatics/v1/api_keys?type=batch', (key) => ({ Authorization: `Bearer ${key}` }), { ttl: 60 }],
  ['POST /speechmatics/v1/api_keys?type=rt', (key) => ({ Authorization: `Bearer ${key}` }), { ttl: -1 }],
  [GRANT, (key) => ({ Authorization: `Token ${key}` }), { ttl_seconds: -1 }],
  [OPENAI, (key) => ({ Authorization: `Bearer ${key}` }), { session: { type: 'realtime' } }],
  [SONIOX, (key) => ({ Authorization: `Bearer ${key}` }), { usage_type: 'tts_rt', expires_in_seconds: 60 }],
  [
    SONIOX,
    (key) => ({ Authorization: `Bearer ${key}` }),
    { usage_type: 'transcribe_websocket', expires_in_seconds: 60, single_use: true },
  ],
])('refuses %s when it is invalid, and to unauthorised callers', async (place, headersOf, body) => {
  expect((await ask(place, headersOf(gateway.key), body)).status).toBe(400);
  expect((await ask(place, headersOf(withoutScope), body)).status).toBe(403);
  expect((await ask(place, headersOf('sk_vox_unknown'), body)).status).toBe(401);
});
