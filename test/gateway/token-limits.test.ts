// Client tokens with limits, as a page meets them: over the socket and with files, and used once.
import { beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/node/store/sqlite-store.ts';
import { silentWav } from '../fakes/audio/audio-files.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';

let live: LiveGateway;
let uploads: string;
beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_TOKENS_PER_MINUTE_PER_KEY_MAX: '1000' });
  const { organisationId } = live.gateway.firstKey!.key;
  const store = await openSqliteStore({ directory: live.directory });
  const scopes = ['listen', 'transcribe', 'tokens', 'tokens_may_upload'] as const;
  const { secret } = await store.createKey(organisationId, { scopes }, { type: 'operator', id: 'test' });
  uploads = secret;
  await store.close();
});

const NUMBERED = 'loopback/numbered';

async function mint(body: object, key = live.key) {
  const response = await live.request('/v1/tokens', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
  });
  const answer = (await response.json()) as { token: string; error?: { code: string; param: string; message: string } };
  return { status: response.status, ...answer };
}

const connect = (token: string, query: Record<string, string> = {}) =>
  live.connect(
    { model: NUMBERED, provider_params: '{"turn_seconds":0.5}', ...query },
    { authorize: false, protocols: ['bearer', token] },
  );

async function refusedWith(token: string, query: Record<string, string> = {}): Promise<string> {
  const client = connect(token, query);
  const { error } = await client.event('error');
  await client.close();
  return error.code;
}

describe('a body that asks for limits', () => {
  it.each<[string, object, string]>([
    ['no models', { models: [] }, 'models'],
    ['eleven models', { models: Array.from({ length: 11 }, () => 'deepgram/*') }, 'models'],
    ['a model that is none', { models: ['*'] }, 'models'],
    ['a model as text', { models: 'deepgram/*' }, 'models'],
    ['no seconds', { max_seconds: 0 }, 'max_seconds'],
    ['seconds as text', { max_seconds: '60' }, 'max_seconds'],
    ['a cost below zero', { max_cost: -1 }, 'max_cost'],
    ['a cost of seven decimals', { max_cost: '0.0000001' }, 'max_cost'],
    ['a cost of seven decimals as a number', { max_cost: 0.0000001 }, 'max_cost'],
    ['a cost that is none', { max_cost: 'much' }, 'max_cost'],
    ['a language that is none', { languages: ['english'] }, 'languages'],
    ['auto', { languages: ['auto'] }, 'languages'],
    ['a use that is none', { single_use: 1 }, 'single_use'],
    [
      'models with the longest names',
      { models: Array.from({ length: 10 }, (_, n) => `${`p${n}`.padEnd(32, 'x')}/${'x'.repeat(96)}`) },
      'models',
    ],
  ])('is refused with %s', async (_, body, param) => {
    const { status, error } = await mint(body);
    expect([status, error?.code, error?.param]).toEqual([400, 'invalid_request', param]);
    expect(error?.message).toMatch(/\.$/);
  });
});

describe('a token for', () => {
  it('some models opens those alone, also as fallbacks and after a change', async () => {
    const { token } = await mint({ models: [NUMBERED] });
    expect(await refusedWith(token, { model: 'loopback/script', provider_params: '{}' })).toBe('model_not_allowed');
    expect(await refusedWith(token, { fallbacks: 'loopback/script' })).toBe('model_not_allowed');
    const client = connect(token);
    await client.event('session_started');
    client.send({ type: 'configure', fallbacks: 'loopback/script' });
    expect((await client.event('error')).error.code).toBe('model_not_allowed');
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
  });

  it('some seconds shortens the session, which a request can only shorten further', async () => {
    const { token } = await mint({ max_seconds: 2 });
    const secondsOf = async (query: Record<string, string>) => {
      const client = connect(token, query);
      const { limits } = await client.event('session_started');
      client.send({ type: 'close' });
      await client.close();
      return limits.session_seconds;
    };
    expect([
      await secondsOf({}),
      await secondsOf({ max_seconds: '1' }),
      await secondsOf({ max_seconds: '60' }),
    ]).toEqual([2, 1, 2]);
  });

  it('some languages takes requests that name one', async () => {
    const { token } = await mint({ languages: ['en'] });
    expect(await refusedWith(token)).toBe('language_not_allowed');
    expect(await refusedWith(token, { language: 'de' })).toBe('language_not_allowed');
    const client = connect(token, { language: 'en-US' });
    await client.event('session_started');
    client.send({ type: 'configure', language: 'de' });
    expect((await client.event('error')).error.code).toBe('language_not_allowed');
    client.send({ type: 'close' });
    await client.close();
  });

  it('one use opens one session, and resumes it', async () => {
    const { token } = await mint({ single_use: true });
    // A request that cannot be opened does not use it up.
    expect(await refusedWith(token, { model: 'loopback/none' })).toBe('model_not_found');
    const client = connect(token, { resume: 'on' });
    const { resume_token } = await client.event('session_started');
    expect(await refusedWith(token)).toBe('token_used');
    client.socket.terminate();
    const again = connect(token, { resume: resume_token!, last_seq: '1' });
    await again.event('session_resumed');
    again.send(numberedAudio(0, 16_000));
    again.send({ type: 'close' });
    expect((await again.close()).code).toBe(1000);
  });

  it('one use opens one of many sessions at a time', async () => {
    const { token } = await mint({ single_use: true });
    const clients = Array.from({ length: 20 }, () => connect(token));
    const outcomes = await Promise.all(
      clients.map(async (client) => {
        const first = await Promise.race([client.event('session_started'), client.event('error')]);
        client.send({ type: 'close' });
        await client.close();
        return first.type;
      }),
    );
    expect(outcomes.filter((type) => type === 'session_started')).toHaveLength(1);
  });
});

describe('an upload with a token', () => {
  async function upload(token: string, fields: Record<string, string> = {}): Promise<[number, string | undefined]> {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'loopback/script', ...fields })) form.append(name, value);
    form.append('file', new Blob([silentWav(2)]), 'a.wav');
    const init = { method: 'POST', body: form, headers: { Authorization: `Bearer ${token}` } };
    const response = await fetch(`${live.url}/v1/audio/transcriptions`, init);
    const { error } = (await response.json()) as { error?: { code: string } };
    return [response.status, error?.code];
  }

  it('keeps to its models, seconds and languages', async () => {
    expect(await upload((await mint({ models: ['openai/*'] }, uploads)).token)).toEqual([403, 'model_not_allowed']);
    expect(await upload((await mint({ max_seconds: 1 }, uploads)).token)).toEqual([413, 'audio_too_long']);
    expect(await upload((await mint({ languages: ['en'] }, uploads)).token)).toEqual([403, 'language_not_allowed']);
    const { token } = await mint({ models: ['loopback/*'], max_seconds: 2, max_cost: '0', languages: ['en'] }, uploads);
    expect(await upload(token, { language: 'en' })).toEqual([200, undefined]);
  });

  it('is one use', async () => {
    const { token } = await mint({ single_use: true }, uploads);
    expect([await upload(token), await upload(token)]).toEqual([
      [200, undefined],
      [401, 'token_used'],
    ]);
  });
});
