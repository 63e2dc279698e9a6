// Aliases as clients meet them whose code cannot be changed: a name of a model that is a chain, over the socket and with files.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Aliases } from '../../../src/api/listen.ts';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const BY = { type: 'operator', id: 'test' } as const;
const SCRIPT = 'loopback/script';
const NUMBERED = 'loopback/numbered';
const SAID = { turns: [{ text: 'by the fallback', seconds: 1 }] };
const REFUSES = { model: SCRIPT, provider_params: { fail: { how: 'refuse' } } };

const OWN: Aliases = {
  'nova-3': [REFUSES, { model: SCRIPT, provider_params: SAID }],
  best: [{ model: SCRIPT, provider_params: { turns: [{ text: 'the key’s', seconds: 1 }] } }],
  away: [{ model: 'loopback/gone' }],
  mine: [{ model: 'deepgram/nova-3', credential: 'own' }],
  long: Array.from({ length: 9 }, (_, index) => ({ model: SCRIPT, provider_params: { final_delay_ms: index } })),
};
const OF_ALL: Aliases = { best: [{ model: NUMBERED }], numbered: [{ model: NUMBERED }] };

let live: LiveGateway;
let store: Store;
let organisationId: string;
let secret: string;

beforeAll(async () => {
  live = await startLiveGateway();
  store = await openSqliteStore({ directory: live.directory });
  organisationId = (await store.createOrganisation('Aliased', null, BY)).id;
  await store.setAliases(organisationId, OF_ALL, BY);
  secret = await keyWith({ aliases: OWN });
});
afterAll(() => store.close());

const keyWith = async (settings: Parameters<Store['createKey']>[1]) =>
  (await store.createKey(organisationId, settings, BY)).secret;
const bearer = (credential: string) => ({ headers: { Authorization: `Bearer ${credential}` }, authorize: false });

/** One second of audio in a session, to its end. */
async function listen(query: Record<string, string>, credential = secret, start?: object) {
  const client = live.connect(query, bearer(credential));
  await once(client.socket, 'open');
  if (start !== undefined) client.send({ type: 'start', ...start });
  const started = await client.event('session_started');
  client.socket.send(new Uint8Array(32_000));
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
  return { client, started, finals: client.of('transcript').filter((each) => each.is_final) };
}

const refused = async (query: Record<string, string>, credential = secret) => {
  const { status, body } = await live.connect(query, bearer(credential)).refused();
  return { status, ...(JSON.parse(String(body)) as { error: object }).error };
};

describe('a live session', () => {
  it('gets the chain of an alias: the fallback continues when the first model fails', async () => {
    const { client, started, finals } = await listen({ model: 'nova-3' });
    expect(started).toMatchObject({ model: SCRIPT, fallbacks: [{ model: SCRIPT }] });
    expect(client.of('failover')).toMatchObject([{ from: SCRIPT, to: SCRIPT, reason: 'upstream_closed' }]);
    expect(finals[0]).toMatchObject({ text: 'by the fallback' });
  });

  it('may name it in a start message, and with a client token', async () => {
    expect((await listen({ start: 'message' }, secret, { model: 'best' })).finals[0]?.text).toBe('the key’s');
    const minted = await fetch(`${live.url}/v1/tokens`, { method: 'POST', headers: bearer(secret).headers });
    const { token } = (await minted.json()) as { token: string };
    expect((await listen({ model: 'best' }, token)).finals[0]?.text).toBe('the key’s');
  });

  it('prefers its key’s alias to the organisation’s, which all keys share', async () => {
    expect((await listen({ model: 'numbered' })).started.model).toBe(NUMBERED);
    expect((await listen({ model: 'best' })).started.model).toBe(SCRIPT);
    expect((await listen({ model: 'best' }, await keyWith({}))).started.model).toBe(NUMBERED);
  });

  it('gives its own fallbacks behind those of the alias, and its own options to the first model', async () => {
    const { started } = await listen({ model: 'nova-3', fallbacks: NUMBERED });
    expect(started.fallbacks.map(({ model }) => model)).toEqual([SCRIPT, NUMBERED]);
    const turns = JSON.stringify({ turns: [{ text: 'asked for', seconds: 1 }] });
    expect((await listen({ model: 'best', provider_params: turns })).finals[0]?.text).toBe('asked for');
  });

  it.each<[string, Record<string, string>, object]>([
    [
      'a model of the alias that there is not',
      { model: 'away' },
      { status: 404, code: 'model_not_found', param: 'model' },
    ],
    ['a name that is not an alias', { model: 'nova-4' }, { status: 404, code: 'model_not_found', param: 'model' }],
    [
      'an alias among the fallbacks',
      { model: SCRIPT, fallbacks: 'best' },
      { code: 'model_not_found', param: 'fallbacks' },
    ],
    [
      'more fallbacks than there may be together',
      { model: 'long', fallbacks: NUMBERED },
      { status: 400, code: 'invalid_request', param: 'fallbacks' },
    ],
    [
      'options that the first model does not have',
      { model: 'best', provider_params: '{"punctuate":true}' },
      { code: 'invalid_provider_params', param: 'provider_params.punctuate' },
    ],
    [
      'your own key where none is saved',
      { model: 'mine' },
      { param: 'model', message: expect.stringContaining('asks for your own key for Deepgram') },
    ],
  ])('fails for %s', async (_, query, refusal) => {
    expect(await refused(query)).toMatchObject(refusal);
  });

  it('fails where the key does not allow a model of the alias', async () => {
    const narrow = await keyWith({ models: [NUMBERED], aliases: OWN });
    expect(await refused({ model: 'nova-3' }, narrow)).toMatchObject({ status: 403, code: 'model_not_allowed' });
    expect((await listen({ model: 'numbered' }, narrow)).started.model).toBe(NUMBERED);
  });
});

