// Whose link is whose, when several people sign up with one address: what a link takes, how often, and who uses up whose mails.
import { describe, expect, test } from 'vitest';
import { OPERATOR } from '../../../fakes/store/ledger.ts';
import {
  CLIENT,
  HOUR_MS,
  hashOf,
  mails,
  personCalled,
  rig,
  STRANGER,
  sessionOf,
  signUp,
  token,
  use,
  verified,
} from './accounts-rig.ts';

const ADA = 'ada@example.com';
const passwordOf = (email = ADA) => rig.ledger.beginLogin(email).person?.passwordHash;
const from = (clientGroup: string) => ({ client: clientGroup, clientGroup });

describe('a link', () => {
  test.each([
    ['the owner first', ['owner', 'thief']],
    ['the stranger first', ['thief', 'owner']],
  ])('takes only the password of the sign-up it came from, %s', (_, order) => {
    const links = Object.fromEntries(
      order.map((name) => [name, signUp(ADA, { passwordHash: hashOf(name) }).verification]),
    );
    expect(rig.ledger.beginVerification(links.thief!.hash)).toEqual({ passwordHash: hashOf('thief') });
    expect(use(links.thief!, 'owner')).toBeUndefined();
    expect(personCalled(ADA)?.state).toBe('unverified');
    expect(rig.ledger.beginVerification(links.owner!.hash)).toEqual({ passwordHash: hashOf('owner') });
    expect(use(links.owner!, 'owner')).toMatchObject({ credited: true, person: { state: 'verified' } });
    expect(passwordOf()).toBe(hashOf('owner'));
    expect(rig.ledger.isVerificationToken(links.thief!.hash)).toBe(false);
    expect(use(links.thief!, 'thief')).toBeUndefined();
  });

  test('expires after five attempts, and others do not', () => {
    const [one, two] = [signUp().verification, signUp().verification];
    const tries = Array.from({ length: 7 }, () => rig.ledger.beginVerification(one.hash) !== undefined);
    expect(tries).toEqual([true, true, true, true, true, false, false]);
    expect(rig.ledger.isVerificationToken(one.hash)).toBe(false);
    expect(rig.ledger.isVerificationToken(two.hash)).toBe(true);
    expect(use(two)?.credited).toBe(true);
  });

  test('survives any number of views', () => {
    const { verification } = signUp();
    for (let look = 0; look < 20; look++) expect(rig.ledger.isVerificationToken(verification.hash)).toBe(true);
  });

  test('takes the person’s own password in a session, and for a change of address', () => {
    signUp(ADA, { passwordHash: hashOf('first') });
    const again = token();
    expect(rig.ledger.resendVerification(personCalled(ADA)!.id, again)).toBe(true);
    expect(rig.ledger.beginVerification(again.hash)).toEqual({ passwordHash: hashOf('first') });
    const { id } = use(again)!.person;
    const change = token();
    rig.ledger.requestAddressChange(id, 'new@example.com', 'new@example.com', change, CLIENT);
    rig.ledger.changePassword(sessionOf(id, hashOf('first')), hashOf('second'));
    expect(use(change, 'first')).toBeUndefined();
    expect(rig.ledger.beginVerification(change.hash)).toEqual({ passwordHash: hashOf('second') });
    expect(use(change, 'second')?.person.email).toBe('new@example.com');
  });

  test('follows the password of the person it was mailed to, not of another sign-up', () => {
    const own = signUp(ADA, { passwordHash: hashOf('own') }).verification;
    const other = signUp(ADA, { passwordHash: hashOf('other') }).verification;
    const { id } = personCalled(ADA)!;
    rig.ledger.changePassword(sessionOf(id, hashOf('own')), hashOf('changed'));
    expect(rig.ledger.beginVerification(own.hash)).toEqual({ passwordHash: hashOf('changed') });
    expect(rig.ledger.beginVerification(other.hash)).toEqual({ passwordHash: hashOf('other') });
    expect(use(own, 'own')).toBeUndefined();
    expect(use(own, 'changed')).toBeDefined();
    expect(passwordOf()).toBe(hashOf('changed'));
  });
});

describe('mails to one address', () => {
  const count = (type: string) => mails().filter((each) => each === type).length;

  test('stay available to the owner when strangers request them', () => {
    for (let attempt = 0; attempt < 8; attempt++) signUp(ADA, from('thief'));
    expect(count('mail.verification')).toBe(3);
    const { verification } = signUp(ADA, { ...from('owner'), passwordHash: hashOf('owner') });
    expect(count('mail.verification')).toBe(4);
    expect(use(verification, 'owner')).toBeDefined();
    for (let attempt = 0; attempt < 8; attempt++) {
      signUp(ADA, from('thief'));
      rig.ledger.requestPasswordReset(ADA, token(), from('thief'));
    }
    expect([count('mail.account-exists'), count('mail.password-reset')]).toEqual([0, 3]);
    rig.ledger.requestPasswordReset(ADA, token(), from('owner'));
    expect(count('mail.password-reset')).toBe(4);
  });

  test('stop at ten an hour for all callers, and resume in the next', () => {
    for (let client = 0; client < 30; client++) {
      signUp(ADA, from(`client ${client}`));
      rig.ledger.requestPasswordReset(ADA, token(), from(`client ${client}`));
    }
    expect([count('mail.verification'), count('mail.password-reset')]).toEqual([10, 10]);
    // Whoever is logged in has three of their own.
    const { id } = personCalled(ADA)!;
    expect(Array.from({ length: 4 }, () => rig.ledger.resendVerification(id, token()))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    rig.clock.nowMs += HOUR_MS;
    signUp(ADA, from('client 0'));
    expect(count('mail.verification')).toBe(14);
  });

  test('stop at as many from several accounts, of which each may request three', () => {
    verified('taken@example.com');
    const askers = Array.from({ length: 5 }, (_, number) => verified(`asker${number}@example.com`).id);
    const ask = (id: string, to: string) => rig.ledger.requestAddressChange(id, to, to, token(), CLIENT);
    for (const to of ['free@example.com', 'taken@example.com']) {
      const before = count('mail.address-change');
      expect(askers.map((id) => [ask(id, to), ask(id, to), ask(id, to), ask(id, to)])).toEqual(
        askers.map(() => [true, true, true, false]),
      );
      expect(count('mail.address-change') - before).toBe(to === 'free@example.com' ? 10 : 0);
      rig.clock.nowMs += HOUR_MS;
    }
  });
});

test('keeps a password when its session’s account was suspended meanwhile', () => {
  const { id } = verified();
  const session = sessionOf(id, hashOf('first'));
  rig.ledger.moveAccount(id, 'account.suspend', OPERATOR);
  expect(rig.ledger.changePassword(session, hashOf('second'))).toBeUndefined();
  rig.ledger.moveAccount(id, 'account.reinstate', OPERATOR);
  expect(passwordOf()).toBe(hashOf('first'));
});

test('leaves no trace of a reset, sign-up or login that concerns no account', () => {
  rig.ledger.requestPasswordReset('nobody@example.com', token(), STRANGER);
  rig.ledger.noteRefusedLogin({ address: 'nobody@example.com', why: 'password', ...STRANGER });
  expect(rig.ledger.listAudit(null, 10)).toEqual([]);
});
