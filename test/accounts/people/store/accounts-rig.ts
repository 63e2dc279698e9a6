// Accounts on a database in memory that is new for each test, and the few words their tests are written in.
import { createHash } from 'node:crypto';
import { beforeEach } from 'vitest';
import type { MailToken, SignUp } from '../../../../src/accounts/people/store/calls.ts';
import { type LedgerRig, ledgerRig } from '../../../fakes/store/ledger.ts';

export const HOUR_MS = 3_600_000;
export const WELCOME = 2_000_000n;
export const CLIENT = '192.0.2.1';
export const STRANGER = { client: CLIENT, clientGroup: CLIENT };

export let rig: LedgerRig;
beforeEach(() => {
  rig = ledgerRig();
});

let tokens = 0;
export const token = (): MailToken => {
  const number = ++tokens;
  return { hash: new Uint8Array(createHash('sha256').update(`token ${number}`).digest()), sealed: `sealed ${number}` };
};
export const hashOf = (password: string) => `$test$x$${password}$`;

export function signUp(email = 'ada@example.com', rest: Partial<SignUp> = {}) {
  const verification = token();
  const reset = token();
  const outcome = rig.ledger.signUp({
    email,
    address: email,
    passwordHash: hashOf('first'),
    organisationName: 'Ada',
    verification,
    reset,
    ...STRANGER,
    signUpsPerDayMax: 1000,
    ...rest,
  });
  return { outcome, verification, reset };
}

export function verified(email?: string) {
  const { verification } = signUp(email);
  return use(verification)!.person;
}

/** Uses a link with a password. */
export const use = ({ hash }: Pick<MailToken, 'hash'>, password = 'first') =>
  rig.ledger.verifyAddress(hash, hashOf(password), WELCOME, CLIENT);

export const outbox = () => rig.ledger.takeOutbox(100, 1).map(({ type, params }) => ({ type, ...params }));
export const mails = () => rig.database.prepare<[], string>('SELECT type FROM outbox ORDER BY number').pluck().all();
export const actions = () =>
  rig.ledger
    .listAudit(null, 100)
    .map(({ action }) => action)
    .reverse();
export const personCalled = (email: string) => {
  const id = rig.database.prepare<[string], string>('SELECT id FROM people WHERE email = ?').pluck().get(email);
  return id === undefined ? undefined : rig.ledger.findPerson(id);
};
export const balanceOf = (organisationId: string) => rig.ledger.balanceOf(organisationId).balanceMicroUsd;

export const FOREVER = { idleMs: 1e12, absoluteMs: 1e12 };
export const sessionOf = (personId: string, passwordHash: string) => ({
  personId,
  passwordHash,
  hash: token().hash,
  client: CLIENT,
  userAgent: 'browser',
  sessionsMax: 10,
});
