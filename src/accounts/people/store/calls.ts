// People, their organisations, the links that are mailed to them, and their console sessions: shapes and promises. The store
// sees neither passwords nor tokens: passwords come as slow hashes, tokens and session ids as SHA-256, mails as sealed text.
import type { Actor } from '../../../store/audit-log.ts';
import { type Asynchronous, drawing, none, type Operations, reads, writes } from '../../../store/operation.ts';
import { type Role, TEAM_OPERATIONS, type TeamCalls } from '../../team/calls.ts';

export type AccountState = 'unverified' | 'verified' | 'suspended';

export interface Person {
  id: string;
  /** As it was typed at sign-up; mail goes here. */
  email: string;
  /** What it was normalised to; unique among people. */
  address: string;
  state: AccountState;
  /** The organisation of the longest membership: the person's own, where there was a sign-up. */
  organisationId: string;
  /** ISO 8601 UTC. */
  createdAt: string;
  verifiedAt: string | null;
}

/** A new link: what is kept of its token, and the token itself, sealed for the mail sender. */
export interface MailToken {
  /** SHA-256 of the token. */
  hash: Uint8Array;
  /** Opaque; goes into the outbox and leaves with the mail. */
  sealed: string;
}

export interface SignUp {
  email: string;
  address: string;
  passwordHash: string;
  organisationName: string;
  /** For a new account, or one whose address is not verified yet. */
  verification: MailToken;
  /** For a person who has an account already: a link to reset the password. The answer to the sign-up does not reveal the account. */
  reset: MailToken;
  /** The client's remote address, and the group of addresses by which the sign-ups of a day are counted. */
  client: string;
  clientGroup: string;
  signUpsPerDayMax: number;
}

export interface Verified {
  person: Person;
  /** Whether the welcome credit was given now. */
  credited: boolean;
  /** What the link was for. */
  purpose: 'verification' | 'address-change';
}

/** What the password of a link's page is compared with. */
export interface LinkPassword {
  /** Of the sign-up that the link was mailed for; the person's own where it was mailed for something else. */
  passwordHash: string;
}

/** A caller who is not logged in. */
export interface Stranger {
  /** Remote address, and the group of addresses by which limits are counted. */
  client: string;
  clientGroup: string;
}

/** A refused login, or a refused password of a person who is logged in. */
export interface RefusedLogin extends Stranger {
  /** Normalised, whether or not it has an account. */
  address: string;
  why: 'password' | 'suspended' | 'confirmation';
}

/** Where a login stands. Counted as failed until `openConsoleSession` says otherwise, so parallel guesses get nowhere. */
export interface LoginAttempt {
  /** Not 0: this attempt was not counted and is not to be judged. */
  retryAfterMs: number;
  person: { id: string; state: AccountState; passwordHash: string } | undefined;
}

/** How long console sessions live, in milliseconds since they were last seen and since they began. */
export interface ConsoleSessionLimits {
  idleMs: number;
  absoluteMs: number;
}

export interface NewConsoleSession {
  personId: string;
  /** SHA-256 of the session's id in the cookie. */
  hash: Uint8Array;
  /** The stored hash that the password was compared with; the session is not opened when it is another by now. */
  passwordHash: string;
  /** The same password hashed again; undefined leaves the old hash. */
  rehashed?: string;
  /** The organisation to begin in, where the person is a member of it; else the one of the longest membership. */
  organisationId?: string;
  /** SHA-256 of the id that this one replaces, even of another person's session. */
  replaces?: Uint8Array;
  client: string;
  userAgent: string;
  /** Of one person at a time; past it the oldest ends. */
  sessionsMax: number;
}

export interface ConsoleSession {
  /** `con_…`: names the session in lists; opens nothing. */
  id: string;
  personId: string;
  client: string;
  userAgent: string;
  /** Epoch milliseconds. */
  createdAtMs: number;
  /** To the minute. */
  seenAtMs: number;
  /** When the password was last given. */
  confirmedAtMs: number;
}

