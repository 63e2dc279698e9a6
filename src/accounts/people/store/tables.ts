// People on an open database: sign-up, verification with its welcome credit, passwords and addresses. What a link or a
// suspension does to an account is the account chart's decision; its actions are done here, in the same transaction.
import { createHash } from 'node:crypto';
import type { AccountEvent } from '../../../../machines/account.ts';
import type { Actor } from '../../../store/audit-log.ts';
import type { DrawingContext } from '../../../store/table-context.ts';
import { createTeamTables } from '../../team/tables.ts';
import type { AccountCalls, LinkPassword, MailToken, SignUp, Stranger, Verified } from './calls.ts';
import { type ConsoleSessionTables, createConsoleSessionTables } from './console-session-tables.ts';
import {
  accountAfter,
  createLinks,
  createMailRequests,
  type Link,
  type LinkPurpose,
  MAILS_PER_HOUR_MAX,
} from './mailed-links.ts';
import { createPeopleRows, createSignUpCount, type PersonRow, personOf } from './people.ts';

/** The ledger's part in a sign-up: false when the credit was given before. */
interface CreditAccount {
  addCredit(
    credit: { organisationId: string; kind: 'welcome'; microUsd: bigint; uniqueKey: string; note: string },
    by: Actor,
  ): boolean;
}

export function createAccountTables(context: DrawingContext, ledger: CreditAccount): AccountCalls {
  const { database } = context;
  const tables = new AccountTables(context, ledger);
  const { people, sessions, requests } = tables;
  const prove = tables.prove.bind(tables);
  /** Joins the commit that is in progress. */
  const whole = <Args extends unknown[], Result>(call: (...args: Args) => Result): ((...args: Args) => Result) =>
    database.transaction(call).immediate;
  return {
    signUp: whole((signUp) => tables.signUp(signUp)),
    findPerson: (personId) => optional(tables.people.byId(personId), personOf),
    isVerificationToken: (hash) => tables.linkPassword(hash) !== undefined,
    beginVerification: whole((hash) => tables.beginVerification(hash)),
    verifyAddress: whole((...args) => tables.verifyAddress(...args)),
    resendVerification: whole((personId, token) => tables.resendVerification(personId, token)),
    requestPasswordReset: whole((address, token, by) => tables.requestPasswordReset(address, token, by)),
    isResetToken: (hash) => tables.usableLink(hash, 'password-reset') !== undefined,
    resetPassword: whole((hash, passwordHash, client) => tables.resetPassword(hash, passwordHash, client)),
    changePassword: whole((session, passwordHash) => tables.changePassword(session, passwordHash)),
    requestAddressChange: whole((...args) => tables.requestAddressChange(...args)),
    moveAccount: whole((personId, event, by) => tables.moveAccount(personId, event, by)),
    deletePerson: whole((personId, by) => tables.deletePerson(personId, by)),
    ...sessions.calls,
    ...createTeamTables(context, { people, sessions, requests, prove }),
  };
}

class AccountTables {
  readonly people;
  readonly sessions: ConsoleSessionTables;
  readonly #context: DrawingContext;
  readonly #ledger: CreditAccount;
  readonly #links;
  readonly requests;
  readonly #signUps;

  constructor(context: DrawingContext, ledger: CreditAccount) {
    this.#context = context;
    this.#ledger = ledger;
    this.people = createPeopleRows(context);
    this.#links = createLinks(context);
    this.requests = createMailRequests(context);
    this.sessions = createConsoleSessionTables(context, this.people);
    this.#signUps = createSignUpCount(context);
  }

  signUp(signUp: SignUp): 'mailed' | 'too_many' {
    if (!this.#signUps.take(signUp.clientGroup, signUp.signUpsPerDayMax)) return 'too_many';
    const existing = this.people.byAddress(signUp.address);
    const mayMail = this.requests.take('sign-up', signUp.address, signUp.clientGroup);
    if (existing === undefined) this.#openAccount(signUp);
    else {
      if (mayMail) this.#mailOwner(existing, signUp);
      this.#audit(strangerOf(signUp), existing, 'sign-up.repeated', { mailed: mayMail });
    }
    return 'mailed';
  }

  #openAccount(signUp: SignUp): void {
    const by = strangerOf(signUp);
    const id = this.people.add(signUp);
    this.people.join(id, this.people.addOrganisation(signUp.organisationName, by), 'owner');
    const person = this.people.byId(id)!;
    this.#audit(by, person, 'sign-up', { email: person.email });
    const { actions } = accountAfter(person.state, { type: 'account.open' });
    if (actions.includes('mailVerification')) this.#mailVerification(person, signUp.verification, signUp.passwordHash);
  }