/** A file with a form; its fields stand in front of it, or behind it. */
async function transcribe(fields: Record<string, string>, { credential = secret, headers = {}, isFirst = false } = {}) {
  const form = new FormData();
  const file = new Blob([sampleAudio('commands.wav').bytes]);
  if (isFirst) form.set('file', file, 'commands.wav');
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (!isFirst) form.set('file', file, 'commands.wav');
  const all = { ...headers, Authorization: `Bearer ${credential}` };
  const response = await fetch(`${live.url}/v1/audio/transcriptions`, { method: 'POST', body: form, headers: all });
  const { text, error } = (await response.json()) as { text?: string; error?: { code: string; param: string } };
  return { status: response.status, text, replayed: response.headers.get('idempotency-replayed'), ...error };
}

describe('a file', () => {
  it.each([
    ['in front of it', false],
    ['behind it', true],
  ])('gets the chain of an alias %s: the fallback answers when the first model fails', async (_, isFirst) => {
    const { status, text } = await transcribe({ model: 'nova-3' }, { isFirst });
    expect([status, text?.includes('by the fallback')]).toEqual([200, true]);
  });

  it('gives its options to the first model, typed as they are there, also one by one', async () => {
    const { status, text } = await transcribe({ model: 'best', 'provider_params[final_delay_ms]': '1' });
    expect([status, text?.includes('the key’s')]).toEqual([200, true]);
  });

  it('fails in the same cases as a session', async () => {
    expect(await transcribe({ model: 'away' })).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    expect(await transcribe({ model: 'long', fallbacks: NUMBERED })).toMatchObject({ status: 400, param: 'fallbacks' });
    const narrow = await keyWith({ models: [NUMBERED], aliases: OWN });
    expect(await transcribe({ model: 'best' }, { credential: narrow })).toMatchObject({ code: 'model_not_allowed' });
  });

  it('gets its answer again on a repeat, but only for keys that may use the models', async () => {
    const headers = { 'Idempotency-Key': 'aliases 1' };
    const first = await transcribe({ model: 'best' }, { headers });
    expect(await transcribe({ model: 'best' }, { headers })).toEqual({ ...first, replayed: 'true' });
    const narrow = await keyWith({ models: [NUMBERED], aliases: OWN });
    const again = await transcribe({ model: 'best' }, { headers, credential: narrow });
    expect(again).toMatchObject({ status: 403, code: 'model_not_allowed' });
  });
});

it('lists the caller’s aliases after the models, each described like its first model', async () => {
  const get = async (path: string) => (await (await fetch(`${live.url}${path}`, bearer(secret))).json()) as object;
  const { data } = (await get('/v1/models')) as { data: { id: string; owned_by: string; name: string }[] };
  const listed = data.filter((each) => each.owned_by === 'alias');
  expect(data.slice(-listed.length)).toEqual(listed);
  expect(listed.map(({ id }) => id).sort()).toEqual(['best', 'long', 'mine', 'nova-3', 'numbered']);
  const script = (await get(`/v1/models/${SCRIPT}`)) as object;
  expect(await get('/v1/models/best')).toEqual({ ...script, id: 'best', owned_by: 'alias' });
});
