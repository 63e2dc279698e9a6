// The promise that no secret is left anywhere: a whole gateway is given one of every kind, used rightly and wrongly, and then
// everything that it wrote and answered is searched for them.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleAudio, startLiveGateway } from '../fakes/processes/live-gateway.ts';

const PASSWORD = 'canary password of a person 77';
const PROVIDER_KEY = 'canary-service-key-of-deepgram-0815';
const OWN_KEY = 'canary-own-key-of-deepgram-4711';
const NODE_SECRET = 'canary-node-secret-0123456789-abcdefghij';
const VAULT_KEY = Buffer.alloc(32, 'canary-vault').toString('base64');
const BROWSER = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-requested-with': 'console' };

/** Everything below a directory, as one text each. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
}

it('keys, tokens, passwords, cookies, links and provider keys are in no log, answer, event, metric, page or file', async () => {
  const live = await startLiveGateway({
    VOXGATE_SECRET: NODE_SECRET,
    VOXGATE_VAULT_KEY: VAULT_KEY,
    DEEPGRAM_API_KEY: PROVIDER_KEY,
    // Nobody listens there: every attempt fails, and is told.
    VOXGATE_DEEPGRAM_URL: 'http://127.0.0.1:9',
    VOXGATE_SESSION_RETRY_MS: '0',
  });
  const seen: string[] = [];
  /** An answer that may be searched. */
  const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await live.request(path, init);
    seen.push(`${JSON.stringify([...response.headers])} ${await response.clone().text()}`);
    return response;
  };
  /** An answer whose purpose is to show a secret, once. */
  const shown = async (path: string, init: RequestInit = {}) => (await live.request(path, init)).text();

  const json = (body: object, headers: object = {}): RequestInit => ({
    method: 'POST',
    headers: { ...BROWSER, ...headers },
    body: JSON.stringify(body),
  });
  await call('/console/api/sign-up', json({ email: 'ada@example.com', password: PASSWORD }));
  // The mail is on its way while the sign-up is answered.
  let link = '';
  for (let tries = 0; link === '' && tries < 1_000; tries++) {
    link = (await shown('/console/outbox')).match(/verify\?token=([\w-]+)/)?.[1] ?? '';
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  const sent = new URLSearchParams({ password: PASSWORD }).toString();
  await call(`/verify?token=${link}`);
  await call(`/verify?token=${link}`, { method: 'POST', headers: form, body: sent });
  await call(`/verify?token=${link}`, { method: 'POST', headers: form, body: sent });
  await call('/console/api/login', json({ email: 'ada@example.com', password: `${PASSWORD} not` }));
  const login = await live.request('/console/api/login', json({ email: 'ada@example.com', password: PASSWORD }));
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0]!;
  const minted = JSON.parse(await shown('/console/api/keys', json({ name: 'web' }, { cookie }))) as { secret: string };
  const ownKey = { provider: 'deepgram', name: 'mine', fields: { api_key: OWN_KEY } };
  expect((await call('/console/api/provider-keys', json(ownKey, { cookie }))).status).toBe(201);
  for (const path of ['me', 'keys', 'provider-keys', 'audit', 'balance', 'usage', 'sessions', 'console-sessions']) {
    expect((await call(`/console/api/${path}`, { headers: { cookie } })).status, path).toBe(200);
  }

  const as = (credential: string) => ({ headers: { Authorization: `Bearer ${credential}` } });
  const { token } = JSON.parse(
    await shown('/v1/tokens', { method: 'POST', headers: { Authorization: `Bearer ${minted.secret}` } }),
  ) as { token: string };
  const wrong = `${minted.secret.slice(0, -1)}${minted.secret.endsWith('0') ? '1' : '0'}`;
  for (const credential of [minted.secret, token, wrong, `${token}x`]) await call('/v1/models', as(credential));
  const sessions = [
    live.connect({ model: 'local/commands-en', api_key: token }, { authorize: false }),
    live.connect({ model: 'local/commands-en' }, { authorize: false, protocols: ['bearer', wrong] }),
    live.connect(
      { model: 'deepgram/nova-3' },
      { authorize: false, headers: { Authorization: `Bearer ${minted.secret}` } },
    ),
    live.connect({ model: 'deepgram/nova-3', api_key: live.key }, { authorize: false }),
  ];
  await sessions[0]!.event('session_started');
  sessions[0]!.send(sampleAudio('commands.wav').pcm);
  sessions[0]!.send({ type: 'close' });
  for (const session of sessions) await session.close();
  seen.push(...sessions.map(({ events, closed }) => JSON.stringify([events, closed])));
  await call('/metrics');
  await call(`/v1/nothing?api_key=${minted.secret}`);
  await call('/console/api/logout', json({}, { cookie }));

  const secrets = {
    'API key': minted.secret,
    'first key': live.key,
    'mistyped key': wrong,
    token,
    link,
    cookie: cookie.split('=')[1]!,
    PASSWORD,
    PROVIDER_KEY,
    OWN_KEY,
    NODE_SECRET,
    VAULT_KEY,
  };
  const places = { log: live.log, answers: seen, files: filesBelow(live.directory) };
  const found = Object.entries(secrets).flatMap(([kind, secret]) => {
    expect(secret.length, kind).toBeGreaterThan(20);
    return Object.entries(places)
      .filter(([, texts]) => texts.some((text) => text.includes(secret)))
      .map(([place]) => `${kind} in ${place}`);
  });
  expect(found).toEqual([]);
  expect(live.log.length).toBeGreaterThan(3);
  expect(seen.length).toBeGreaterThan(20);
});
