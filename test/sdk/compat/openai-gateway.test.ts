// What OpenAI's SDK meets at a real gateway beside transcripts: its own names of models for files, and a browser's credential.
import { once } from 'node:events';
import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { sampleAudio } from '../../fakes/processes/live-gateway.ts';
import { startDialectRig } from '../../vendors/compat/rig.ts';

const rig = startDialectRig();

describe('a file of the SDK', () => {
  const create = async (base: string) => {
    const { url, key } = rig.gateway;
    const openai = new OpenAI({ apiKey: key, baseURL: `${url}${base}`, maxRetries: 0 });
    const file = await toFile(sampleAudio('commands.wav').bytes, 'speech.wav', { type: 'audio/wav' });
    return openai.audio.transcriptions.create({ file, model: 'gpt-4o-transcribe' });
  };

  it('may name its model as OpenAI does, at its own endpoint', async () => {
    expect((await create('/compat/openai/v1')).text).toMatch(/^\d+-\d+/);
    await expect(create('/v1')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

it('models are listed at its own endpoint as they are at /v1', async () => {
  const { url, key } = rig.gateway;
  const idsAt = async (base: string) => {
    const { data } = await new OpenAI({ apiKey: key, baseURL: `${url}${base}`, maxRetries: 0 }).models.list();
    return data.map(({ id }) => id);
  };
  expect(await idsAt('/compat/openai/v1')).toEqual(await idsAt('/v1'));
  const { models } = new OpenAI({ apiKey: key, baseURL: `${url}/compat/openai/v1`, maxRetries: 0 });
  expect((await models.retrieve('deepgram/nova-3')).id).toBe('deepgram/nova-3');
  expect((await models.retrieve('whisper-1')).id).toBe('openai/whisper-1');
  await expect(models.retrieve('whisper-9')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
});

it.each<[string, object]>([
  ['assemblyai', { error: expect.any(String) }],
  ['deepgram', { err_code: 'Not Found' }],
  ['elevenlabs', { detail: { status: 'not_found' } }],
  ['speechmatics', { code: 404 }],
  ['soniox', { status_code: 404 }],
])('answers 404 for clients of %s in their vendor’s format', async (name, body) => {
  const response = await fetch(`${rig.gateway.url}/compat/${name}/v9/other`, { method: 'POST' });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject(body);
});

describe('a browser', () => {
  const connect = (key: string) =>
    new WebSocket(`${rig.gateway.url.replace('http', 'ws')}/compat/openai/v1/realtime?model=deepgram/nova-3`, [
      'realtime',
      `openai-insecure-api-key.${key}`,
      'openai-beta.realtime-v1',
    ]);

  it('sends its key in a subprotocol, and uses the protocol that it names', async () => {
    const socket = connect(rig.gateway.key);
    const [greeting] = await once(socket, 'message');
    expect(socket.protocol).toBe('realtime');
    expect(JSON.parse(String(greeting))).toMatchObject({ type: 'transcription_session.created' });
    socket.send(
      JSON.stringify({ type: 'session.update', session: { audio: { input: { transcription: { model: 'no/no' } } } } }),
    );
    const [refused] = await once(socket, 'message');
    expect(JSON.parse(String(refused))).toMatchObject({ type: 'error', error: { code: 'model_not_found' } });
    const [code, reason] = await once(socket, 'close');
    expect([code, String(reason)]).toEqual([4004, 'invalid_request_error.model_not_found']);
  });

  it('fails with a wrong key on its socket, since it cannot read a handshake’s answer', async () => {
    const socket = connect('sk_vox_unknown');
    const [[told], [code, reason]] = await Promise.all([once(socket, 'message'), once(socket, 'close')]);
    const error = { type: 'authentication_error', code: 'invalid_api_key', param: null };
    expect(JSON.parse(String(told))).toMatchObject({ type: 'error', error });
    expect([socket.protocol, code, String(reason)]).toEqual(['realtime', 3000, 'authentication_error.invalid_api_key']);
  });

  it('refuses a server with a wrong key in OpenAI’s error format', async () => {
    const url = `${rig.gateway.url.replace('http', 'ws')}/compat/openai/v1/realtime`;
    const socket = new WebSocket(url, { headers: { Authorization: 'Bearer sk_vox_unknown' } });
    const [, answer] = await once(
      socket.on('error', () => {}),
      'unexpected-response',
    );
    expect(answer.statusCode).toBe(401);
    const body = JSON.parse(String((await answer.toArray())[0]));
    expect(body.error).toMatchObject({ type: 'authentication_error', code: 'invalid_api_key', param: null });
  });
});
