// How often mails to one address are asked for, on an open database: counted alike whether or not the address has an account,
// so that no limit tells. What is mailed is decided in account-tables.ts.
import { createHash } from 'node:crypto';
import type { TableContext } from '../../../store/table-context.ts';
import { MAILS_PER_HOUR_MAX } from './chart.ts';

const HOUR_MS = 3_600_000;
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
