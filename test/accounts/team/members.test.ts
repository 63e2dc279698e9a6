// Members of an organisation at the console: who may change whom, that an owner is always left, and what becomes of who is removed.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ConsoleRoute } from '../../../src/accounts/console-login/console-route.ts';
import type { Endpoint } from '../../../src/accounts/console-login/roles.ts';
import { ROLES, type Role } from '../../../src/accounts/team/calls.ts';
import { OPERATOR } from '../../fakes/store/ledger.ts';
import { inviteTo } from '../../node/console/tenants-rig.ts';
import { type Browser, type ConsoleRig, openAccount, openConsoleRig, PASSWORD } from '../people/console-rig.ts';

let rig: ConsoleRig;
let team: string;
let teams = 0;

interface Person {
  browser: Browser;
  id: string;
  email: string;
}

/** What endpoints that take long may ask, whether their caller may still have the answer. */
const asked: (() => Promise<boolean>)[] = [];
const lasting = (endpoint: Endpoint) => (consoleRoute: ConsoleRoute) => [
  consoleRoute(endpoint, async ({ isStillAllowed }) => {
    asked.push(isStillAllowed);
    return { status: 204 };
  }),
];

beforeAll(async () => {
  rig = await openConsoleRig({ further: [lasting('GET sessions/:id/events'), lasting('POST playground')] });
});
beforeEach(() => {
  team = rig.ledger.createOrganisation(`Team ${++teams}`, null, OPERATOR).id;
});

async function join(name: string, role: Role): Promise<Person> {
  const browser = rig.browser();
  const email = `${name}${teams}@example.com`;
  const { status } = await browser.submit(await inviteTo(rig, team, email, role), { password: PASSWORD });
  expect(status).toBe(200);
  return { browser, id: (await me(browser)).id, email };
}

interface Me {
  id: string;
  role: Role;
  organisation: { id: string; name: string };
  organisations: { id: string }[];
}
const me = async (browser: Browser) => (await browser.get('/console/api/me')).json() as unknown as Me;
const rolesNow = async () =>
  Object.fromEntries((await rig.store.listMembers(team)).map(({ personId, role }) => [personId, role]));
const change = (by: Person, of: Person, role: Role) => by.browser.call('PATCH', `members/${of.id}`, { role });
const remove = (by: Person, of: Person) => by.browser.call('DELETE', `members/${of.id}`);
const leave = (who: Person) => who.browser.call('POST', 'members/leave');
const actions = async () => (await rig.store.listAudit(team, 50)).map(({ action }) => action);

test('lists the others, their start and their last login for every member', async () => {
  const [owner, reader] = [await join('owner', 'owner'), await join('reader', 'read_only')];
  const { data } = (await reader.browser.get('/console/api/members')).json() as unknown as { data: object[] };
  const at = new Date(rig.clock.nowMs).toISOString();
  const since = { joined_at: at, last_login_at: at };
  expect(data).toEqual([
    { id: owner.id, email: owner.email, role: 'owner', you: false, ...since },
    { id: reader.id, email: reader.email, role: 'read_only', you: true, ...since },
  ]);
});

describe('a role', () => {
  const cases = (['admin', 'owner'] as const).flatMap((own) =>
    ROLES.flatMap((from) => ROLES.map((to) => ({ own, from, to }))),
  );
  test('changes by owners, and by admins where no owner is concerned', async () => {
    const by = { owner: await join('owner', 'owner'), admin: await join('admin', 'admin') };
    const of = await join('of', 'read_only');
    for (const { own, from, to } of cases) {
      await rig.store.changeRole(team, of.id, from, OPERATOR);
      const { status, code } = await change(by[own], of, to);
      const isAllowed = own === 'owner' || (from !== 'owner' && to !== 'owner');
      expect([own, from, to, status, code]).toEqual([
        own,
        from,
        to,
        ...(isAllowed ? [204, undefined] : [403, 'role_not_allowed']),
      ]);
      expect((await rolesNow())[of.id]).toBe(isAllowed ? to : from);
    }
    expect(await actions()).toContain('member.role-changed');
  });

  test('cannot be raised by its holder, but lowered', async () => {
    await join('owner', 'owner');
    const admin = await join('admin', 'admin');
    expect((await change(admin, admin, 'owner')).code).toBe('role_not_allowed');
    expect((await change(admin, admin, 'developer')).status).toBe(204);
    expect((await change(admin, admin, 'admin')).code).toBe('role_not_allowed');
    expect((await me(admin.browser)).role).toBe('developer');
  });

  test('needs a known name and a recent login', async () => {
    const [owner, admin] = [await join('owner', 'owner'), await join('admin', 'admin')];
    const refused = await owner.browser.call('PATCH', `members/${admin.id}`, { role: 'king' });
    expect([refused.status, refused.param]).toEqual([400, 'role']);
    rig.pass(11 * 60_000);
    expect((await change(owner, admin, 'owner')).code).toBe('password_required');
    await owner.browser.call('POST', 'confirm', { password: PASSWORD });
    expect((await change(owner, admin, 'owner')).status).toBe(204);
  });
});

