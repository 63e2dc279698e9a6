// What becomes of an account on the tables: new passwords and addresses, suspension, and what stays when it goes.
import { describe, expect, test } from 'vitest';
import { OPERATOR } from '../../../fakes/store/ledger.ts';
import {
  actions,
  balanceOf,
  CLIENT,
  FOREVER,
  HOUR_MS,
  hashOf,
  mails,
  outbox,
  personCalled,
  rig,
  STRANGER,
  sessionOf,
  signUp,
  token,
  use,
  verified,
  WELCOME,
} from './accounts-rig.ts';

describe('a password', () => {
  test('can be reset by the mailed link, which ends sessions, waits and other links', () => {
    const person = verified();
    rig.ledger.openConsoleSession(sessionOf(person.id, hashOf('first')));
    const [one, two] = [token(), token()];
    rig.ledger.requestPasswordReset(person.address, one, STRANGER);
    rig.ledger.requestPasswordReset(person.address, two, STRANGER);
    for (let attempt = 0; attempt < 8; attempt++) rig.ledger.beginLogin(person.address);
    expect(rig.ledger.resetPassword(one.hash, hashOf('new'), CLIENT)?.id).toBe(person.id);
    expect(rig.ledger.listConsoleSessions(person.id, FOREVER)).toEqual([]);
    expect(rig.ledger.beginLogin(person.address)).toMatchObject({
      retryAfterMs: 0,
      person: { passwordHash: hashOf('new') },
    });
    for (const { hash } of [one, two]) {
      expect(rig.ledger.isResetToken(hash)).toBe(false);
      expect(rig.ledger.resetPassword(hash, hashOf('newer'), CLIENT)).toBeUndefined();
    }
  });

  test('gets links for one hour, three an hour per client, and none without an account', () => {
    const person = verified();
    const links = [token(), token(), token(), token()];
    for (const link of links) rig.ledger.requestPasswordReset(person.address, link, STRANGER);
    rig.ledger.requestPasswordReset('nobody@example.com', token(), STRANGER);
    expect(links.map(({ hash }) => rig.ledger.isResetToken(hash))).toEqual([true, true, true, false]);
    expect(mails().filter((type) => type === 'mail.password-reset')).toHaveLength(3);
    expect(actions().filter((action) => action === 'password.reset-requested')).toHaveLength(3);
    rig.clock.nowMs += HOUR_MS;
    expect(rig.ledger.isResetToken(links[0]!.hash)).toBe(false);
  });

  test('opens, confirms and changes nothing once it was changed meanwhile', () => {
    const { id } = verified();
    const session = sessionOf(id, hashOf('first'));
    expect(rig.ledger.openConsoleSession(session)).toBeDefined();
    const changed = rig.ledger.changePassword({ ...sessionOf(id, hashOf('first')) }, hashOf('second'));
    expect(rig.ledger.listConsoleSessions(id, FOREVER)).toEqual([changed]);
    expect(rig.ledger.openConsoleSession(sessionOf(id, hashOf('first')))).toBeUndefined();
    expect(rig.ledger.changePassword(sessionOf(id, hashOf('first')), hashOf('third'))).toBeUndefined();
    const current = sessionOf(id, hashOf('second'));
    rig.ledger.openConsoleSession(current);
    expect(rig.ledger.confirmConsoleSession(current.hash, hashOf('first'))).toBe(false);
    expect(rig.ledger.confirmConsoleSession(current.hash, hashOf('second'))).toBe(true);
  });
});

