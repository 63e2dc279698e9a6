// People on an open database: sign-up, verification with its welcome credit, passwords and addresses. What a link or a
// suspension does to an account is the account chart's decision; its actions are done here, in the same transaction.
import { createHash } from 'node:crypto';
import type { AccountEvent } from '../../machines/account.ts';
import type { AccountCalls, MailToken, SignUp, Verified } from './account-calls.ts';
import { accountAfter, MAILS_PER_HOUR_MAX } from './account-chart.ts';
import { createLinks, type Link, type LinkPurpose } from './account-links.ts';
import { createPeopleRows, type PersonRow, personOf } from './account-people.ts';
import type { Actor } from './audit-calls.ts';
import { type ConsoleSessionTables, createConsoleSessionTables } from './console-session-tables.ts';
import type { LedgerCalls } from './ledger-calls.ts';
import type { TableContext } from './table-context.ts';

const DAY_MS = 86_400_000;

export function createAccountTables(context: TableContext, ledger: Pick<LedgerCalls, 'addCredit'>): AccountCalls {
  const { database } = context;
  const tables = new AccountTables(context, ledger);
  /** Joins the commit that is under way. */
  const whole = <Args extends unknown[], Result>(call: (...args: Args) => Result): ((...args: Args) => Result) =>
    database.transaction(call).immediate;
  return {
    signUp: whole((signUp) => tables.signUp(signUp)),
    findPerson: (personId) => optional(tables.people.byId(personId), personOf),
    verifyAddress: whole((hash, welcomeMicroUsd, client) => tables.verifyAddress(hash, welcomeMicroUsd, client)),
    resendVerification: whole((personId, token) => tables.resendVerification(personId, token)),
    requestPasswordReset: whole((address, token, client) => tables.requestPasswordReset(address, token, client)),
    isResetToken: (hash) => tables.usableLink(hash, 'password-reset') !== undefined,
    resetPassword: whole((hash, passwordHash, client) => tables.resetPassword(hash, passwordHash, client)),
    changePassword: whole((session, passwordHash) => tables.changePassword(session, passwordHash)),
    requestAddressChange: whole((...args) => tables.requestAddressChange(...args)),
    moveAccount: whole((personId, event, by) => tables.moveAccount(personId, event, by)),
    deletePerson: whole((personId, by) => tables.deletePerson(personId, by)),
    ...tables.sessions.calls,
  };
}

class AccountTables {
  readonly people;
  readonly sessions: ConsoleSessionTables;
  private readonly context: TableContext;
  private readonly ledger: Pick<LedgerCalls, 'addCredit'>;
  private readonly links;
  private readonly signUps;

  constructor(context: TableContext, ledger: Pick<LedgerCalls, 'addCredit'>) {
    this.context = context;
    this.ledger = ledger;
    this.people = createPeopleRows(context);
    this.links = createLinks(context);
    this.sessions = createConsoleSessionTables(context, this.people);
    this.signUps = createSignUpCount(context);
  }

  signUp(signUp: SignUp): 'mailed' | 'too_many' {
    if (!this.signUps.take(signUp.clientGroup, signUp.signUpsPerDayMax)) return 'too_many';
    const existing = this.people.byAddress(signUp.address);
    if (existing === undefined) this.openAccount(signUp);
    else if (existing.state === 'unverified') this.mailAgain(existing, signUp.verification, signUp.passwordHash);
    else this.mailReset('mail.account-exists', existing, signUp.reset);
    const by = actorOf(existing?.id ?? 'unknown', signUp.client);
    if (existing !== undefined) this.audit(by, existing, 'sign-up.repeated');
    return 'mailed';
  }

  private openAccount(signUp: SignUp): void {
    const person = this.people.add(signUp, signUp.organisationName, signUp);
    this.audit(actorOf(person.id, signUp.client), person, 'sign-up', { email: person.email });
    const { actions } = accountAfter(person.state, { type: 'account.open' });
    if (actions.includes('mailVerification')) this.mailVerification(person, signUp.verification, signUp.passwordHash);
  }

