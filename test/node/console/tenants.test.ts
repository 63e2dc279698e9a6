// Two organisations with everything that an organisation can have: no endpoint gives one of them what is the other's, or tells
// that it is there, and none takes a member that it does not know. Made over the table of routes, so that none is forgotten.
import { beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../../src/http/router.ts';
import type { Answer } from '../../accounts/people/console-rig.ts';
import { ask as askAs, essence, KINDS, type Kind, kindIn, openTenants, type Tenant } from './tenants-rig.ts';

const { table, everythingOf, tenant } = await openTenants();
const nameOf = ({ method, path }: Route) => `${method} ${path}`;
let alice: Tenant;
let bob: Tenant;

beforeAll(async () => {
  alice = await tenant('alice@example.com');
  bob = await tenant('bob@example.com');
});

const ask = (who: Tenant, route: string, id?: string, body?: unknown) => askAs(who, who.browser, route, id, body);
const isAsked = ({ path }: Route) => /^\/(v1|console\/api)\//.test(path);
const named = table.filter(isAsked).map((route) => ({ route: nameOf(route), kind: kindIn(route.path) }));
const cases = named.flatMap(({ route, kind }) => (kind === undefined ? [] : [[route, kind] as const]));

/** Ids in queries. */
const QUERIES: readonly [route: string, parameter: string, kind: Kind][] = [
  ['GET /v1/usage', 'key', 'keys'],
  ['GET /v1/sessions', 'before', 'sessions'],
  ['GET /console/api/usage', 'key', 'keys'],
  ['GET /console/api/sessions', 'before', 'sessions'],
  ['GET /console/api/jobs', 'key', 'keys'],
];

describe('an id of another organisation', () => {
  it('covers every path and query that takes an id', () => {
    expect(new Set(cases.map(([, kind]) => kind))).toEqual(new Set(Object.keys(KINDS)));
    for (const [route] of QUERIES) expect(table.map(nameOf)).toContain(route);
  });

  it.each(cases)('answers 404 in %s, as for an unknown id, and changes nothing', async (route, kind) => {
    const before = await everythingOf(bob);
    const [others, never] = [await ask(alice, route, bob.ids[kind]), await ask(alice, route, KINDS[kind])];
    expect([others.status, others.code]).toEqual([404, 'not_found']);
    expect(essence(others, bob.ids[kind])).toEqual(essence(never, KINDS[kind]));
    expect(await everythingOf(bob)).toBe(before);
  });

  it.each(QUERIES)('looks unknown in %s?%s', async (route, parameter, kind) => {
    const at = (who: Tenant, id: string) => ask(who, `${route}?${parameter}=${id}`);
    const to = (answer: Answer, id: string) =>
      JSON.stringify(essence(answer, id)).replace(/\\"(?:to|from)\\":\\"[^"]*"/g, '');
    expect(to(await at(alice, bob.ids[kind]), bob.ids[kind])).toBe(to(await at(alice, KINDS[kind]), KINDS[kind]));
    expect((await at(alice, alice.ids[kind])).status).toBe(200);
    expect((await at(alice, bob.ids[kind])).status).toBe(404);
  });

  it('appears in no list', async () => {
    const seen = await everythingOf(alice);
    for (const id of [...Object.values(bob.ids), bob.organisationId]) expect(seen).not.toContain(id);
    for (const id of Object.values(alice.ids)) expect(seen).toContain(id);
  });
});

describe('a member that a body does not have', () => {
  /** Forms, which are read elsewhere. */
  const FORMS = ['/v1/audio/transcriptions', '/v1/jobs'];
  const isForm = (route: Route) => FORMS.includes(route.path) || !isAsked(route);
  const json = table.filter((route) => route.method !== 'GET' && !isForm(route));

  it.each(json.map((route) => [nameOf(route), route] as const))('fails in %s, by name', async (name, { path }) => {
    const kind = kindIn(path);
    for (const member of ['organisation_id', 'balance_usd', 'owner', '__proto__', 'constructor']) {
      const refused = await ask(alice, name, kind && alice.ids[kind], JSON.parse(`{"${member}":"x"}`));
      expect([refused.status, refused.code, refused.param]).toEqual([400, 'invalid_request', member]);
    }
  });
});

describe('an organisation’s own id', () => {
  // Last, because it ends what it is used on.
  const lateness = (route: string) =>
    Number(route.startsWith('DELETE')) + Number(route.endsWith('console-sessions/:id'));
  it.each([...cases].sort(([a], [b]) => lateness(a) - lateness(b)))('works in %s', async (route, kind) => {
    await bob.restore();
    const { status } = await ask(bob, route, bob.ids[kind]);
    expect(status).toBeGreaterThanOrEqual(200);
    expect(status).toBeLessThan(300);
  });
});