describe('an address', () => {
  test('changes when the link mailed to the new one is used; the old one is notified', () => {
    const person = verified();
    const change = token();
    expect(rig.ledger.requestAddressChange(person.id, 'new@example.com', 'new@example.com', change, CLIENT)).toBe(true);
    expect(rig.ledger.findPerson(person.id)?.email).toBe('ada@example.com');
    expect(use(change)).toMatchObject({
      credited: false,
      purpose: 'address-change',
      person: { email: 'new@example.com', address: 'new@example.com' },
    });
    expect(outbox().slice(-2)).toEqual([
      { type: 'mail.address-change', to: 'new@example.com', sealed: change.sealed },
      { type: 'mail.address-changed', to: 'ada@example.com' },
    ]);
    expect(actions().slice(-2)).toEqual(['email.change-requested', 'email.changed']);
    expect(balanceOf(person.organisationId)).toBe(WELCOME);
  });

  test('stays when it belongs to another account, also if it was free at the request', () => {
    const ada = verified();
    const other = verified('other@example.com');
    const change = token();
    expect(rig.ledger.requestAddressChange(ada.id, other.email, other.address, change, CLIENT)).toBe(true);
    expect(use(change)).toBeUndefined();
    const late = token();
    rig.ledger.requestAddressChange(ada.id, 'late@example.com', 'late@example.com', late, CLIENT);
    verified('late@example.com');
    expect(use(late)).toBeUndefined();
    expect(rig.ledger.findPerson(ada.id)?.email).toBe('ada@example.com');
  });

  test('needs verification before a change, which may be requested three times an hour', () => {
    signUp('new@example.com');
    const ask = (id: string) => rig.ledger.requestAddressChange(id, 'x@example.com', 'x@example.com', token(), CLIENT);
    expect(ask(personCalled('new@example.com')!.id)).toBe(false);
    const { id } = verified();
    expect([ask(id), ask(id), ask(id), ask(id)]).toEqual([true, true, true, false]);
  });
});

describe('an account', () => {
  test('loses its organisation’s access and its sessions while suspended', () => {
    const person = verified();
    rig.ledger.openConsoleSession(sessionOf(person.id, hashOf('first')));
    expect(rig.ledger.moveAccount(person.id, 'account.reinstate', OPERATOR)).toBe(false);
    expect(rig.ledger.moveAccount(person.id, 'account.suspend', OPERATOR)).toBe(true);
    expect(rig.ledger.moveAccount(person.id, 'account.suspend', OPERATOR)).toBe(false);
    expect(rig.ledger.findOrganisation(person.organisationId)?.suspendedAt).not.toBeNull();
    expect(rig.ledger.listConsoleSessions(person.id, FOREVER)).toEqual([]);
    expect(rig.ledger.openConsoleSession(sessionOf(person.id, hashOf('first')))).toBeUndefined();
    rig.ledger.requestPasswordReset(person.address, token(), STRANGER);
    expect(mails()).toEqual(['mail.verification']);
    expect(rig.ledger.moveAccount(person.id, 'account.reinstate', OPERATOR)).toBe(true);
    expect(rig.ledger.findOrganisation(person.organisationId)?.suspendedAt).toBeNull();
    expect(rig.ledger.findPerson(person.id)).toEqual(person);
  });

  test('leaves its ledger and a suspended organisation when deleted, but no link or session', () => {
    const person = verified();
    rig.ledger.openConsoleSession(sessionOf(person.id, hashOf('first')));
    const reset = token();
    rig.ledger.requestPasswordReset(person.address, reset, STRANGER);
    expect(rig.ledger.deletePerson(person.id, OPERATOR)).toBe(true);
    expect(rig.ledger.deletePerson(person.id, OPERATOR)).toBe(false);
    expect(rig.ledger.findPerson(person.id)).toBeUndefined();
    expect(rig.ledger.isResetToken(reset.hash)).toBe(false);
    expect(rig.ledger.findOrganisation(person.organisationId)?.suspendedAt).not.toBeNull();
    expect(balanceOf(person.organisationId)).toBe(WELCOME);
    for (const table of ['people', 'memberships', 'mail_tokens', 'console_sessions']) {
      expect(rig.database.prepare(`SELECT count(*) FROM ${table}`).pluck().get()).toBe(0);
    }
  });
});
