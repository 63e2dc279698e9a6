// Invitations at the console: for whom they are good, how often they are mailed, and what their link does in which browser.
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../../src/accounts/team/calls.ts';
import type { InvitationView, InvitedAnswer } from '../../../src/api/console/console.ts';
import { type Browser, type ConsoleRig, openAccount, openConsoleRig, PASSWORD } from '../people/console-rig.ts';

let rig: ConsoleRig;
/** One that sends mails. */
let mailing: ConsoleRig;
let people = 0;
let owner: Browser;
let email: string;

beforeAll(async () => {
  [rig, mailing] = await Promise.all([openConsoleRig(), openConsoleRig({ sendsMail: true })]);
});
beforeEach(async () => {
  email = `invited${++people}@example.com`;
  owner = await openAccount(rig, `owner${people}@example.com`);
});

const invite = (by: Browser, to: string, role: Role = 'developer') =>
  by.call('POST', 'invitations', { email: to, role });
const invited = async (by = owner, to = email, role?: Role) =>
  (await invite(by, to, role)).json() as unknown as InvitedAnswer;
const listed = async (by = owner) =>
  ((await by.get('/console/api/invitations')).json() as unknown as { data: InvitationView[] }).data;
const me = async (browser: Browser) =>
  (await browser.get('/console/api/me')).json() as unknown as {
    email: string;
    organisation: { id: string; name: string };
    organisations: object[];
  };
const actions = async (of: ConsoleRig, by: Browser) =>
  (await of.store.listAudit((await me(by)).organisation.id, 50)).map(({ action }) => action);

describe('an invitation', () => {
  test('shows its link once where no mail is sent, and is listed without it', async () => {
    const { invitation, link } = await invited();
    expect(invitation).toMatchObject({
      email,
      role: 'developer',
      state: 'pending',
      invited_by: `owner${people}@example.com`,
    });
    expect(link).toMatch(/^\/join\?token=[\w-]{43}$/);
    const list = await owner.get('/console/api/invitations');
    expect([list.json(), list.text.includes(link!.slice(-43))]).toEqual([{ data: [invitation] }, false]);
    expect(await actions(rig, owner)).toContain('invitation.made');
  });

  test('goes out by mail where there is a server, and hides its link from the sender', async () => {
    const by = await openAccount(mailing, `by${people}@example.com`);
    const answer = await invite(by, email);
    expect(answer.json()).toMatchObject({ link: null });
    const [token] = await mailing.mailedTokens(email, 1);
    expect(answer.text).not.toContain(token);
    expect((await mailing.browser().submit(`/join?token=${token}`, { password: PASSWORD })).status).toBe(200);
  });

  test('can be mailed three times an hour to an address, and fifty times by one person', async () => {
    const by = await openAccount(mailing, `by${people}@example.com`);
    const { invitation } = await invited(by);
    const resend = () => by.call('POST', `invitations/${invitation.id}/resend`);
    expect([(await resend()).status, (await resend()).status, (await resend()).code]).toEqual([
      200,
      200,
      'rate_limit_exceeded',
    ]);
    const [first, second, third] = await mailing.mailedTokens(email, 3);
    const opened = async (token = '') => (await mailing.browser().get(`/join?token=${token}`)).status;
    expect([await opened(first), await opened(second), await opened(third)]).toEqual([400, 400, 200]);
    for (let each = 3; each < 50; each++) expect((await invite(by, `${each}.${email}`)).status).toBe(201);
    expect((await invite(by, `50.${email}`)).code).toBe('rate_limit_exceeded');
    mailing.pass(3_600_000);
    await by.logIn(`by${people}@example.com`);
    expect((await resend()).status).toBe(200);
    expect(await actions(mailing, by)).toContain('invitation.sent-again');
  });

  test('fails for an invalid address, for a member, and beyond a hundred', async () => {
    const wrong = await invite(owner, 'nobody at all');
    expect([wrong.status, wrong.param]).toEqual([400, 'email']);
    const member = await invite(owner, `owner${people}@example.com`);
    expect([member.status, member.param]).toEqual([400, 'email']);
    expect((await invite(owner, email, 'king' as Role)).param).toBe('role');
    for (let each = 0; each < 100; each++) expect((await invite(owner, `${each}.${email}`)).status).toBe(201);
    expect((await invite(owner, email)).status).toBe(400);
    // In the place of one that there is.
    expect((await invite(owner, `7.${email}`, 'admin')).status).toBe(201);
    expect(await listed()).toHaveLength(100);
  });

  test('reveals nothing about whether the address has an account', async () => {
    await openAccount(rig, email);
    const shape = async (to: string) => Object.keys((await invited(owner, to)).invitation);
    expect(await shape(email)).toEqual(await shape(`other-${email}`));
  });

  test('needs an owner if it concerns an owner', async () => {
    const { link } = await invited(owner, email, 'admin');
    const admin = rig.browser();
    await admin.submit(link!, { password: PASSWORD });
    const { invitation } = await invited(owner, `next-${email}`, 'owner');
    for (const refused of [
      await invite(admin, `more-${email}`, 'owner'),
      await invite(admin, `next-${email}`, 'read_only'),
      await admin.call('POST', `invitations/${invitation.id}/resend`),
      await admin.call('DELETE', `invitations/${invitation.id}`),
    ]) {
      expect([refused.status, refused.code]).toEqual([403, 'role_not_allowed']);
    }
    expect(await listed()).toMatchObject([{ role: 'owner' }]);
  });

  test('expires with the admin role of its author', async () => {
    const { link } = await invited(owner, email, 'admin');
    const admin = rig.browser();
    await admin.submit(link!, { password: PASSWORD });
    await invited(admin, `friend-${email}`, 'admin');
    const members = (await owner.get('/console/api/members')).json() as unknown as {
      data: { id: string; you: boolean }[];
    };
    const { id } = members.data.find(({ you }) => !you)!;
    await owner.call('PATCH', `members/${id}`, { role: 'developer' });
    expect(await listed()).toEqual([]);
  });
});

