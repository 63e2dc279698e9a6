// The pages of invitations: a link that makes a member works once, for whom it was made, and opening it changes nothing.
import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ConsoleRig, openAccount, openConsoleRig, PASSWORD } from '../people/console-rig.ts';

const HOUR_MS = 3_600_000;

let rig: ConsoleRig;
let organisationId: string;
beforeAll(async () => {
  rig = await openConsoleRig();
  organisationId = rig.ledger.bootstrap()!.organisation.id;
});
let people = 0;
let email: string;
beforeEach(() => {
  email = `person${++people}@example.com`;
  rig.database.prepare('DELETE FROM memberships WHERE organisation_id = ?').run(organisationId);
});

/** The link of the first owner. */
async function firstOwnerLink(): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  expect(await rig.store.inviteFirstOwner(createHash('sha256').update(token).digest())).toBe(true);
  return `/join?token=${token}`;
}

const organisationOf = async (browser: ReturnType<ConsoleRig['browser']>) =>
  ((await browser.get('/console/api/me')).json() as unknown as { organisation: { id: string } }).organisation.id;

describe('the link of the first owner', () => {
  test('makes an account that owns the operator’s organisation, and logs it in', async () => {
    const browser = rig.browser();
    const link = await firstOwnerLink();
    const shown = await browser.get(link);
    expect([shown.status, shown.text]).toEqual([
      200,
      expect.stringContaining('an owner of the organisation “Default”'),
    ]);
    expect((await browser.submit(link, { email, password: PASSWORD })).status).toBe(200);
    expect(await organisationOf(browser)).toBe(organisationId);
    expect((await browser.call('POST', 'keys', { name: 'mine' })).status).toBe(201);
    expect((await rig.browser().logIn(email)).status).toBe(204);
    expect((await rig.store.listAudit(organisationId, 10)).map(({ action }) => action)).toContain('member.joined');
  });

  test('works once, and there is no other one once there is an owner', async () => {
    const link = await firstOwnerLink();
    const presses = await Promise.all(
      Array.from({ length: 20 }, (_, each) =>
        rig.browser().submit(link, { email: `racer${each}-${email}`, password: PASSWORD }),
      ),
    );
    expect(presses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await rig.browser().get(link)).status).toBe(400);
    expect(await rig.store.inviteFirstOwner(randomBytes(32))).toBe(false);
  });

  test('can be opened often, expires in a day, and gives way to a new one', async () => {
    const [old, link] = [await firstOwnerLink(), await firstOwnerLink()];
    const opened = async (path: string) => (await rig.browser().get(path)).status;
    expect([await opened(old), await opened(link), await opened(link)]).toEqual([400, 200, 200]);
    rig.pass(24 * HOUR_MS);
    expect([await opened(link), (await rig.browser().submit(link, { email, password: PASSWORD })).status]).toEqual([
      400, 400,
    ]);
  });

  test('survives an invalid password or address, and another site', async () => {
    const link = await firstOwnerLink();
    const browser = rig.browser();
    expect((await browser.submit(link, { email, password: 'short' })).status).toBe(400);
    expect((await browser.submit(link, { email: 'nobody', password: PASSWORD })).text).toContain(
      'not an e-mail address',
    );
    const foreign = { 'Sec-Fetch-Site': 'cross-site' };
    expect((await browser.submit(link, { email, password: PASSWORD }, foreign)).code).toBe('cross_site_request');
    expect((await browser.submit(link, { email, password: PASSWORD })).status).toBe(200);
  });

  test('asks an account that there is for its own password, five times at the most', async () => {
    await openAccount(rig, email);
    const link = await firstOwnerLink();
    const attempt = async (password: string) => (await rig.browser().submit(link, { email, password })).status;
    expect(await attempt('another password than that')).toBe(401);
    expect(await attempt(PASSWORD)).toBe(200);

    rig.database.prepare('DELETE FROM memberships WHERE organisation_id = ?').run(organisationId);
    const second = await firstOwnerLink();
    const guess = async (password: string) => (await rig.browser().submit(second, { email, password })).status;
    for (let each = 0; each < 5; each++) expect(await guess(`another password ${each}`)).toBe(401);
    expect(await guess(PASSWORD)).toBe(400);
  });

  test('takes over an unconfirmed sign-up, with the new password', async () => {
    const stranger = rig.browser();
    await stranger.signUp(email, 'the password of a stranger');
    await stranger.logIn(email, 'the password of a stranger');
    const link = await firstOwnerLink();
    expect((await rig.browser().submit(link, { email, password: PASSWORD })).status).toBe(200);
    expect((await stranger.get('/console/api/me')).status).toBe(401);
    expect((await rig.browser().logIn(email, 'the password of a stranger')).status).toBe(401);
  });
});

test('keeps a joining person’s token and password out of database and audit log', async () => {
  const link = await firstOwnerLink();
  await rig.browser().submit(link, { email, password: PASSWORD });
  const dump = rig.database.serialize().toString('latin1');
  expect([dump.includes(email), dump.includes(link.split('=')[1]!), dump.includes(PASSWORD)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(rig.faults).toEqual([]);
});
