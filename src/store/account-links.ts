// The links that are mailed to people, on an open database: made, counted, and used once. The token of a link is known to the
// mail alone; here is its SHA-256, and the sealed text on its way through the outbox.
import type { MailToken } from './account-calls.ts';
import type { TableContext } from './table-context.ts';

const HOUR_MS = 3_600_000;

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
  mailedInHour(personId: string, purpose: LinkPurpose): number;
  /** A link that was not used yet, expired or not. */
  find(hash: Uint8Array): Link | undefined;
  /** The person's links are used up, all of them or those of a purpose. */
  useUp(personId: string, purpose?: LinkPurpose): void;
}

export function createLinks({ database, nowMs, outbox }: TableContext): Links {
  const insert = database.prepare<Link & { hash: Uint8Array; nowMs: number }>(
    `INSERT INTO mail_tokens (hash, person_id, purpose, email, address, password, created_at_ms, expires_at_ms)
     VALUES (@hash, @personId, @purpose, @email, @address, @passwordHash, @nowMs, @expiresAtMs)`,
  );
  const count = database
    .prepare<[string, string, number], number>(
      'SELECT count(*) FROM mail_tokens WHERE person_id = ? AND purpose = ? AND created_at_ms > ?',
    )
    .pluck();
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
      // Older than an hour, so that what was mailed in the last hour can still be counted.
      prune.run(nowMs() - HOUR_MS);
      insert.run({ ...link, hash, nowMs: nowMs(), expiresAtMs: nowMs() + LIFE_MS[link.purpose] });
      outbox(mail, { to: link.email, sealed });
    },
    mailedInHour: (personId, purpose) => count.get(personId, purpose, nowMs() - HOUR_MS)!,
    find: (hash) => select.get(hash),
    useUp: (personId, purpose) => use.run({ personId, purpose: purpose ?? null, nowMs: nowMs() }),
  };
}
