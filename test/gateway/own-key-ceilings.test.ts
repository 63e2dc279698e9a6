// An organisation's own provider key under the gateway's ceilings on spend: its live sessions and files count at the price of the model,
// are charged 0.00, and are refused once the ceiling is reached.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditBeside } from '../../src/money/store/audit/auditor.ts';
import { systemClock } from '../../src/runtime/telemetry/clock.ts';
import { numberedEar } from '../../src/vendors/simulation/ears.ts';
import { SimulatorServer } from '../../src/vendors/simulation/server.ts';
import { simulators } from '../../src/vendors/simulators.ts';
import { silentWav } from '../fakes/audio/audio-files.ts';
import { numberedAudio } from '../fakes/audio/numbered-audio.ts';
import { type LiveGateway, startLiveGateway } from '../fakes/processes/live-gateway.ts';
import { temporaryDirectory } from '../fakes/temporary-directory.ts';

const MODEL = 'deepgram/nova-3';
/** A cent a second. */
const PRICE = { unit: 'minute', amount: '0.6', add_ons: [] };
const BROWSER = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-requested-with': 'console' };
const PASSWORD = 'a long password of ada';

let simulator: SimulatorServer;
let live: LiveGateway;
let key = '';
beforeAll(async () => {
  simulator = await SimulatorServer.start({
    simulator: simulators.find(({ provider }) => provider === 'deepgram')!,
    ear: numberedEar({ turnSeconds: 0.7 }),
    clock: systemClock,
  });
  const file = join(temporaryDirectory(), 'prices.json');
  writeFileSync(file, JSON.stringify({ [MODEL]: { live: PRICE, batch: PRICE } }));
  live = await startLiveGateway({
    VOXGATE_PRICES_FILE: file,
    // What counts is without it.
    VOXGATE_MARGIN_PERCENT: '50',
    VOXGATE_SPEND_CEILINGS: 'deepgram:0.05/month',
    VOXGATE_VAULT_KEY: Buffer.alloc(32, 'vault').toString('base64'),
    VOXGATE_DEEPGRAM_URL: simulator.url,
    VOXGATE_SECRET: 'a-secret-of-the-node-0123456789-abcdefghij',
  });
  key = await keyWithOwn();
});
afterAll(() => simulator.close());

const json = (body: object, headers: object = {}): RequestInit => ({
  method: 'POST',
  headers: { ...BROWSER, ...headers },
  body: JSON.stringify(body),
});

/** A key of an organisation that has saved its own key for Deepgram. */
async function keyWithOwn(): Promise<string> {
  await live.request('/console/api/sign-up', json({ email: 'ada@example.com', password: PASSWORD }));
  let link = '';
  for (let tries = 0; link === '' && tries < 1_000; tries++) {
    const outbox = await (await live.request('/console/outbox')).text();
    link = outbox.match(/verify\?token=([\w-]+)/)?.[1] ?? '';
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  const body = new URLSearchParams({ password: PASSWORD }).toString();
  await live.request(`/verify?token=${link}`, { method: 'POST', headers: form, body });
  const login = await live.request('/console/api/login', json({ email: 'ada@example.com', password: PASSWORD }));
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0]!;
  const saved = { provider: 'deepgram', name: 'mine', fields: { api_key: 'own-key-of-deepgram-4711' } };
  expect((await live.request('/console/api/provider-keys', json(saved, { cookie }))).status).toBe(201);
  const minted = await live.request('/console/api/keys', json({ name: 'web' }, { cookie }));
  return ((await minted.json()) as { secret: string }).secret;
}

const authorized = () => ({ Authorization: `Bearer ${key}` });

async function send(seconds: number) {
  const form = new FormData();
  form.append('model', MODEL);
  form.append('response_format', 'verbose_json');
  form.append('file', new Blob([silentWav(seconds)]), 'a.wav');
  const response = await live.request('/v1/audio/transcriptions', {
    method: 'POST',
    body: form,
    headers: authorized(),
  });
  return [response.status, await response.json()];
}

it('counts live audio and files of an own key without a charge, and refuses them at the ceiling', async () => {
  const client = live.connect({ model: MODEL }, { authorize: false, headers: authorized() });
  await client.event('session_started');
  client.send(numberedAudio(0, 2.1 * 16_000));
  client.send({ type: 'close' });
  expect(await client.close()).toMatchObject({ code: 1000 });
  expect(client.of('session_ended')[0]).toMatchObject({ cost_usd: '0.00', usage: [{ byok: true, cost_usd: '0.00' }] });
  expect(await send(10)).toMatchObject([429, { error: { code: 'spend_ceiling_reached' } }]);
  expect(await send(2)).toMatchObject([200, { usage: { cost_usd: '0.00', byok: true } }]);
  expect(await send(1)).toMatchObject([429, { error: { code: 'spend_ceiling_reached' } }]);
  const refused = await live.connect({ model: MODEL }, { authorize: false, headers: authorized() }).refused();
  expect(refused.status).toBe(429);
  const usage = await live.request('/v1/usage', { headers: authorized() });
  expect(await usage.json()).toMatchObject({
    data: [{ group: MODEL, byok: true, audio_seconds: 4.1, cost_usd: '0.00', counted_usd: '0.041' }],
    total: { cost_usd: '0.00' },
  });
  const balance = await live.request('/v1/balance', { headers: authorized() });
  expect(await balance.json()).toMatchObject({ held_usd: '0.00' });
  expect(await auditBeside(live.directory)).toMatchObject({ ok: true, faults: [] });
});