  verifyAddress(hash: Uint8Array, welcomeMicroUsd: bigint, client: string): Verified | undefined {
    const link = this.links.find(hash);
    const person = link === undefined ? undefined : this.people.byId(link.personId);
    if (link === undefined || person === undefined) return undefined;
    if (link.purpose === 'address-change') return this.changeAddress(link, person, client);
    if (link.purpose !== 'verification' || link.address !== person.address) return undefined;
    const event: AccountEvent = { type: 'account.verify', nowMs: this.context.nowMs(), expiresAtMs: link.expiresAtMs };
    const { state, actions } = accountAfter(person.state, event);
    if (state === person.state) return undefined;
    this.people.setState(person.id, state);
    if (link.passwordHash !== null && link.passwordHash !== person.passwordHash) {
      this.people.setPassword(person.id, link.passwordHash);
      this.sessions.endAll(person.id);
    }
    this.links.useUp(person.id, 'verification');
    this.audit(actorOf(person.id, client), person, 'email.verified', { email: person.email });
    const credited = actions.includes('grantWelcomeCredit') && this.grantWelcomeCredit(person, welcomeMicroUsd);
    return { person: personOf(this.people.byId(person.id)!), credited, purpose: 'verification' };
  }

  /** The key is a hash of the address: it stays in the ledger for good, and nobody needs to read it there. */
  private grantWelcomeCredit({ organisationId, address }: PersonRow, microUsd: bigint): boolean {
    if (microUsd <= 0n) return false;
    const uniqueKey = `welcome:${createHash('sha256').update(address).digest('base64url')}`;
    return this.ledger.addCredit(
      { organisationId, kind: 'welcome', microUsd, uniqueKey, note: 'Welcome credit' },
      { type: 'system', id: 'accounts' },
    );
  }

  private changeAddress(link: Link, person: PersonRow, client: string): Verified | undefined {
    const isTaken = this.people.byAddress(link.address) !== undefined && link.address !== person.address;
    if (link.expiresAtMs <= this.context.nowMs() || person.state !== 'verified' || isTaken) return undefined;
    this.people.setAddress(person.id, link.email, link.address);
    this.links.useUp(person.id);
    this.context.outbox('mail.address-changed', { to: person.email });
    this.audit(actorOf(person.id, client), person, 'email.changed', { from: person.email, to: link.email });
    return { person: personOf(this.people.byId(person.id)!), credited: false, purpose: 'address-change' };
  }

  resendVerification(personId: string, token: MailToken): boolean {
    const person = this.people.byId(personId);
    return person !== undefined && this.mailAgain(person, token, null);
  }

  /** @param passwordHash what the password becomes when this very link is used */
  private mailAgain(person: PersonRow, token: MailToken, passwordHash: string | null): boolean {
    const mailsInHour = this.links.mailedInHour(person.id, 'verification');
    const { actions } = accountAfter(person.state, { type: 'account.resend', mailsInHour });
    if (!actions.includes('mailVerification')) return false;
    this.mailVerification(person, token, passwordHash);
    return true;
  }

  private mailVerification(person: PersonRow, token: MailToken, passwordHash: string | null): void {
    this.links.send('mail.verification', token, linkTo(person, 'verification', passwordHash));
  }

  requestPasswordReset(address: string, token: MailToken, client: string): void {
    const person = this.people.byAddress(address);
    const mailed = person !== undefined && this.mailReset('mail.password-reset', person, token);
    this.audit(actorOf(person?.id ?? 'unknown', client), person, 'password.reset-requested', { mailed });
  }

  private mailReset(mail: string, person: PersonRow, token: MailToken): boolean {
    const mailed = this.links.mailedInHour(person.id, 'password-reset');
    if (person.state === 'suspended' || mailed >= MAILS_PER_HOUR_MAX) return false;
    this.links.send(mail, token, linkTo(person, 'password-reset', null));
    return true;
  }

  usableLink(hash: Uint8Array, purpose: LinkPurpose): { link: Link; person: PersonRow } | undefined {
    const link = this.links.find(hash);
    const person = link === undefined ? undefined : this.people.byId(link.personId);
    if (link === undefined || person === undefined || link.purpose !== purpose) return undefined;
    const isGood = link.expiresAtMs > this.context.nowMs() && link.address === person.address;
    return isGood && person.state !== 'suspended' ? { link, person } : undefined;
  }

