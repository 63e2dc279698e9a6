// Sign-up and verification on the tables: what one link does, what is given once, and what is limited.
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

describe('a sign-up', () => {
  test('makes a person who owns a prepaid organisation without credit, and mails one sealed link', () => {
    const { verification } = signUp();
    const person = personCalled('ada@example.com')!;
    expect(person).toMatchObject({ state: 'unverified', verifiedAt: null, address: 'ada@example.com' });
    expect(rig.ledger.findOrganisation(person.organisationId)).toMatchObject({ name: 'Ada', creditLimitMicroUsd: 0n });
    expect(balanceOf(person.organisationId)).toBe(0n);
    expect(outbox()).toEqual([{ type: 'mail.verification', to: 'ada@example.com', sealed: verification.sealed }]);
    expect(actions()).toEqual(['organisation.created', 'sign-up']);
  });

  test('hides the hash of a password', () => {
    signUp();
    expect(JSON.stringify(personCalled('ada@example.com'))).not.toContain(hashOf('first'));
  });

  test('changes nothing for a verified account, and mails its owner a reset link', () => {
    const before = verified();
    const { reset } = signUp('ada@example.com', { passwordHash: hashOf('second'), organisationName: 'Other' });
    expect(rig.ledger.findPerson(before.id)).toEqual(before);
    expect(rig.ledger.listOrganisations()).toHaveLength(1);
    expect(mails()).toEqual(['mail.verification', 'mail.account-exists']);
    expect(rig.ledger.isResetToken(reset.hash)).toBe(true);
    expect(rig.ledger.beginLogin('ada@example.com').person?.passwordHash).toBe(hashOf('first'));
  });

  test('takes the password of the link that is used, and no older session, when unverified', () => {
    const thief = signUp('ada@example.com', { passwordHash: hashOf('thief') });
    const { id } = personCalled('ada@example.com')!;
    rig.ledger.openConsoleSession(sessionOf(id, hashOf('thief')));
    const owner = signUp('ada@example.com', { passwordHash: hashOf('owner') });
    expect(rig.ledger.beginLogin('ada@example.com').person?.passwordHash).toBe(hashOf('thief'));
    use(owner.verification, 'owner');
    expect(rig.ledger.beginLogin('ada@example.com').person?.passwordHash).toBe(hashOf('owner'));
    expect(rig.ledger.listConsoleSessions(id, FOREVER)).toEqual([]);
    expect(use(thief.verification, 'thief')).toBeUndefined();
  });

  test('fails past the client’s daily limit, and counts for that client only', () => {
    const limited = (email: string, client: string) =>
      signUp(email, { clientGroup: client, signUpsPerDayMax: 2 }).outcome;
    expect(limited('a@example.com', 'one')).toBe('mailed');
    rig.clock.nowMs += HOUR_MS;
    expect(limited('b@example.com', 'one')).toBe('mailed');
    expect(limited('c@example.com', 'one')).toBe('too_many');
    expect(limited('c@example.com', 'two')).toBe('mailed');
    expect(personCalled('c@example.com')).toBeDefined();
    rig.clock.nowMs += 23 * HOUR_MS;
    expect([limited('d@example.com', 'one'), limited('e@example.com', 'one')]).toEqual(['mailed', 'too_many']);
  });

  test('leaves nothing with a name that no organisation can have', () => {
    expect(() => signUp('ada@example.com', { organisationName: '' })).toThrow('name of an organisation');
    expect([personCalled('ada@example.com'), mails(), actions()]).toEqual([undefined, [], []]);
    expect(signUp('ada@example.com', { signUpsPerDayMax: 1 }).outcome).toBe('mailed');
  });
});

describe('a verification', () => {
  test('opens the account and gives the welcome credit, once', () => {
    const { verification } = signUp();
    const first = use(verification)!;
    expect(first).toMatchObject({ credited: true, purpose: 'verification', person: { state: 'verified' } });
    expect(use(verification)).toBeUndefined();
    expect(balanceOf(first.person.organisationId)).toBe(WELCOME);
    expect(actions()).toContain('email.verified');
    expect(rig.ledger.auditLedger()).toMatchObject({ ok: true, transfers: 1 });
  });

  test.each([
    [24 * HOUR_MS - 1, true],
    [24 * HOUR_MS, false],
  ])('%d ms after the mail: %s', (ms, isGood) => {
    const { verification } = signUp();
    rig.clock.nowMs += ms;
    expect(use(verification) !== undefined).toBe(isGood);
    expect(personCalled('ada@example.com')?.state).toBe(isGood ? 'verified' : 'unverified');
  });

  test('fails with the link of a password, and with one that was never mailed', () => {
    const person = verified();
    const reset = token();
    rig.ledger.requestPasswordReset(person.address, reset, STRANGER);
    expect(use(reset)).toBeUndefined();
    expect(use(token())).toBeUndefined();
  });

  test('fails with a link mailed to an address that the account no longer has', () => {
    const { verification } = signUp();
    rig.database.exec("UPDATE people SET email = 'new@example.com', address = 'new@example.com'");
    expect(use(verification)).toBeUndefined();
    expect(personCalled('new@example.com')?.state).toBe('unverified');
  });

  test('fails whole when its credit cannot be written', () => {
    const { verification } = signUp();
    rig.database.exec("CREATE TRIGGER no_credit BEFORE INSERT ON transfers BEGIN SELECT raise(ABORT, 'no'); END");
    expect(() => use(verification)).toThrow();
    expect(personCalled('ada@example.com')?.state).toBe('unverified');
    rig.database.exec('DROP TRIGGER no_credit');
    expect(use(verification)?.credited).toBe(true);
  });

  test('gives no second credit after the account was deleted and created again', () => {
    const first = verified();
    expect(rig.ledger.deletePerson(first.id, OPERATOR)).toBe(true);
    const { verification } = signUp();
    const again = use(verification)!;
    expect(again.person.id).not.toBe(first.id);
    expect([again.credited, balanceOf(again.person.organisationId)]).toEqual([false, 0n]);
  });

  test('gives nothing where nothing is to be given', () => {
    const { verification } = signUp();
    expect(rig.ledger.verifyAddress(verification.hash, hashOf('first'), 0n, CLIENT)).toMatchObject({ credited: false });
  });

  test('can be mailed again three times an hour, while unverified', () => {
    signUp();
    const { id } = personCalled('ada@example.com')!;
    const again = () => rig.ledger.resendVerification(id, token());
    expect([again(), again(), again(), again()]).toEqual([true, true, true, false]);
    rig.clock.nowMs += HOUR_MS;
    const last = token();
    expect(rig.ledger.resendVerification(id, last)).toBe(true);
    use(last);
    rig.clock.nowMs += HOUR_MS;
    expect(again()).toBe(false);
    expect(mails()).toHaveLength(5);
  });
});
