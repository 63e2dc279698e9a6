// Every endpoint of the console by every role and by nobody, with ids of another organisation and with ids that nobody has. Made
// over the table of endpoints, so that none is forgotten.
import { beforeAll, describe, expect, test } from 'vitest';
import { ENDPOINTS, type Endpoint, mayAsk } from '../../../src/accounts/console-login/roles.ts';
import { ROLES } from '../../../src/accounts/team/calls.ts';
import { ask, essence, KINDS, kindIn, openTenants, type Tenant } from './tenants-rig.ts';

/** What changes who asks, or where, comes last. */
const LAST: readonly Endpoint[] = ['POST members/leave', 'POST logout'];
const endpoints = [...(Object.keys(ENDPOINTS) as Endpoint[]).filter((each) => !LAST.includes(each)), ...LAST];
const routeOf = (endpoint: Endpoint) => endpoint.replace(' ', ' /console/api/');

let opened: Awaited<ReturnType<typeof openTenants>>;
let own: Tenant;
let other: Tenant;

beforeAll(async () => {
  opened = await openTenants();
  own = await opened.tenant('alice@example.com');
  other = await opened.tenant('bob@example.com');
});

describe('every endpoint', () => {
  test('belongs to this gateway if it names something of an organisation', () => {
    expect(opened.rest.filter((endpoint) => kindIn(endpoint) !== undefined)).toEqual([]);
  });

  test('refuses a client without a login, for any id', async () => {
    const nobody = opened.rig.browser();
    for (const endpoint of endpoints) {
      const kind = kindIn(endpoint);
      const { status, code } = await ask(own, nobody, routeOf(endpoint), kind && other.ids[kind]);
      expect([endpoint, status, code]).toEqual([endpoint, 401, 'login_required']);
    }
  });

  test.each(ROLES)(
    'opens to the role %s as listed, and hides other organisations’ ids as nonexistent',
    async (role) => {
      const browser = own.people[role];
      const before = await opened.everythingOf(other);
      for (const endpoint of endpoints) {
        const kind = kindIn(endpoint);
        const never = await ask(own, browser, routeOf(endpoint), kind && KINDS[kind]);
        expect([endpoint, never.code === 'role_not_allowed']).toEqual([endpoint, !mayAsk(endpoint, role)]);
        if (kind === undefined) continue;
        const expected = mayAsk(endpoint, role) ? 404 : 403;
        const id = other.ids[kind];
        const foreign = await ask(own, browser, routeOf(endpoint), id);
        expect([endpoint, foreign.status]).toEqual([endpoint, expected]);
        expect(essence(foreign, id)).toEqual(essence(never, KINDS[kind]));
      }
      expect(await opened.everythingOf(other)).toBe(before);
    },
  );

  test('refuses a read-only role where it shows or makes a secret, or changes money', () => {
    const open = endpoints.filter((endpoint) => mayAsk(endpoint, 'read_only'));
    expect(open.filter((endpoint) => /key|audit|invitation/.test(endpoint))).toEqual([]);
    const changing = open.filter((endpoint) => !endpoint.startsWith('GET '));
    const oneself = ['confirm', 'email', 'logout', 'organisation', 'organisations', 'password', 'verification'];
    expect(changing.sort()).toEqual(
      [...oneself, 'members/leave']
        .map((name) => `POST ${name}`)
        .concat('DELETE console-sessions/:id')
        .sort(),
    );
  });
});
