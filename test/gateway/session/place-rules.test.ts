// Rules of where audio goes, as somebody meets them who tries to get around: with tokens, start messages, fallbacks, forms and repeats.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/node/store/sqlite-store.ts';
import type { Store } from '../../../src/node/store/store.ts';
import { type LiveGateway, sampleAudio, startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const BY = { type: 'operator', id: 'test' } as const;
/** Said by the operator to be in the EU; the embedded recogniser is on a machine of which nobody says where it is. */
const INSIDE = 'loopback/script';
const OUTSIDE = 'local/digits-en';

let live: LiveGateway;
let store: Store;
let organisationId: string;

beforeAll(async () => {
  live = await startLiveGateway({ VOXGATE_LOOPBACK_REGION: 'eu' });
  store = await openSqliteStore({ directory: live.directory });
  organisationId = (await store.listOrganisations())[0]!.id;
});
afterAll(() => store.close());

const keyWith = async (settings: Parameters<Store['createKey']>[1]) =>
  (await store.createKey(organisationId, settings, BY)).secret;
const bearer = (credential: string) => ({ headers: { Authorization: `Bearer ${credential}` }, authorize: false });

interface Told {
  error: { code: string; message: string; param: string };
}

const refused = async (query: Record<string, string>, credential: string) => {
  const { status, body } = await live.connect(query, bearer(credential)).refused();
  return { status, ...(JSON.parse(String(body)) as Told).error };
};

async function send(fields: Record<string, string>, credential: string, headers: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([sampleAudio('commands.wav').bytes]), 'commands.wav');
  const all = { ...headers, Authorization: `Bearer ${credential}` };
  const response = await fetch(`${live.url}/v1/audio/transcriptions`, { method: 'POST', body: form, headers: all });
  const body = (await response.json()) as Partial<Told> & { text?: string };
  return { status: response.status, code: body.error?.code, param: body.error?.param };
}

describe('a key that is restricted to a region', () => {
  let secret: string;
  beforeAll(async () => {
    secret = await keyWith({ name: 'eu', regions: ['eu'] });
  });

  it('opens sessions there, with fallbacks that are there', async () => {
    const client = live.connect({ model: INSIDE, fallbacks: 'loopback/numbered' }, bearer(secret));
    await client.event('session_started');
    client.send({ type: 'close' });
    expect((await client.close()).code).toBe(1000);
  });

  it.each<[string, Record<string, string>, string]>([
    ['another model', { model: OUTSIDE }, 'model'],
    ['a fallback elsewhere', { model: INSIDE, fallbacks: OUTSIDE }, 'fallbacks'],
    [
      'a fallback elsewhere, as an object',
      { model: INSIDE, fallbacks: JSON.stringify([{ model: OUTSIDE }]) },
      'fallbacks',
    ],
    ['another region of the request’s own', { model: INSIDE, region: 'us' }, 'model'],
    ['more regions than the key has', { model: OUTSIDE, region: 'eu,self' }, 'model'],
  ])('may not use %s', async (_, query, param) => {
    expect(await refused(query, secret)).toMatchObject({ status: 403, code: 'region_not_allowed', param });
  });

  it('mints tokens that are restricted as it is', async () => {
    const headers = { Authorization: `Bearer ${secret}` };
    const response = await fetch(`${live.url}/v1/tokens`, { method: 'POST', headers });
    const { token } = (await response.json()) as { token: string };
    const told = await refused({ model: OUTSIDE }, token);
    expect(told).toMatchObject({ status: 403, code: 'region_not_allowed' });
    expect(told.message).toContain(OUTSIDE);
    expect(told.message).toContain('the API key asks for region eu');
  });

  it.each([
    ['another model', { model: OUTSIDE }],
    ['a region in place of the key’s', { model: OUTSIDE, region: 'self' }],
    ['fallbacks that are objects', { model: INSIDE, fallbacks: [{ model: OUTSIDE, credential: 'service' }] }],
  ])('may not start with %s', async (_, message) => {
    const client = live.connect({ start: 'message' }, bearer(secret));
    await once(client.socket, 'open');
    client.send({ type: 'start', ...message });
    expect((await client.close()).code).toBe(4003);
    expect(client.of('error').at(-1)?.error.code).toBe('region_not_allowed');
  });

  it('may not send files elsewhere, nor repeat files that were allowed before', async () => {
    const own = await keyWith({ name: 'free' });
    const once = { 'Idempotency-Key': 'places 1' };
    expect(await send({ model: OUTSIDE }, own, once)).toMatchObject({ status: 200 });
    expect(await send({ model: OUTSIDE }, secret, once)).toMatchObject({ status: 403, code: 'region_not_allowed' });
    expect(await send({ model: INSIDE, fallbacks: OUTSIDE }, secret)).toMatchObject({
      status: 403,
      param: 'fallbacks',
    });
    expect(await send({ model: INSIDE }, secret)).toMatchObject({ status: 200 });
  });
});

it('restricts a request by its own region and retention, with catalogue values only', async () => {
  const own = await keyWith({ name: 'free' });
  expect(await refused({ model: OUTSIDE, region: 'eu' }, own)).toMatchObject({ code: 'region_not_allowed' });
  for (const [name, value] of [
    ['region', 'global'],
    ['region', 'unknown'],
    ['region', ''],
    ['retention', 'kept'],
  ] as const)
    expect(await refused({ model: INSIDE, [name]: value }, own)).toMatchObject({
      code: 'invalid_request',
      param: name,
    });
  expect(await send({ model: OUTSIDE, region: 'eu' }, own)).toMatchObject({ status: 403, code: 'region_not_allowed' });
  expect(await send({ model: OUTSIDE, region: 'mars' }, own)).toMatchObject({ status: 400, param: 'region' });
  expect(await send({ model: OUTSIDE, region: 'self', retention: 'none' }, own)).toMatchObject({ status: 200 });
});

it('lists the models that comply with a rule', async () => {
  const ids = async (query: string) => {
    const { data } = (await (await live.request(`/v1/models?${query}`)).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };
  const inside = await ids('region=eu');
  expect(inside).toContain(INSIDE);
  expect(inside).toContain('deepgram/nova-3');
  expect(inside).not.toContain(OUTSIDE);
  expect(await ids('region=self&retention=none&mode=live&language=en&max_price=0')).toContain(OUTSIDE);
  const cheap = await ids('provider=deepgram&max_price=0.0066&mode=live');
  expect([cheap.includes('deepgram/flux-general-en'), cheap.includes('deepgram/nova-3')]).toEqual([true, false]);
  expect((await live.request('/v1/models?region=global')).status).toBe(400);
  expect((await live.request('/v1/models?max_price=cheap')).status).toBe(400);
});

it('restricts all keys of an organisation, and lets a key be only stricter', async () => {
  const other = await store.createOrganisation('Strict', null, BY);
  await store.setPlaceRule(other.id, { regions: ['eu', 'us'], retention: 'none' }, BY);
  const { secret } = await store.createKey(other.id, { regions: ['eu', 'self'] }, BY);
  expect(await refused({ model: OUTSIDE }, secret)).toMatchObject({ code: 'region_not_allowed' });
  expect(await refused({ model: OUTSIDE, region: 'self' }, secret)).toMatchObject({ code: 'region_not_allowed' });
  const client = live.connect({ model: INSIDE, region: 'eu' }, bearer(secret));
  await client.event('session_started');
  client.send({ type: 'close' });
  expect((await client.close()).code).toBe(1000);
});