  /** Each link is good with the password of its own sign-up only: another sign-up with the same address gains nothing by it. */
  #mailOwner(person: PersonRow, { verification, reset, passwordHash }: SignUp): void {
    if (person.state !== 'unverified') this.#mailReset('mail.account-exists', person, reset);
    else this.#mailAgain(person, verification, passwordHash, 0);
  }

  linkPassword(hash: Uint8Array): LinkPassword | undefined {
    const found = this.#openLink(hash);
    if (found === undefined || !this.#links.hasTries(hash)) return undefined;
    return { passwordHash: found.link.passwordHash ?? found.person.passwordHash };
  }

  beginVerification(hash: Uint8Array): LinkPassword | undefined {
    const found = this.linkPassword(hash);
    if (found !== undefined) this.#links.take(hash);
    return found;
  }

  /** A link of an address that could be used now. */
  #openLink(hash: Uint8Array): { link: Link; person: PersonRow } | undefined {
    const link = this.#links.find(hash);
    const person = link === undefined ? undefined : this.people.byId(link.personId);
    if (link === undefined || person === undefined || link.expiresAtMs <= this.#context.nowMs()) return undefined;
    const isGood =
      link.purpose === 'address-change'
        ? person.state === 'verified' && !this.#isTaken(link.address, person)
        : link.purpose === 'verification' && person.state === 'unverified' && link.address === person.address;
    return isGood ? { link, person } : undefined;
  }

  verifyAddress(hash: Uint8Array, passwordHash: string, welcomeMicroUsd: bigint, client: string): Verified | undefined {
    const found = this.#openLink(hash);
    if (found === undefined) return undefined;
    const { link, person } = found;
    if ((link.passwordHash ?? person.passwordHash) !== passwordHash) return undefined;
    if (link.purpose === 'address-change') return this.#changeAddress(link, person, client);
    const credited = this.prove(person, link, passwordHash, welcomeMicroUsd, client);
    if (credited === undefined) return undefined;
    return { person: personOf(this.people.byId(person.id)!), credited, purpose: 'verification' };
  }

  /** The address is the person's, who has this password now. Whether the welcome credit was given; undefined where nothing was to be proved. */
  prove(
    person: PersonRow,
    { expiresAtMs }: Pick<Link, 'expiresAtMs'>,
    passwordHash: string,
    welcomeMicroUsd: bigint,
    client: string,
  ): boolean | undefined {
    const event: AccountEvent = { type: 'account.verify', nowMs: this.#context.nowMs(), expiresAtMs };
    const { state, actions } = accountAfter(person.state, event);
    if (state === person.state) return undefined;
    this.people.setState(person.id, state);
    if (passwordHash !== person.passwordHash) {
      this.people.setPassword(person.id, passwordHash);
      this.sessions.endAll(person.id);
    }
    this.#links.useUp(person.id, 'verification');
    this.#audit(actorOf(person.id, client), person, 'email.verified', { email: person.email });
    return actions.includes('grantWelcomeCredit') && this.#grantWelcomeCredit(person, welcomeMicroUsd);
  }

  /** The key is a hash of the address: it stays in the ledger for good, and does not need to be readable there. */
  #grantWelcomeCredit({ organisationId, address }: PersonRow, microUsd: bigint): boolean {
    if (microUsd <= 0n) return false;
    const uniqueKey = `welcome:${createHash('sha256').update(address).digest('base64url')}`;
    return this.#ledger.addCredit(
      { organisationId, kind: 'welcome', microUsd, uniqueKey, note: 'Welcome credit' },
      { type: 'system', id: 'accounts' },
    );
  }

  #changeAddress(link: Link, person: PersonRow, client: string): Verified {
    this.people.setAddress(person.id, link.email, link.address);
    this.#links.useUp(person.id);
    this.#context.outbox('mail.address-changed', { to: person.email });
    this.#audit(actorOf(person.id, client), person, 'email.changed', { from: person.email, to: link.email });
    return { person: personOf(this.people.byId(person.id)!), credited: false, purpose: 'address-change' };
  }

  resendVerification(personId: string, token: MailToken): boolean {
    const person = this.people.byId(personId);
    if (person === undefined) return false;
    const mailsInHour = this.requests.askedInHour('verification', personId);
    const isMailed = this.#mailAgain(person, token, null, mailsInHour);
    if (isMailed) this.requests.note('verification', person.address, personId);
    return isMailed;
  }

  /** @param passwordHash what the password becomes when this very link is used; null for the person's own */
  #mailAgain(person: PersonRow, token: MailToken, passwordHash: string | null, mailsInHour: number): boolean {
    const { actions } = accountAfter(person.state, { type: 'account.resend', mailsInHour });
    if (!actions.includes('mailVerification')) return false;
    this.#mailVerification(person, token, passwordHash);
    return true;
  }

  #mailVerification(person: PersonRow, token: MailToken, passwordHash: string | null): void {
    this.#links.send('mail.verification', token, linkTo(person, 'verification', passwordHash));
  }

  requestPasswordReset(address: string, token: MailToken, by: Stranger): void {
    // Counted and written down for every address alike.
    const mayMail = this.requests.take('password-reset', address, by.clientGroup);
    const person = this.people.byAddress(address);
    if (person === undefined || !mayMail) return;
    const mailed = this.#mailReset('mail.password-reset', person, token);
    this.#audit(strangerOf(by), person, 'password.reset-requested', { mailed });
  }

  #mailReset(mail: string, person: PersonRow, token: MailToken): boolean {
    if (person.state === 'suspended') return false;
    this.#links.send(mail, token, linkTo(person, 'password-reset', null));
    return true;
  }

  usableLink(hash: Uint8Array, purpose: LinkPurpose): { link: Link; person: PersonRow } | undefined {
    const link = this.#links.find(hash);
    const person = link === undefined ? undefined : this.people.byId(link.personId);
    if (link === undefined || person === undefined || link.purpose !== purpose) return undefined;
    const isGood = link.expiresAtMs > this.#context.nowMs() && link.address === person.address;
    return isGood && person.state !== 'suspended' ? { link, person } : undefined;
  }

  resetPassword(hash: Uint8Array, passwordHash: string, client: string) {
    const person = this.usableLink(hash, 'password-reset')?.person;
    if (person === undefined) return undefined;
    this.people.setPassword(person.id, passwordHash);
    this.#links.useUp(person.id);
    this.sessions.endAll(person.id);
    this.sessions.forgetAttempts(person.address);
    this.#audit(actorOf(person.id, client), person, 'password.reset');
    return personOf(person);
  }

  changePassword(session: Parameters<AccountCalls['changePassword']>[0], passwordHash: string) {
    const person = this.people.byId(session.personId);
    if (person === undefined || person.state === 'suspended' || person.passwordHash !== session.passwordHash) {
      return undefined;
    }
    this.people.setPassword(person.id, passwordHash);
    this.#links.useUp(person.id, 'password-reset');
    this.sessions.endAll(person.id);
    this.#audit(actorOf(person.id, session.client), person, 'password.changed');
    return this.sessions.open({ ...session, passwordHash });
  }

  requestAddressChange(personId: string, email: string, address: string, token: MailToken, client: string): boolean {
    const person = this.people.byId(personId);
    if (person?.state !== 'verified') return false;
    if (this.requests.askedInHour('address-change', personId) >= MAILS_PER_HOUR_MAX) return false;
    this.#audit(actorOf(personId, client), person, 'email.change-requested', { from: person.email, to: email });
    const mayMail = this.requests.take('address-change', address, personId);
    if (!mayMail) this.requests.note('address-change', address, personId);
    const link = { ...linkTo(person, 'address-change', null), email, address };
    if (mayMail && !this.#isTaken(address, person)) this.#links.send('mail.address-change', token, link);
    return true;
  }

  #isTaken(address: string, by: PersonRow): boolean {
    return address !== by.address && this.people.byAddress(address) !== undefined;
  }

  moveAccount(personId: string, event: 'account.suspend' | 'account.reinstate', by: Actor): boolean {
    const person = this.people.byId(personId);
    if (person === undefined) return false;
    const { state, actions } = accountAfter(person.state, { type: event });
    if (state === person.state) return false;
    this.people.setState(personId, state);
    if (actions.includes('suspendOrganisation')) this.#setSuspended(personId, true, by);
    if (actions.includes('endConsoleSessions')) this.sessions.endAll(personId);
    if (actions.includes('reinstateOrganisation')) this.#setSuspended(personId, false, by);
    this.#audit(by, person, event === 'account.suspend' ? 'account.suspended' : 'account.reinstated');
    return true;
  }

  deletePerson(personId: string, by: Actor): boolean {
    const person = this.people.byId(personId);
    if (person === undefined) return false;
    this.#setSuspended(personId, true, by);
    this.people.remove(personId);
    this.#audit(by, person, 'account.deleted');
    return true;
  }

  /** What others own too continues without this person. */
  #setSuspended(personId: string, suspended: boolean, by: Actor): void {
    for (const id of this.people.ownedAlone(personId)) this.people.setSuspended(id, suspended, by);
  }

  #audit(by: Actor, person: PersonRow | undefined, action: string, detail: Record<string, unknown> = {}): void {
    const { id = null, organisationId = null } = person ?? {};
    this.#context.audit({ by, organisationId, action, target: id, detail });
  }
}

function linkTo({ id, email, address }: PersonRow, purpose: LinkPurpose, passwordHash: string | null) {
  return { personId: id, purpose, email, address, passwordHash };
}

function actorOf(id: string, client: string): Actor {
  return { type: 'person', id, address: client };
}

/** A person whose address is not verified. */
function strangerOf({ client, clientGroup }: Stranger): Actor {
  return { type: 'anonymous', id: clientGroup, address: client };
}

function optional<From, To>(value: From | undefined, map: (value: From) => To): To | undefined {
  return value === undefined ? undefined : map(value);
}
