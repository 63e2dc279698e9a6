// The rules that simulated OpenAI keeps: who is let in, and what a session takes and refuses.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { closeAll } from './client.ts';
import { begun, COMPLETED, created, type Dial, OpenaiClient, start, updateOf } from './openai-client.ts';

afterEach(closeAll);

describe('the admission of clients', () => {
  it.each<[string, Dial, { status: number; code: string | null }]>([
    ['without a key', { headers: {} }, { status: 401, code: null }],
    ['too often', { headers: { authorization: 'Bearer limited' } }, { status: 429, code: 'rate_limit_exceeded' }],
    ['elsewhere', { path: '/v1/listen' }, { status: 404, code: 'unknown_url' }],
    ['without an intent', { path: '/v1/realtime' }, { status: 400, code: 'missing_model' }],
    [
      'in the old shape',
      { headers: { authorization: 'Bearer sk', 'openai-beta': 'realtime=v1' } },
      { status: 400, code: 'beta_api_shape_disabled' },
    ],
    [
      'in the old shape, from a browser',
      { protocols: ['realtime', 'openai-insecure-api-key.sk', 'openai-beta.realtime-v1'], headers: {} },
      { status: 400, code: 'beta_api_shape_disabled' },
    ],
  ])('refuses a client %s', async (_, dial, { status, code }) => {
    const refused = await new OpenaiClient(await start(), dial).refused;
    expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([status, code]);
  });

  it.each([
    ['a bad key', 'bad-4711', 3000, 'invalid_request_error', 'invalid_api_key'],
    ['an unknown secret', 'ek_no', 3000, 'invalid_request_error', 'invalid_api_key'],
    ['no credit', 'broke', 1013, 'insufficient_quota', 'insufficient_quota'],
  ])('refuses a client with %s on the open connection', async (_, key, close, type, code) => {
    const client = new OpenaiClient(await start(), { headers: { authorization: `Bearer ${key}` } });
    expect(await client.closed).toEqual({ code: close, reason: `${type}.${code}` });
    expect(client.said).toMatchObject([{ type: 'error', error: { type, code } }]);
  });

  it('answers a bad key with JSON declared as text, and the ends of the key', async () => {
    const { url } = await start();
    const answer = await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer bad-key-of-4711' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'text/plain; charset=utf-8']);
    expect(JSON.parse(await answer.text())).toMatchObject({
      status: 401,
      error: { code: 'invalid_api_key', message: expect.stringMatching(/ bad-key-\*+4711\.$/) },
    });
  });

  it('admits a browser, which sends its key as a subprotocol', async () => {
    const client = await created({}, { protocols: ['realtime', 'openai-insecure-api-key.sk'], headers: {} });
    expect(client.socket.protocol).toBe('realtime');
  });

  it('admits a client secret until it expires', async () => {
    const clock = new SimulatedClock();
    const server = await start({ clock });
    const answer = await fetch(`${server.url}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk', 'content-type': 'application/json' },
      body: JSON.stringify({
        expires_after: { anchor: 'created_at', seconds: 10 },
        session: { type: 'transcription', audio: { input: { transcription: { model: 'whisper-1' } } } },
      }),
    });
    const { value, expires_at } = (await answer.json()) as { value: string; expires_at: number };
    expect([answer.status, value.startsWith('ek_'), expires_at]).toEqual([200, true, 10]);
    const browser = { protocols: ['realtime', `openai-insecure-api-key.${value}`], headers: {} };
    const client = new OpenaiClient(server, browser);
    expect(await client.message('session.created')).toMatchObject({
      session: { audio: { input: { transcription: { model: 'whisper-1' } } } },
    });
    clock.increment(10_000);
    expect((await new OpenaiClient(server, browser).closed).code).toBe(3000);
  });
});

describe('an update', () => {
  const model = 'gpt-4o-transcribe';
  const input = 'session.audio.input';
  it.each<[string, object, string, string]>([
    ['PCM at another rate', { format: { type: 'audio/pcm', rate: 16_000 } }, 'invalid_value', `${input}.format.rate`],
    ['another format', { format: { type: 'audio/mp3' } }, 'missing_required_parameter', `${input}.format.rate`],
    ['no model', {}, 'missing_required_parameter', `${input}.transcription.model`],
    ['an unknown model', { transcription: { model: 'gpt-5' } }, 'invalid_model', `${input}.transcription.model`],
    [
      'a model for files',
      { transcription: { model: 'gpt-4o-transcribe-diarize' } },
      'invalid_model',
      `${input}.transcription.model`,
    ],
    [
      'turn detection where there is none',
      { transcription: { model: 'gpt-live-transcribe' }, turn_detection: { type: 'server_vad' } },
      'invalid_value',
      `${input}.turn_detection`,
    ],
    [
      'turn detection of no kind',
      { transcription: { model }, turn_detection: { type: 'x' } },
      'invalid_value',
      `${input}.turn_detection.type`,
    ],
    ['languages', { transcription: { model, languages: ['en'] } }, 'invalid_value', `${input}.transcription.languages`],
    ['keywords', { transcription: { model, keywords: ['k'] } }, 'invalid_value', `${input}.transcription.keywords`],
    ['a delay', { transcription: { model, delay: 'low' } }, 'invalid_value', `${input}.transcription.delay`],
    [
      'a prompt',
      { transcription: { model: 'gpt-realtime-whisper', prompt: 'p' } },
      'invalid_value',
      `${input}.transcription.prompt`,
    ],
    ['an unknown value', { transcription: { model }, voice: 'x' }, 'unknown_parameter', `${input}.voice`],
  ])('fails for %s', async (_, members, code, param) => {
    const client = await created();
    client.send(updateOf(members));
    expect(await client.error()).toMatchObject({ code, param, event_id: 'mine' });
  });

  it('ends the session for an unknown model', async () => {
    const client = await created();
    client.send(updateOf({ transcription: { model: 'gpt-5' } }));
    expect(await client.closed).toEqual({ code: 4000, reason: 'invalid_request_error.invalid_model' });
  });

  it('changes what it names, and leaves the rest', async () => {
    const client = await begun(model, {}, { turn_detection: { type: 'server_vad', silence_duration_ms: 200 } });
    client.send(updateOf({ turn_detection: null }));
    await client.message('session.updated', 2);
    const inputs = client
      .all('session.updated')
      .map(({ session }) => (session as { audio: { input: object } }).audio.input);
    expect(inputs).toMatchObject([
      { turn_detection: { type: 'server_vad', threshold: 0.5, silence_duration_ms: 200 } },
      { turn_detection: null, transcription: { model } },
    ]);
  });
});

describe('an event', () => {
  it.each<[string, object | string, string]>([
    ['that is not JSON', 'hello', 'invalid_json'],
    ['of the old shape', { type: 'transcription_session.update', session: {} }, 'invalid_value'],
    ['of an unknown type', { type: 'response.create' }, 'invalid_value'],
    ['of audio that is not base64', { type: 'input_audio_buffer.append', audio: '***' }, 'invalid_value'],
    [
      'of too much audio',
      { type: 'input_audio_buffer.append', audio: 'A'.repeat(15_728_644) },
      'string_above_max_length',
    ],
    ['that commits nothing', { type: 'input_audio_buffer.commit' }, 'input_audio_buffer_commit_empty'],
  ])('%s fails, and the session continues', async (_, event, code) => {
    const client = await begun('whisper-1');
    client.send(event);
    expect((await client.error()).code).toBe(code);
    client.speak(0, 2);
    await client.message(COMPLETED);
    expect(client.transcripts).toEqual(['0-48000']);
  });

  it('fails as bytes', async () => {
    const client = await begun('whisper-1');
    client.socket.send(Buffer.alloc(20));
    await client.message('error');
  });
});