export interface AccountCalls extends TeamCalls {
  /**
   * Makes person, organisation (prepaid) and membership, and mails the verification. For an address that has an account it
   * changes nothing and mails its owner instead, at most three times an hour for one client group and ten times for all; as
   * long as that account is unverified, a link counts for the sign-up that it was mailed for, and takes the password of that
   * one only. `too_many`: the client's sign-ups of a day.
   * Throws StoreError `invalid` for a name that no organisation can have.
   */
  signUp(signUp: SignUp): 'mailed' | 'too_many';
  findPerson(personId: string): Person | undefined;
  /** Whether a link to verify or change an address could be used now, with its password. */
  isVerificationToken(tokenHash: Uint8Array): boolean;
  /**
   * Counts a try of such a link, before its password is looked at: five in all. Undefined for a link that cannot be used, or
   * was tried too often.
   */
  beginVerification(tokenHash: Uint8Array): LinkPassword | undefined;
  /**
   * Uses a link up: verifies the account and gives the welcome credit, once for each normalised address; or moves the account
   * to the address that the link was mailed to. Undefined for a link that is unknown, used or expired, or whose address is
   * no longer the account's, and when the password is not behind `passwordHash`, with which it was compared, any more.
   */
  verifyAddress(
    tokenHash: Uint8Array,
    passwordHash: string,
    welcomeMicroUsd: bigint,
    client: string,
  ): Verified | undefined;
  /** False when the person asked three times in the last hour, or there is nothing to verify. */
  resendVerification(personId: string, token: MailToken): boolean;
  /** Mails a link to the address's account, if there is one that may have another; limited as sign-ups are; does not tell. */
  requestPasswordReset(address: string, token: MailToken, by: Stranger): void;
  /** Whether a link to reset a password could be used now. */
  isResetToken(tokenHash: Uint8Array): boolean;
  /** Uses the link up, ends all console sessions of the person and forgets failed logins. Undefined as for `verifyAddress`. */
  resetPassword(tokenHash: Uint8Array, passwordHash: string, client: string): Person | undefined;
  /** Ends all console sessions of the person and opens the new one. Undefined as for `openConsoleSession`. */
  changePassword(session: NewConsoleSession, passwordHash: string): ConsoleSession | undefined;
  /**
   * Mails a link to the new address. Nothing changes before it is used; an address of another account is not told of, and
   * counts as any other does: false when the person asked three times in the last hour.
   */
  requestAddressChange(personId: string, email: string, address: string, token: MailToken, client: string): boolean;
  /** Suspends or reinstates a verified account with its organisation; false when it is not in the state for that. */
  moveAccount(personId: string, event: 'account.suspend' | 'account.reinstate', by: Actor): boolean;
  /** Removes the person with links and console sessions; the organisation stays, suspended, and so does its ledger. */
  deletePerson(personId: string, by: Actor): boolean;

  /** Counts an attempt for an address, whether or not there is such an account. */
  beginLogin(address: string): LoginAttempt;
  /** One row in the audit log for each minute of an account at most, with the number of those since; none without an account. */
  noteRefusedLogin(refused: RefusedLogin): void;
  /** Forgets the failed attempts, and ends the session that it takes the place of. Undefined when the person is gone, suspended, or has another password by now. */
  openConsoleSession(session: NewConsoleSession): ConsoleSession | undefined;
  /**
   * With the organisation that it works in. Undefined too when the person is not a member of that any more. `isSuspended`: the
   * operator suspended the organisation.
   */
  findConsoleSession(
    hash: Uint8Array,
    limits: ConsoleSessionLimits,
  ): { session: ConsoleSession; person: Person; organisationId: string; role: Role; isSuspended: boolean } | undefined;
  /** The session works in this organisation from now on; false where its person is not a member of it. */
  enterOrganisation(hash: Uint8Array, organisationId: string): boolean;
  /** The session is in use. */
  noteConsoleSession(hash: Uint8Array): void;
  /**
   * Counts a password that is given in a session, before it is looked at: five in a row. Past them the session has ended, and
   * this is undefined, as it is for a session that there is not.
   */
  beginConfirmation(hash: Uint8Array): { passwordHash: string; isLast: boolean } | undefined;
  /** The password was given again, and was the one behind this stored hash. */
  confirmConsoleSession(hash: Uint8Array, passwordHash: string): boolean;
  /** The same session under another id. False when there is none. */
  renameConsoleSession(hash: Uint8Array, renamed: Uint8Array): boolean;
  listConsoleSessions(personId: string, limits: ConsoleSessionLimits): ConsoleSession[];
  /** False when the person has no such session. */
  endConsoleSession(personId: string, sessionId: string, client: string): boolean;
}

export type AccountStore = Asynchronous<AccountCalls>;

export const ACCOUNT_OPERATIONS = {
  ...TEAM_OPERATIONS,
  signUp: drawing({ ids: 2 }, writes(none('object'))),
  findPerson: reads(none('text')),
  isVerificationToken: reads(none('bytes')),
  beginVerification: writes(none('bytes')),
  verifyAddress: writes(none('bytes', 'text', 'money', 'text')),
  resendVerification: writes(none('text', 'object')),
  requestPasswordReset: writes(none('text', 'object', 'object')),
  isResetToken: reads(none('bytes')),
  resetPassword: writes(none('bytes', 'text', 'text')),
  changePassword: drawing({ ids: 1 }, writes(none('object', 'text'))),
  requestAddressChange: writes(none('text', 'text', 'text', 'object', 'text')),
  moveAccount: writes(),
  deletePerson: writes(),
  beginLogin: writes(none('text')),
  noteRefusedLogin: writes(none('object')),
  openConsoleSession: drawing({ ids: 1 }, writes(none('object'))),
  findConsoleSession: reads(none('bytes', 'object')),
  enterOrganisation: writes(none('bytes', 'text')),
  noteConsoleSession: writes(none('bytes')),
  beginConfirmation: writes(none('bytes')),
  confirmConsoleSession: writes(none('bytes', 'text')),
  renameConsoleSession: writes(none('bytes', 'bytes')),
  listConsoleSessions: reads(none('text', 'object')),
  endConsoleSession: writes(none('text', 'text', 'text')),
} as const satisfies Operations<AccountCalls>;
