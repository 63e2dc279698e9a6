// Whether members see transcripts of live sessions: off at first, and only an owner changes it.
import { beforeAll, expect, test } from 'vitest';
import type { Role } from '../../../src/accounts/team/calls.ts';
import { OPERATOR } from '../../fakes/store/ledger.ts';
import { inviteTo } from '../../node/console/tenants-rig.ts';
import { type Browser, type ConsoleRig, openAccount, openConsoleRig, PASSWORD } from '../people/console-rig.ts';

let rig: ConsoleRig;
let owner: Browser;
let team: string;

const isShown = async (browser: Browser) =>
  ((await browser.get('/console/api/me')).json() as unknown as { organisation: { show_transcripts: boolean } })
    .organisation.show_transcripts;
const change = (browser: Browser, body: object) => browser.call('PATCH', 'organisation', body);
const actions = async () => (await rig.store.listAudit(team, 50)).map(({ action }) => action);

beforeAll(async () => {
  rig = await openConsoleRig();
  owner = await openAccount(rig, 'owner@example.com');
  const me = (await owner.get('/console/api/me')).json() as unknown as { organisation: { id: string } };
  team = me.organisation.id;
});

test('appear for every key of the organisation once an owner enables them, until disabled', async () => {
  const { key } = await rig.store.createKey(team, {}, OPERATOR);
  const ofKey = async () => (await rig.store.findKey(team, key.id))?.organisationShowsTranscripts;
  expect([await isShown(owner), await ofKey()]).toEqual([false, false]);
  expect((await change(owner, { show_transcripts: true })).status).toBe(204);
  expect([await isShown(owner), await ofKey()]).toEqual([true, true]);
  expect((await change(owner, { show_transcripts: true })).status).toBe(204);
  expect((await change(owner, { show_transcripts: false })).status).toBe(204);
  expect([await isShown(owner), await ofKey()]).toEqual([false, false]);
  expect((await actions()).filter((action) => action === 'show-transcripts.changed')).toHaveLength(2);
});

test.each(['admin', 'developer', 'read_only'] as const)('stay unchanged by the role %s', async (role: Role) => {
  const browser = rig.browser();
  await browser.submit(await inviteTo(rig, team, `${role}@example.com`, role), { password: PASSWORD });
  expect((await change(browser, { show_transcripts: true })).code).toBe('role_not_allowed');
  expect(await isShown(browser)).toBe(false);
});

test.each([[{}], [{ show_transcripts: 'yes' }], [{ show_transcripts: 1 }], [{ show_transcripts: true, more: 1 }]])(
  'stay unchanged by the body %j',
  async (body) => {
    expect((await change(owner, body)).code).toBe('invalid_request');
    expect(await isShown(owner)).toBe(false);
  },
);

test('leave the spend ceilings as they are, which an owner sets by the same request', async () => {
  const ceilings = [{ usd: '10', period: 'day', provider: 'deepgram' }];
  expect((await change(owner, { spend_ceilings: ceilings })).status).toBe(204);
  expect((await change(owner, { show_transcripts: true })).status).toBe(204);
  expect((await rig.store.findOrganisation(team))?.spendCeilings).toEqual(ceilings);
  expect((await change(owner, { spend_ceilings: [{ usd: '10', period: 'week' }] })).code).toBe('invalid_request');
  expect((await change(owner, { spend_ceilings: null })).status).toBe(204);
  expect((await rig.store.findOrganisation(team))?.spendCeilings).toBeNull();
});