describe('the last owner', () => {
  test('cannot leave, be demoted or be removed until there is another', async () => {
    const [owner, admin] = [await join('owner', 'owner'), await join('admin', 'admin')];
    for (const refused of [await leave(owner), await change(owner, owner, 'admin'), await remove(owner, owner)]) {
      expect([refused.status, refused.code]).toEqual([409, 'last_owner']);
    }
    expect(await rig.store.removeMember(team, owner.id, OPERATOR)).toBe('last_owner');
    expect((await change(owner, admin, 'owner')).status).toBe(204);
    expect((await leave(owner)).status).toBe(204);
    expect(await rolesNow()).toEqual({ [admin.id]: 'owner' });
  });

  test('stays, when two owners leave, or demote or remove each other, at once', async () => {
    const ways = [
      (by: Person) => leave(by),
      (by: Person) => change(by, by, 'admin'),
      (by: Person, other: Person) => change(by, other, 'read_only'),
      (by: Person, other: Person) => remove(by, other),
    ];
    for (const way of ways) {
      teams++;
      team = rig.ledger.createOrganisation(`Team ${teams}`, null, OPERATOR).id;
      const [one, two] = [await join('one', 'owner'), await join('two', 'owner')];
      const done = await Promise.all([way(one, two), way(two, one)]);
      expect(done.filter(({ status }) => status === 204)).toHaveLength(1);
      expect(Object.values(await rolesNow()).filter((role) => role === 'owner')).toHaveLength(1);
    }
  });

  test('counts only owners who can log in, not suspended ones', async () => {
    const [one, two] = [await join('one', 'owner'), await join('two', 'owner')];
    rig.ledger.moveAccount(two.id, 'account.suspend', OPERATOR);
    expect((await leave(one)).code).toBe('last_owner');
    expect((await remove(one, two)).status).toBe(204);
  });
});

describe('a removed member', () => {
  test('loses all sessions in the organisation at once, and keeps those elsewhere', async () => {
    const owner = await join('owner', 'owner');
    const elsewhere = await openAccount(rig, `both${teams}@example.com`);
    const own = (await me(elsewhere)).organisation.id;
    const inside = rig.browser();
    const email = `both${teams}@example.com`;
    await inside.submit(await inviteTo(rig, team, email, 'admin'), { password: PASSWORD });
    const { id } = await me(inside);
    expect((await remove(owner, { browser: inside, id, email })).status).toBe(204);
    expect((await inside.get('/console/api/keys')).code).toBe('login_required');
    expect((await me(elsewhere)).organisation.id).toBe(own);
    expect((await elsewhere.call('POST', 'organisation', { id: team })).status).toBe(404);
    expect(await actions()).toContain('member.removed');
  });

  test('gets an empty organisation at the next login when it was the only one', async () => {
    const [owner, other] = [await join('owner', 'owner'), await join('other', 'developer')];
    await remove(owner, other);
    expect((await other.browser.logIn(other.email)).status).toBe(204);
    expect(await me(other.browser)).toMatchObject({ role: 'owner', organisation: { name: other.email } });
    expect((await me(other.browser)).organisations).toHaveLength(1);
  });

  test('leaves the keys that he made, which say so, and takes his invitations along', async () => {
    const [owner, admin] = [await join('owner', 'owner'), await join('admin', 'admin')];
    await admin.browser.call('POST', 'keys', { name: 'stays' });
    const invited = await admin.browser.call('POST', 'invitations', { email: 'friend@example.com', role: 'admin' });
    const { link } = invited.json() as unknown as { link: string };
    expect((await rig.browser().get(link)).status).toBe(200);
    await remove(owner, admin);
    const { data } = (await owner.browser.get('/console/api/keys')).json() as unknown as { data: object[] };
    expect(data).toMatchObject([{ name: 'stays', status: 'active', made_by: { id: admin.id, email: admin.email } }]);
    expect((await rig.browser().get(link)).status).toBe(400);
    const [entry] = (await rig.store.listAudit(team, 50)).filter(({ action }) => action === 'member.removed');
    expect(entry).toMatchObject({ target: admin.id, detail: { email: admin.email, keysThatStay: 1 } });
  });
});

