// How often mails to one address are requested, on an open database: counted alike whether or not the address has an account,
// so that no limit reveals it. What is mailed is decided in tables.ts.
import { createHash } from 'node:crypto';
import { transition } from 'xstate';
import { type AccountEvent, accountMachine } from '../../../../machines/account.ts';
import type { TableContext } from '../../../store/table-context.ts';
import type { AccountState, MailToken } from './calls.ts';

const HOUR_MS = 3_600_000;
/** Mails of one kind that one account gets in an hour. */
export const MAILS_PER_HOUR_MAX = 3;
/** Mails of one kind that one address gets in an hour, whoever requests them: another person cannot use up the owner's limit. */
const MAILS_TO_ADDRESS_MAX = 10;

export type MailRequestKind = 'sign-up' | 'verification' | 'password-reset' | 'address-change' | 'invitation';

export interface MailRequests {
  /** Whether there may be one more mail to the address. Counted if so. */
  take(kind: MailRequestKind, address: string, askedBy: string): boolean;
  note(kind: MailRequestKind, address: string, askedBy: string): void;
  /** @param askedBy client group, or id of a person who is logged in */
  askedInHour(kind: MailRequestKind, askedBy: string): number;
}

export function createMailRequests({ database, nowMs }: TableContext): MailRequests {
  const insert = database.prepare<[string, Uint8Array, string, number]>(
    'INSERT INTO mail_requests (kind, address_hash, asked_by, at_ms) VALUES (?, ?, ?, ?)',
  );
  const toAddress = database.prepare<[string, string, Uint8Array, number], { all: number; own: number }>(
    `SELECT count(*) AS "all", count(*) FILTER (WHERE asked_by = ?) AS own FROM mail_requests
     WHERE kind = ? AND address_hash = ? AND at_ms > ?`,
  );
  const ofAsker = database
    .prepare<[string, string, number], number>(
      'SELECT count(*) FROM mail_requests WHERE kind = ? AND asked_by = ? AND at_ms > ?',
    )
    .pluck();
  const prune = database.prepare<[number]>('DELETE FROM mail_requests WHERE at_ms <= ?');

  const hashOf = (address: string): Uint8Array => createHash('sha256').update(address).digest();
  function note(kind: MailRequestKind, address: string, askedBy: string): void {
    prune.run(nowMs() - HOUR_MS);
    insert.run(kind, hashOf(address), askedBy, nowMs());
  }
  return {
    take(kind, address, askedBy) {
      const { all, own } = toAddress.get(askedBy, kind, hashOf(address), nowMs() - HOUR_MS)!;
      if (own >= MAILS_PER_HOUR_MAX || all >= MAILS_TO_ADDRESS_MAX) return false;
      note(kind, address, askedBy);
      return true;
    },
    note,
    askedInHour: (kind, askedBy) => ofAsker.get(kind, askedBy, nowMs() - HOUR_MS)!,
  };
}

// The account chart on the row of a person: what becomes of it when something happens, and what is to be done for that.

export interface AccountOutcome {
  state: AccountState;
  /** Names of the chart's actions, in their order. Empty with an unchanged state: the event does nothing here. */
  actions: string[];
}

export function accountAfter(state: AccountState, event: AccountEvent): AccountOutcome {
  const before = accountMachine.resolveState({ value: state, context: { mailsPerHourMax: MAILS_PER_HOUR_MAX } });
  const [after, actions] = transition(accountMachine, before, event);
  return { state: after.value, actions: actions.map(({ type }) => type) };
}

// The links that are mailed to people, on an open database: made, tried, and used once. The token of a link is known to the
// mail alone; here is its SHA-256, and the sealed text on its way through the outbox.

/** Passwords that the page of one link takes. */
const TRIES_MAX = 5;

export type LinkPurpose = 'verification' | 'password-reset' | 'address-change';

/** How long a link can be used. */
const LIFE_MS: Readonly<Record<LinkPurpose, number>> = {
  verification: 24 * HOUR_MS,
  'password-reset': HOUR_MS,
  'address-change': HOUR_MS,
};

export interface Link {
  personId: string;
  purpose: LinkPurpose;
  /** The address that the link was mailed to, as typed and normalised: it is good for that one only. */
  email: string;
  address: string;
  /** What the password becomes when the link is used; null leaves it. */
  passwordHash: string | null;
  expiresAtMs: number;
}

export interface Links {
  /** Makes a link and puts its mail into the outbox. */
  send(mail: string, token: MailToken, link: Omit<Link, 'expiresAtMs'>): void;
  /** A link that was not used yet, expired or not. */
  find(hash: Uint8Array): Link | undefined;
  /** Counts a try; false past the last. */
  take(hash: Uint8Array): boolean;
  hasTries(hash: Uint8Array): boolean;
  /** The person's links are used up, all of them or those of a purpose. */
  useUp(personId: string, purpose?: LinkPurpose): void;
}

export function createLinks({ database, nowMs, outbox }: TableContext): Links {
  const insert = database.prepare<Link & { hash: Uint8Array; nowMs: number }>(
    `INSERT INTO mail_tokens (hash, person_id, purpose, email, address, password, created_at_ms, expires_at_ms)
     VALUES (@hash, @personId, @purpose, @email, @address, @passwordHash, @nowMs, @expiresAtMs)`,
  );
  const tries = database.prepare<[Uint8Array], number>('SELECT tries FROM mail_tokens WHERE hash = ?').pluck();
  const tried = database.prepare<[Uint8Array, number]>(
    'UPDATE mail_tokens SET tries = tries + 1 WHERE hash = ? AND tries < ?',
  );
  const select = database.prepare<[Uint8Array], Link>(
    `SELECT person_id AS personId, purpose, email, address, password AS passwordHash, expires_at_ms AS expiresAtMs
     FROM mail_tokens WHERE hash = ? AND used_at_ms IS NULL`,
  );
  const use = database.prepare<{ personId: string; purpose: string | null; nowMs: number }>(
    `UPDATE mail_tokens SET used_at_ms = @nowMs, password = NULL
     WHERE person_id = @personId AND used_at_ms IS NULL AND (@purpose IS NULL OR purpose = @purpose)`,
  );
  const prune = database.prepare<[number]>('DELETE FROM mail_tokens WHERE expires_at_ms < ?');

  return {
    send(mail, { hash, sealed }, link) {
      prune.run(nowMs());
      insert.run({ ...link, hash, nowMs: nowMs(), expiresAtMs: nowMs() + LIFE_MS[link.purpose] });
      outbox(mail, { to: link.email, sealed });
    },
    find: (hash) => select.get(hash),
    take: (hash) => tried.run(hash, TRIES_MAX).changes > 0,
    hasTries: (hash) => (tries.get(hash) ?? TRIES_MAX) < TRIES_MAX,
    useUp: (personId, purpose) => use.run({ personId, purpose: purpose ?? null, nowMs: nowMs() }),
  };
}