describe('the link', () => {
  test('changes nothing when a scanner opens it, as often as it likes', async () => {
    const { link } = await invited();
    for (let each = 0; each < 7; each++) {
      const seen = await rig.browser().ask(each % 2 === 0 ? 'GET' : 'HEAD', link!, undefined, {});
      expect([200, 404, 405]).toContain(seen.status);
    }
    expect(await listed()).toMatchObject([{ state: 'pending' }]);
    expect((await rig.browser().submit(link!, { password: PASSWORD })).status).toBe(200);
  });

  test('expires once used, withdrawn or sent again, and after seven days', async () => {
    const opened = async (link: string | null) => {
      const { status, text } = await rig.browser().get(link!);
      return [status, /withdrawn, has expired/.test(text)];
    };
    const used = await invited();
    await rig.browser().submit(used.link!, { password: PASSWORD });
    const withdrawn = await invited(owner, `2.${email}`);
    expect((await owner.call('DELETE', `invitations/${withdrawn.invitation.id}`)).status).toBe(204);
    const again = await invited(owner, `3.${email}`);
    await owner.call('POST', `invitations/${again.invitation.id}/resend`);
    const late = await invited(owner, `4.${email}`);
    for (const { link } of [used, withdrawn, again]) expect(await opened(link)).toEqual([400, true]);
    expect(await opened(late.link)).toEqual([200, false]);
    rig.pass(7 * 24 * 3_600_000);
    expect(await opened(late.link)).toEqual([400, true]);
    await owner.logIn(`owner${people}@example.com`);
    expect(await listed()).toMatchObject([{ state: 'expired' }, { state: 'expired' }]);
    expect(await actions(rig, owner)).toContain('invitation.withdrawn');
  });

  test('locks after five wrong passwords of the account, which the list says', async () => {
    await openAccount(rig, email);
    const { link } = await invited();
    for (let each = 0; each < 5; each++) {
      expect((await rig.browser().submit(link!, { password: `wrong password ${each}` })).status).toBe(401);
    }
    expect((await rig.browser().submit(link!, { password: PASSWORD })).status).toBe(400);
    expect(await listed()).toMatchObject([{ state: 'locked' }]);
  });

  test('takes one click of who is logged in with its address, and makes no second account', async () => {
    const browser = await openAccount(rig, email);
    const { link } = await invited();
    const shown = await browser.get(link!);
    expect([shown.text.includes('as which you are logged in here'), shown.text.includes('type="password"')]).toEqual([
      true,
      false,
    ]);
    expect((await browser.submit(link!)).status).toBe(200);
    const now = await me(browser);
    expect([now.organisation.name, now.organisations.length]).toEqual([`owner${people}@example.com`, 2]);
    expect(await actions(rig, owner)).toContain('member.joined');
  });

  test('offers a switch to a person logged in as another, also after a first attempt', async () => {
    const other = await openAccount(rig, `other-${email}`);
    const { link } = await invited();
    const shown = await other.get(link!);
    expect(shown.text).toContain(`You are logged in as other-${email}`);
    expect(shown.text).toContain('name="switch"');
    const refused = await other.submit(link!, { password: PASSWORD });
    expect([refused.status, refused.text.includes('name="switch"')]).toEqual([400, true]);
    expect((await me(other)).email).toBe(`other-${email}`);
    expect((await other.submit(link!, { password: PASSWORD, switch: 'yes' })).status).toBe(200);
    expect((await me(other)).email).toBe(email);
  });

  test('keeps the role of a person who became a member meanwhile', async () => {
    const { link } = await invited(owner, email, 'admin');
    const browser = rig.browser();
    await browser.submit(link!, { password: PASSWORD });
    // The same mailbox, spelled with a tag.
    const { id } = (await me(browser)).organisation;
    const member = (await rig.store.listMembers(id)).find((each) => each.email === email)!;
    const actor = { type: 'operator', id: 'test' } as const;
    expect(await rig.store.changeRole(id, member.personId, 'read_only', actor)).toBe('done');
    expect((await invite(owner, email.replace('@', '+tag@'))).param).toBe('email');
    expect((await rig.store.listMembers(id)).find((each) => each.email === email)?.role).toBe('read_only');
  });
});
