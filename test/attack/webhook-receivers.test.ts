// Receivers of webhooks that mean no good, at a whole gateway: they hang, fail for days, redirect inside, answer without end or are
// called by names that change. Other webhooks, of the same organisation and of another one, are delivered meanwhile.
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { JobAnswer } from '../../src/api/jobs.ts';
import type { NewWebhookAnswer, WebhookAnswer, WebhookDelivery } from '../../src/api/webhooks.ts';
import { keepDatabase } from '../../src/store/keep-database.ts';
import { sampleAudio } from '../fakes/processes/live-gateway.ts';
import { databaseIn } from '../fakes/store/data-directory.ts';
import { head, remoteServer, whole } from '../files/remote/remote-server.ts';
import { type Attacked, type Customer, startAttacked } from './rig/rig.ts';

const systemLookup = dns.lookup;
const DAY_MS = 86_400_000;
/** Of each endpoint that means no good: far more than are sent at a time. */
const EVENTS = 20;

afterAll(() => {
  dns.lookup = systemLookup;
  syncBuiltinESMExports();
});

let attacked: Attacked;
let hostile: Customer;
let honest: Customer;

/** Addresses that the system finds for `rebound.test`, one after the other. */
let found: string[] = [];

beforeAll(async () => {
  const lookup = (hostname: string, options: object, callback: (...answer: unknown[]) => void) => {
    if (hostname !== 'rebound.test') return Reflect.apply(systemLookup, dns, [hostname, options, callback]);
    return setImmediate(callback, null, [{ address: found.shift(), family: 4 }]);
  };
  dns.lookup = lookup as unknown as typeof dns.lookup;
  syncBuiltinESMExports();
  attacked = await startAttacked({
    env: { VOXGATE_WEBHOOK_NETWORKS: '127.0.0.1', VOXGATE_REQUESTS_PER_MINUTE_PER_KEY_MAX: '100000' },
  });
  hostile = await attacked.customer(0n, { scopes: ['webhooks'] });
  honest = await attacked.customer(0n, { scopes: ['webhooks'] });
});

