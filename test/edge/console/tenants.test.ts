// Two organisations with everything that an organisation can have: no endpoint gives one of them what is the other's, or tells
// that it is there, and none takes a member that it does not know. Made over the table of routes, so that none is forgotten.
import { beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../src/auth/authenticate.ts';
import { createKeyLimits } from '../../../src/auth/limits.ts';
import type { Route } from '../../../src/edge/router.ts';
import type { ConsoleRoute } from '../../../src/edge/routes/console/console-route.ts';
import { createConsole } from '../../../src/edge/routes/console/index.ts';
import { providerKeyRoutes } from '../../../src/edge/routes/console/provider-keys.ts';
import { consoleSessionEvents } from '../../../src/edge/routes/console/session-events.ts';
import { type RoutesDependencies, routesOf } from '../../../src/edge/routes/index.ts';
import { deepgram } from '../../../src/providers/deepgram/index.ts';
import { systemClock } from '../../../src/telemetry/clock.ts';
import { keyRingOf } from '../../../src/vault/seal.ts';
import { createVault } from '../../../src/vault/vault.ts';
import {
  type Answer,
  type Browser,
  CHEAP,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  SECRET,
  storeOver,
} from '../../accounts/console-rig.ts';
import { endOf, headOf, ledgerRig, lineOf, OPERATOR } from '../../fakes/store/ledger.ts';

const ledger = ledgerRig();
ledger.clock.nowMs = Date.now();
const store = storeOver(ledger);
const providers = new Map([[deepgram.name, deepgram]]);
const vault = createVault({
  store,
  keyRing: keyRingOf(new Uint8Array(32).fill(1)),
  providers,
  baseUrlOf: () => undefined,
  check: async () => 'accepted',
  clock: systemClock,
  wallNow: () => Date.now(),
  onFault: (_name, error) => {
    throw error;
  },
});
const watching = { store, clock: systemClock, wallNow: () => new Date(), watchSession: () => () => {} };
const further = [
  providerKeyRoutes({ vault, providers }),
  (consoleRoute: ConsoleRoute) => consoleSessionEvents(consoleRoute, watching),
];
const settings = { welcomeMicroUsd: 0n, signUpsPerAddressDayMax: 10, tls: false };
const console = createConsole({
  isPrivate: true,
  store,
  secret: SECRET,
  settings,
  clock: systemClock,
  nowMs: Date.now,
  passwords: CHEAP,
  further,
});
const limits = createKeyLimits({
  requestsPerMinuteMax: 100_000,
  sessionsMax: 10,
  tokensPerMinuteMax: 1_000,
  clock: systemClock,
});
/** What files are transcribed with is not reached here: no route's ids are in it. */
const routes = routesOf({
  store,
  authenticator: createAuthenticator({ store, secret: SECRET, now: Date.now }),
  limits,
  providers,
  http: { clock: systemClock },
  wallNow: () => new Date(),
  describeSession: () => undefined,
  jsonBodyBytesMax: 65_536,
  consoleRoutes: [],
  metricsAccess: { token: undefined, isPrivate: true },
} as unknown as RoutesDependencies);
const table: readonly Route[] = [...routes, ...console.routes];
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

type Kind = 'session' | 'key' | 'providerKey' | 'consoleSession';

interface Tenant {
  browser: Browser;
  secret: string;
  organisationId: string;
  ids: Record<Kind, string>;
}

let rig: ConsoleRig;
let alice: Tenant;
let bob: Tenant;

async function tenant(email: string): Promise<Tenant> {
  const browser = await openAccount(rig, email);
  const me = (await browser.get('/console/api/me')).json() as unknown as { organisation: { id: string } };
  const organisationId = me.organisation.id;
  const { key, secret } = ledger.ledger.createKey(organisationId, {}, OPERATOR);
  const session = `ses_${email.split('@')[0]}`;
  const head = headOf({ organisationId, keyId: key.id }, session, { openedAt: new Date().toISOString() });
  ledger.ledger.settleSession(head, endOf([lineOf(60_000)], { endedAt: new Date().toISOString() }));
  const saved = { provider: deepgram.name, name: 'own', fields: { api_key: `secret-of-${email}` } };
  const providerKey = (await vault.save(organisationId, saved, OPERATOR)).key.id;
  const sessions = (await browser.get('/console/api/console-sessions')).json() as unknown as { data: { id: string }[] };
  const ids = { session, key: key.id, providerKey, consoleSession: sessions.data[0]!.id };
  return { browser, secret, organisationId, ids };
}

beforeAll(async () => {
  rig = await openConsoleRig({ store, further, routes });
  alice = await tenant('alice@example.com');
  bob = await tenant('bob@example.com');
});

/** As the tenant's console page, or with the tenant's key. */
function ask({ browser, secret }: Tenant, method: string, path: string, body: unknown = {}): Promise<Answer> {
  if (path.startsWith('/console/')) {
    return method === 'GET' ? browser.get(path) : browser.call(method, path.slice('/console/api/'.length), body);
  }
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' };
  return browser.ask(method, path, method === 'GET' ? undefined : JSON.stringify(body), headers);
}

/** An answer without what differs from request to request. */
const essence = ({ status, text }: Answer, id: string) => [
  status,
  text.replaceAll(id, 'ID').replace(/"request_id":"[^"]*"/, ''),
];

/** Whose ids stand in the path; null where they are nobody's. */
const PATHS: Readonly<Record<string, { kind: Kind; never: string; body?: unknown } | null>> = {
  'GET /v1/models/:provider/:model': null,
  'GET /v1/models/:slug': null,
  'GET /docs/:page': null,
  'GET /docs/:folder/:page': null,
  'GET /v1/bills/:month': null,
  'GET /v1/sessions/:id': { kind: 'session', never: 'ses_never' },
  'GET /v1/sessions/:id/events': { kind: 'session', never: 'ses_never' },
  'GET /console/api/bills/:month': null,
  'GET /console/api/sessions/:id': { kind: 'session', never: 'ses_never' },
  'GET /console/api/sessions/:id/events': { kind: 'session', never: 'ses_never' },
  'PATCH /console/api/keys/:id': { kind: 'key', never: 'key_never', body: { name: 'mine now' } },
  'POST /console/api/keys/:id/roll': { kind: 'key', never: 'key_never' },
  'DELETE /console/api/keys/:id': { kind: 'key', never: 'key_never' },
  'POST /console/api/provider-keys/:id/test': { kind: 'providerKey', never: 'pk_never' },
  'DELETE /console/api/provider-keys/:id': { kind: 'providerKey', never: 'pk_never' },
  'DELETE /console/api/console-sessions/:id': { kind: 'consoleSession', never: 'con_never' },
};

/** Ids in queries. */
const QUERIES: readonly [route: string, parameter: string, kind: Kind, never: string][] = [
  ['GET /v1/usage', 'key', 'key', 'key_never'],
  ['GET /v1/sessions', 'before', 'session', 'ses_never'],
  ['GET /console/api/usage', 'key', 'key', 'key_never'],
  ['GET /console/api/sessions', 'before', 'session', 'ses_never'],
];

const cases = Object.entries(PATHS).flatMap(([route, about]) => (about === null ? [] : [[route, about] as const]));

/** Everything that a tenant can see of its own. */
async function everythingOf(who: Tenant): Promise<string> {
  const lists = table.filter(
    ({ method, path }) => method === 'GET' && /^\/(v1|console\/api)\//.test(path) && !path.includes(':'),
  );
  const answers = await Promise.all(lists.map(({ path }) => ask(who, 'GET', path)));
  return answers.map(({ text }) => text.replace(/"(?:to|from|request_id|seen_at)":"[^"]*"/g, '')).join('\n');
}

describe('an id of another organisation', () => {
  it('is looked for in every route that has one', () => {
    const named = table.filter(({ path }) => path.includes('/:')).map(nameOf);
    expect(named.sort()).toEqual(Object.keys(PATHS).sort());
    for (const [route] of QUERIES) expect(table.map(nameOf)).toContain(route);
  });

  it.each(cases)(
    'in %s is 404, in the same words as one that never was, and nothing happens to it',
    async (route, about) => {
      const [method, path] = route.split(' ') as [string, string];
      const at = (id: string) => ask(alice, method, path.replace(':id', id), about.body);
      const before = await everythingOf(bob);
      const [others, never] = [await at(bob.ids[about.kind]), await at(about.never)];
      expect([others.status, others.code]).toEqual([404, 'not_found']);
      expect(essence(others, bob.ids[about.kind])).toEqual(essence(never, about.never));
      expect(await everythingOf(bob)).toBe(before);
    },
  );

  it.each(QUERIES)('in %s?%s is as if it had never been', async (route, parameter, kind, never) => {
    const [method, path] = route.split(' ') as [string, string];
    const at = (who: Tenant, id: string) => ask(who, method, `${path}?${parameter}=${id}`);
    const to = (answer: Answer, id: string) =>
      JSON.stringify(essence(answer, id)).replace(/\\"(?:to|from)\\":\\"[^"]*"/g, '');
    expect(to(await at(alice, bob.ids[kind]), bob.ids[kind])).toBe(to(await at(alice, never), never));
    expect((await at(alice, alice.ids[kind])).status).toBe(200);
    expect((await at(alice, bob.ids[kind])).status).toBe(404);
  });

  it('is in none of the lists', async () => {
    const seen = await everythingOf(alice);
    for (const id of [...Object.values(bob.ids), bob.organisationId]) expect(seen).not.toContain(id);
    for (const id of Object.values(alice.ids)) expect(seen).toContain(id);
  });
});

describe('a member that a body does not have', () => {
  /** Forms, which are read elsewhere. */
  const isForm = ({ path }: Route) => path === '/v1/audio/transcriptions' || !/^\/(v1|console\/api)\//.test(path);
  const json = table.filter((route) => route.method !== 'GET' && !isForm(route));

  it.each(json.map((route) => [nameOf(route), route] as const))(
    'is refused by %s, by name',
    async (_, { method, path }) => {
      const about = PATHS[`${method} ${path}`];
      const own = about ? path.replace(':id', alice.ids[about.kind]) : path;
      for (const name of ['organisation_id', 'balance_usd', 'role', '__proto__', 'constructor']) {
        const refused = await ask(alice, method, own, JSON.parse(`{"${name}":"x"}`));
        expect([refused.status, refused.code, refused.param]).toEqual([400, 'invalid_request', name]);
      }
    },
  );
});

describe('an id of one’s own', () => {
  // Last, because it ends what it is used on.
  it.each([...cases].sort(([a], [b]) => Number(a.startsWith('DELETE')) - Number(b.startsWith('DELETE'))))(
    'in %s is found',
    async (route, about) => {
      const [method, path] = route.split(' ') as [string, string];
      const { status } = await ask(bob, method, path.replace(':id', bob.ids[about.kind]), about.body);
      expect(status).toBeGreaterThanOrEqual(200);
      expect(status).toBeLessThan(300);
    },
  );
});
