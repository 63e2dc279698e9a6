// The rows of invitations, on an open database. What may be done with them is in inviting.ts and joining.ts.
import { uuidv7 } from '../../runtime/uuid.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { Invitation, ListedInvitation, Role } from './calls.ts';

/** Passwords that the page of one link compares. */
export const TRIES_MAX = 5;
/** How long those that lapsed are still listed. */
const LISTED_MS = 30 * 24 * 3_600_000;

/** As the page of its link needs it. */
export interface OpenInvitation extends Invitation {
  address: string | null;
  expiresAtMs: number;
}

/** As those see it who invite. */
export interface InvitationRow extends Omit<ListedInvitation, 'state'> {
  address: string;
  /** Null for the command line. */
  inviterId: string | null;
  tries: number;
}

export interface NewInvitationRow {
  organisationId: string;
  hash: Uint8Array;
  role: Role;
  /** Both or neither: without an address it is for whoever opens the link first. */
  email: string | null;
  address: string | null;
  inviterId: string | null;
}

export interface InvitationRows {
  /** Undefined for a link that is no good any more. */
  open(hash: Uint8Array, triesMax?: number): OpenInvitation | undefined;
  /** Newest first, without those that are for nobody by name. */
  list(organisationId: string): InvitationRow[];
  listed(row: InvitationRow): ListedInvitation;
  /** In the place of the one that there was for the same. Its id. */
  add(row: NewInvitationRow, lifeMs: number): string;
  renew(id: string, hash: Uint8Array, lifeMs: number): void;
  tried(hash: Uint8Array): void;
  remove(id: string): void;
  /** Those that are not listed any more. */
  prune(): void;
}

export function createInvitationRows({ database, nowMs }: TableContext): InvitationRows {
  const byHash = database.prepare<[Uint8Array], OpenInvitation & { tries: number }>(
    `SELECT invitations.id, organisation_id AS organisationId, name AS organisationName, role, email, address, tries,
            expires_at_ms AS expiresAtMs
     FROM invitations JOIN organisations ON organisations.id = organisation_id WHERE hash = ?`,
  );
  const ofOrganisation = database.prepare<[string, number], InvitationRow>(
    `SELECT invitations.id, role, invitations.email, invitations.address, invited_by AS inviterId, tries,
            people.email AS invitedBy, created_at_ms AS sentAtMs, expires_at_ms AS expiresAtMs
     FROM invitations LEFT JOIN people ON people.id = invited_by
     WHERE organisation_id = ? AND invitations.address IS NOT NULL AND expires_at_ms > ? ORDER BY invitations.number DESC`,
  );
  const insert = database.prepare<NewInvitationRow & { id: string; nowMs: number; expiresAtMs: number }>(
    `INSERT INTO invitations (id, hash, organisation_id, role, email, address, invited_by, created_at_ms, expires_at_ms)
     VALUES (@id, @hash, @organisationId, @role, @email, @address, @inviterId, @nowMs, @expiresAtMs)`,
  );
  const renew = database.prepare<{ id: string; hash: Uint8Array; nowMs: number; expiresAtMs: number }>(
    'UPDATE invitations SET hash = @hash, tries = 0, created_at_ms = @nowMs, expires_at_ms = @expiresAtMs WHERE id = @id',
  );
  const forget = database.prepare<[string, string | null]>(
    'DELETE FROM invitations WHERE organisation_id = ? AND address IS ?',
  );
  const tried = database.prepare<[Uint8Array]>('UPDATE invitations SET tries = tries + 1 WHERE hash = ?');
  const remove = database.prepare<[string]>('DELETE FROM invitations WHERE id = ?');
  const prune = database.prepare<[number]>('DELETE FROM invitations WHERE expires_at_ms <= ?');
  return {
    open(hash, triesMax = TRIES_MAX) {
      const found = byHash.get(hash);
      if (found === undefined || found.expiresAtMs <= nowMs() || found.tries >= triesMax) return undefined;
      const { tries: _, ...open } = found;
      return open;
    },
    list: (organisationId) => ofOrganisation.all(organisationId, nowMs() - LISTED_MS),
    listed({ address: _, inviterId: __, tries, ...row }) {
      const state = row.expiresAtMs <= nowMs() ? 'expired' : tries >= TRIES_MAX ? 'locked' : 'pending';
      return { ...row, state };
    },
    add(row, lifeMs) {
      forget.run(row.organisationId, row.address);
      const id = `inv_${uuidv7(nowMs())}`;
      insert.run({ ...row, id, nowMs: nowMs(), expiresAtMs: nowMs() + lifeMs });
      return id;
    },
    renew: (id, hash, lifeMs) => void renew.run({ id, hash, nowMs: nowMs(), expiresAtMs: nowMs() + lifeMs }),
    tried: (hash) => void tried.run(hash),
    remove: (id) => void remove.run(id),
    prune: () => void prune.run(nowMs() - LISTED_MS),
  };
}
