// People of several organisations, and the links by which they join them.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../../src/accounts/team/calls.ts';
import {
  type Browser,
  type ConsoleRig,
  openAccount,
  openConsoleRig,
  PASSWORD,
} from '../../accounts/people/console-rig.ts';
import { OPERATOR } from '../../fakes/store/ledger.ts';
import { inviteTo } from './tenants-rig.ts';

let rig: ConsoleRig;
let team: string;
const invite = (email: string, role: Role, organisationId = team) => inviteTo(rig, organisationId, email, role);

beforeAll(async () => {
  rig = await openConsoleRig();
  team = rig.ledger.createOrganisation('Team', null, OPERATOR).id;
});

interface Me {
  organisation: { id: string; name: string };
  role: Role;
  organisations: { id: string; role: Role }[];
}
const me = async (browser: Browser) => (await browser.get('/console/api/me')).json() as unknown as Me;

describe('a person of two organisations', () => {
  test('takes each organisation’s role, and sees that organisation’s data only', async () => {
    const browser = await openAccount(rig, 'two@example.com');
    const own = await me(browser);
    rig.pass(1000);
    await browser.submit(await invite('two@example.com', 'read_only'), { password: PASSWORD });
    const joined = await me(browser);
    expect([joined.organisation, joined.role]).toEqual([
      { id: team, name: 'Team', show_transcripts: false, spend_ceilings: null },
      'read_only',
    ]);
    expect(joined.organisations).toMatchObject([
      { id: own.organisation.id, role: 'owner' },
      { id: team, role: 'read_only' },
    ]);
    expect((await browser.get('/console/api/keys')).code).toBe('role_not_allowed');

    expect((await browser.call('POST', 'organisation', { id: own.organisation.id })).status).toBe(204);
    const minted = (await browser.call('POST', 'keys', { name: 'mine' })).json() as unknown as { key: { id: string } };
    expect((await rig.store.listKeys(own.organisation.id)).map(({ id }) => id)).toEqual([minted.key.id]);
    // A new login begins where the longest membership is; a new password leaves the session where it was.
    await browser.call('POST', 'organisation', { id: team });
    await browser.call('POST', 'password', { current_password: PASSWORD, new_password: `${PASSWORD}!` });
    expect((await me(browser)).organisation.id).toBe(team);
    const again = rig.browser();
    await again.logIn('two@example.com', `${PASSWORD}!`);
    expect((await me(again)).organisation.id).toBe(own.organisation.id);
  });

  test('enters none that it is not a member of, and cannot tell whether there is one', async () => {
    const stranger = await openAccount(rig, 'stranger@example.com');
    const enter = async (id: string) => {
      const { status, text } = await stranger.call('POST', 'organisation', { id });
      return [status, text.replace(/req_\d+/, '')];
    };
    expect(await enter(team)).toEqual(await enter('org_never'));
    expect((await enter(team))[0]).toBe(404);
    expect((await me(stranger)).organisation.id).not.toBe(team);
  });

  test('loses its session in an organisation that it left', async () => {
    const browser = await openAccount(rig, 'left@example.com');
    await browser.submit(await invite('left@example.com', 'admin'), { password: PASSWORD });
    const { changes } = rig.database
      .prepare(
        `DELETE FROM memberships WHERE organisation_id = ? AND person_id = (SELECT id FROM people WHERE email = 'left@example.com')`,
      )
      .run(team);
    expect([changes, (await browser.get('/console/api/keys')).code]).toEqual([1, 'login_required']);
  });
});

describe('an invitation', () => {
  test('binds the address that it names: no other can join', async () => {
    const link = await invite('named@example.com', 'developer');
    const browser = rig.browser();
    const shown = await browser.get(link);
    expect(shown.text).toContain('named@example.com');
    await browser.submit(link, { email: 'other@example.com', password: PASSWORD });
    const { email } = (await browser.get('/console/api/me')).json() as unknown as { email: string };
    expect(email).toBe('named@example.com');
  });

  test('takes the place of the one before, and lapses after seven days', async () => {
    const [old, link] = [await invite('late@example.com', 'admin'), await invite('late@example.com', 'admin')];
    const opened = async (path: string) => (await rig.browser().get(path)).status;
    expect([await opened(old), await opened(link)]).toEqual([400, 200]);
    rig.pass(7 * 24 * 3_600_000);
    expect(await opened(link)).toBe(400);
  });
});

test('keeps an organisation active when one of two owners is suspended', async () => {
  const [first, second] = ['co1@example.com', 'co2@example.com'];
  const id = rig.ledger.createOrganisation('Shared', null, OPERATOR).id;
  for (const email of [first, second]) {
    await rig.browser().submit(await invite(email, 'owner', id), { password: PASSWORD });
  }
  const idOf = (email: string) =>
    rig.database.prepare<[string], string>('SELECT id FROM people WHERE email = ?').pluck().get(email)!;
  const isSuspended = () => rig.ledger.findOrganisation(id)?.suspendedAt !== null;
  rig.ledger.moveAccount(idOf(first), 'account.suspend', OPERATOR);
  expect(isSuspended()).toBe(false);
  rig.ledger.deletePerson(idOf(second), OPERATOR);
  rig.ledger.moveAccount(idOf(first), 'account.reinstate', OPERATOR);
  expect(isSuspended()).toBe(false);
});