  resetPassword(hash: Uint8Array, passwordHash: string, client: string) {
    const person = this.usableLink(hash, 'password-reset')?.person;
    if (person === undefined) return undefined;
    this.people.setPassword(person.id, passwordHash);
    this.links.useUp(person.id);
    this.sessions.endAll(person.id);
    this.sessions.forgetAttempts(person.address);
    this.audit(actorOf(person.id, client), person, 'password.reset');
    return personOf(person);
  }

  changePassword(session: Parameters<AccountCalls['changePassword']>[0], passwordHash: string) {
    const person = this.people.byId(session.personId);
    if (person === undefined || person.passwordHash !== session.passwordHash) return undefined;
    this.people.setPassword(person.id, passwordHash);
    this.links.useUp(person.id, 'password-reset');
    this.sessions.endAll(person.id);
    this.audit(actorOf(person.id, session.client), person, 'password.changed');
    return this.sessions.open({ ...session, passwordHash });
  }

  requestAddressChange(personId: string, email: string, address: string, token: MailToken, client: string): boolean {
    const person = this.people.byId(personId);
    if (person?.state !== 'verified') return false;
    if (this.links.mailedInHour(personId, 'address-change') >= MAILS_PER_HOUR_MAX) return false;
    this.audit(actorOf(personId, client), person, 'email.change-requested', { from: person.email, to: email });
    const isTaken = address !== person.address && this.people.byAddress(address) !== undefined;
    const link = { ...linkTo(person, 'address-change', null), email, address };
    if (!isTaken) this.links.send('mail.address-change', token, link);
    return true;
  }

  moveAccount(personId: string, event: 'account.suspend' | 'account.reinstate', by: Actor): boolean {
    const person = this.people.byId(personId);
    if (person === undefined) return false;
    const { state, actions } = accountAfter(person.state, { type: event });
    if (state === person.state) return false;
    this.people.setState(personId, state);
    if (actions.includes('suspendOrganisation')) this.people.setSuspended(person.organisationId, true, by);
    if (actions.includes('endConsoleSessions')) this.sessions.endAll(personId);
    if (actions.includes('reinstateOrganisation')) this.people.setSuspended(person.organisationId, false, by);
    this.audit(by, person, event === 'account.suspend' ? 'account.suspended' : 'account.reinstated');
    return true;
  }

  deletePerson(personId: string, by: Actor): boolean {
    const person = this.people.byId(personId);
    if (person === undefined) return false;
    this.people.setSuspended(person.organisationId, true, by);
    this.people.remove(personId);
    this.audit(by, person, 'account.deleted');
    return true;
  }

  private audit(by: Actor, person: PersonRow | undefined, action: string, detail: Record<string, unknown> = {}): void {
    const { id = null, organisationId = null } = person ?? {};
    this.context.audit({ by, organisationId, action, target: id, detail });
  }
}

/** Sign-ups of a group of addresses in the last 24 hours. */
function createSignUpCount({ database, nowMs }: TableContext) {
  const prune = database.prepare<[number]>('DELETE FROM sign_ups WHERE at_ms <= ?');
  const count = database.prepare<[string], number>('SELECT count(*) FROM sign_ups WHERE client = ?').pluck();
  const insert = database.prepare<[string, number]>('INSERT INTO sign_ups (client, at_ms) VALUES (?, ?)');
  return {
    take(clientGroup: string, max: number): boolean {
      prune.run(nowMs() - DAY_MS);
      if (count.get(clientGroup)! >= max) return false;
      insert.run(clientGroup, nowMs());
      return true;
    },
  };
}

function linkTo({ id, email, address }: PersonRow, purpose: LinkPurpose, passwordHash: string | null) {
  return { personId: id, purpose, email, address, passwordHash };
}

function actorOf(id: string, client: string): Actor {
  return { type: 'person', id, address: client };
}

function optional<From, To>(value: From | undefined, map: (value: From) => To): To | undefined {
  return value === undefined ? undefined : map(value);
}