describe('an answer that takes long', () => {
  const shutOut: [string, Role, (owner: Person, other: Person) => Promise<unknown>][] = [
    ['is removed', 'read_only', remove],
    ['leaves', 'read_only', (_owner, other) => leave(other)],
    ['logs out', 'read_only', (_owner, other) => other.browser.call('POST', 'logout')],
    [
      'works in another organisation',
      'read_only',
      (_owner, other) => other.browser.call('POST', 'organisations', { name: 'Own' }),
    ],
    ['has too small a role for it', 'developer', (owner, other) => change(owner, other, 'read_only')],
  ];
  test.each(shutOut)('stops when the person %s meanwhile', async (_what, role, happens) => {
    const [owner, other] = [await join('owner', 'owner'), await join('other', role)];
    asked.length = 0;
    await (role === 'read_only'
      ? other.browser.get('/console/api/sessions/x/events')
      : other.browser.call('POST', 'playground'));
    const [isStillAllowed] = asked;
    expect(await isStillAllowed!()).toBe(true);
    await happens(owner, other);
    expect(await isStillAllowed!()).toBe(false);
  });
});

test('moves a person who leaves to another organisation in every browser', async () => {
  await join('owner', 'owner');
  const other = await join('other', 'developer');
  const second = rig.browser();
  await second.logIn(other.email);
  expect((await leave(other)).status).toBe(204);
  for (const browser of [other.browser, second]) {
    expect((await me(browser)).organisation.id).not.toBe(team);
  }
  expect(await actions()).toContain('member.left');
});

describe('a key', () => {
  test('can be rolled and revoked by its developer, and any key by admins', async () => {
    const [admin, one, two] = [
      await join('admin', 'admin'),
      await join('one', 'developer'),
      await join('two', 'developer'),
    ];
    const mint = async (by: Person) =>
      ((await by.browser.call('POST', 'keys')).json() as unknown as { key: { id: string } }).key.id;
    const [own, others] = [await mint(one), await mint(two)];
    const unknown = (await rig.store.createKey(team, {}, OPERATOR)).key.id;
    for (const id of [others, unknown]) {
      expect((await one.browser.call('POST', `keys/${id}/roll`)).code).toBe('role_not_allowed');
      expect((await one.browser.call('DELETE', `keys/${id}`)).code).toBe('role_not_allowed');
    }
    const rolled = await one.browser.call('POST', `keys/${own}/roll`);
    const { key } = rolled.json() as unknown as { key: { id: string; made_by: object } };
    expect([rolled.status, key.made_by]).toEqual([201, { id: one.id, email: one.email }]);
    expect((await one.browser.call('DELETE', `keys/${key.id}`)).status).toBe(200);
    expect((await admin.browser.call('DELETE', `keys/${others}`)).status).toBe(200);
    expect((await admin.browser.call('DELETE', `keys/${unknown}`)).json()).toMatchObject({ key: { made_by: null } });
  });
});

describe('a new organisation', () => {
  test('belongs to its creator and is prepaid, up to twenty', async () => {
    const browser = await openAccount(rig, `maker${teams}@example.com`);
    const made = await browser.call('POST', 'organisations', { name: 'Second' });
    expect([made.status, await me(browser)]).toMatchObject([201, { role: 'owner', organisation: { name: 'Second' } }]);
    expect((await browser.get('/console/api/balance')).json()).toMatchObject({
      available_usd: '0.00',
      credit_limit_usd: '0.00',
    });
    for (let each = 2; each < 20; each++) await browser.call('POST', 'organisations', { name: `Further ${each}` });
    const refused = await browser.call('POST', 'organisations', { name: 'One too many' });
    expect([refused.status, refused.code]).toEqual([400, 'invalid_request']);
    expect((await browser.call('POST', 'organisations', { name: ' ' })).status).toBe(400);
  });
});