async function ask<Answer>(customer: Customer, method: string, path: string, body?: object): Promise<Answer> {
  const reply = await customer.request(`/v1/webhooks${path}`, {
    method,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const answer = (await reply.json()) as Answer;
  expect(reply.status, JSON.stringify(answer)).toBeLessThan(300);
  return answer;
}

const create = async (customer: Customer, url: string): Promise<string> =>
  (await ask<NewWebhookAnswer>(customer, 'POST', '', { url, events: ['key.revoked'] })).id;
const sendTest = (customer: Customer, id: string) => ask<WebhookDelivery>(customer, 'POST', `/${id}/test`);
const deliveries = async (customer: Customer, id: string) =>
  (await ask<{ data: WebhookDelivery[] }>(customer, 'GET', `/${id}/deliveries?limit=100`)).data;

const OK = (socket: Socket) => socket.end(whole('{}'));

/** The first attempt at an event of this endpoint is recorded. */
const attempted = (customer: Customer, id: string): Promise<WebhookDelivery> =>
  vi.waitFor(
    async () => {
      const found = (await deliveries(customer, id)).find(({ attempts }) => attempts > 0);
      expect(found).toBeDefined();
      return found as WebhookDelivery;
    },
    { timeout: 40_000, interval: 50 },
  );

it('receivers that hang, fail, redirect inside and answer without end delay no other webhook', async () => {
  const inside = await remoteServer(OK, '127.0.0.2');
  const endless = (socket: Socket) => {
    const more = () => {
      while (socket.writable && socket.write(Buffer.alloc(65_536)));
    };
    socket.on('drain', more).write(head('200 OK'));
    more();
  };
  const receivers: Record<string, (socket: Socket) => unknown> = {
    hangs: () => {},
    'hangs in its head': (socket) => socket.write('HTTP/1.1 200 OK\r\nX: '),
    fails: (socket) => socket.end(whole('oops', {}, '500 Oops')),
    redirects: (socket) => socket.end(whole('', { Location: inside.at() }, '307 Temporary Redirect')),
    'hangs up': (socket) => socket.destroy(),
    'is another service': (socket) => socket.end('220 mail.example.com ESMTP\r\n'),
    'never ends': endless,
  };
  const ids = new Map<string, string>();
  for (const [name, answer] of Object.entries(receivers))
    ids.set(name, await create(hostile, (await remoteServer(answer)).at('/')));
  const own = await remoteServer(OK);
  const ownId = await create(hostile, own.at('/'));
  const other = await remoteServer(OK);
  const otherId = await create(honest, other.at('/'));
  for (let event = 0; event < EVENTS; event++) for (const id of ids.values()) await sendTest(hostile, id);
  // Within less than the time of one attempt at a receiver that hangs.
  for (const [customer, id] of [
    [honest, otherId],
    [hostile, ownId],
    [honest, otherId],
  ] as const) {
    const { id: delivery } = await sendTest(customer, id);
    await vi.waitFor(
      async () => {
        const sent = (await deliveries(customer, id)).find((each) => each.id === delivery);
        expect(sent).toMatchObject({ state: 'delivered', attempts: 1, latest_attempts: [{ status: 200 }] });
      },
      { timeout: 8_000, interval: 50 },
    );
  }
  const outcomes: Record<string, unknown> = {};
  for (const [name, id] of ids) {
    const { state, latest_attempts: latest } = await attempted(hostile, id);
    outcomes[name] = [state, latest[0]?.status ?? latest[0]?.error];
    expect(await ask<WebhookAnswer>(hostile, 'GET', `/${id}`)).toMatchObject({ state: 'enabled' });
  }
  expect(outcomes).toEqual({
    hangs: ['pending', 'timeout'],
    'hangs in its head': ['pending', 'timeout'],
    fails: ['pending', 500],
    redirects: ['pending', 307],
    'hangs up': ['pending', 'connection_reset'],
    'is another service': ['pending', 'invalid_answer'],
    'never ends': ['delivered', 200],
  });
  expect(inside.requests).toEqual([]);
});

it('a receiver that fails for five days is disabled, and is posted to again once it is enabled', async () => {
  let status = '500 Oops';
  const server = await remoteServer((socket) => socket.end(whole('{}', {}, status)));
  const id = await create(hostile, server.at('/'));
  const { id: delivery } = await sendTest(hostile, id);
  await attempted(hostile, id);
  expect(await ask<WebhookAnswer>(hostile, 'GET', `/${id}`)).toMatchObject({ failing_since: expect.any(String) });
  const database = keepDatabase(new Database(databaseIn(attacked.directory)));
  database.prepare('UPDATE webhook_endpoints SET failing_since_ms = ? WHERE id = ?').run(Date.now() - 5 * DAY_MS, id);
  database.close();
  await sendTest(hostile, id);
  const shown = () => ask<WebhookAnswer>(hostile, 'GET', `/${id}`);
  await vi.waitFor(async () => expect(await shown()).toMatchObject({ state: 'disabled', disabled_reason: 'failing' }), {
    timeout: 10_000,
    interval: 50,
  });
  expect((await deliveries(hostile, id)).map(({ state }) => state)).toEqual(['failed', 'failed']);
  status = '200 OK';
  await ask(hostile, 'PATCH', `/${id}`, { state: 'enabled' });
  await ask(hostile, 'POST', `/${id}/deliveries/${delivery}/resend`);
  await vi.waitFor(
    async () => expect((await deliveries(hostile, id)).map(({ state }) => state)).toContain('delivered'),
    {
      timeout: 10_000,
      interval: 50,
    },
  );
  expect(await shown()).toMatchObject({ state: 'enabled', failing_since: null });
});

it('a name that leads inside from the second connection on is posted to once', async () => {
  const first = await remoteServer(OK);
  const inside = await remoteServer(OK, '127.0.0.2', first.port);
  found = ['127.0.0.1', '127.0.0.2'];
  const id = await create(hostile, `http://rebound.test:${first.port}/`);
  await sendTest(hostile, id);
  await attempted(hostile, id);
  const { id: second } = await sendTest(hostile, id);
  const refused = await vi.waitFor(
    async () => {
      const found = (await deliveries(hostile, id)).find((each) => each.id === second);
      expect(found?.attempts).toBeGreaterThan(0);
      return found;
    },
    { timeout: 10_000, interval: 50 },
  );
  expect(refused).toMatchObject({ state: 'pending', latest_attempts: [{ error: 'address_not_allowed' }] });
  expect([first.requests.length, inside.requests.length]).toEqual([1, 0]);
});

it('receivers of single jobs that hang or lead inside delay no job of another organisation, and reach nothing inside', async () => {
  const inside = await remoteServer(OK, '127.0.0.2');
  const hanging = await remoteServer(() => {});
  const leading = await remoteServer((socket) =>
    socket.end(whole('', { Location: inside.at() }, '307 Temporary Redirect')),
  );
  const other = await remoteServer(OK);
  const send = (customer: Customer, url: string) => {
    const form = new FormData();
    form.append('model', 'local/commands-en');
    form.append('webhook_url', url);
    form.append('file', new Blob([new Uint8Array(sampleAudio('yes.wav').bytes)]), 'yes.wav');
    return customer.request('/v1/jobs', { method: 'POST', body: form });
  };
  const created = async (customer: Customer, url: string) =>
    ((await (await send(customer, url)).json()) as JobAnswer).id;
  const answered = (customer: Customer, id: string, status: number) =>
    vi.waitFor(
      async () => {
        const job = (await (await customer.request(`/v1/jobs/${id}`)).json()) as JobAnswer;
        expect(job.webhook_status).toBe(status);
      },
      { timeout: 10_000, interval: 50 },
    );
  const [crowd, rebinding, plain] = [
    await attacked.customer(1n),
    await attacked.customer(1n),
    await attacked.customer(1n),
  ] as const;
  expect((await send(crowd, inside.at('/'))).status).toBe(400);
  // More than are sent to one organisation at a time.
  for (let count = 0; count < 12; count++) await created(crowd, hanging.at('/'));
  found = Array.from({ length: 100 }, () => '127.0.0.2');
  const rebound = await created(rebinding, `http://rebound.test:${inside.port}/`);
  await vi.waitFor(() => expect(hanging.requests.length).toBeGreaterThan(7), { timeout: 10_000, interval: 50 });
  await answered(plain, await created(plain, other.at('/')), 200);
  await answered(plain, await created(plain, leading.at('/')), 307);
  await vi.waitFor(() => expect(found.length).toBeLessThan(100), { timeout: 10_000, interval: 50 });
  const job = (await (await rebinding.request(`/v1/jobs/${rebound}`)).json()) as JobAnswer;
  expect([job.status, job.webhook_status, inside.requests]).toEqual(['completed', null, []]);
});
