// Invitations on an open database: made, sent again and withdrawn by the admins of an organisation; looked at, tried and used once by
// their link.

import type { Actor } from '../../store/audit-log.ts';
import { noOrganisation } from '../../store/store-error.ts';
import type { DrawingContext, TableContext } from '../../store/table-context.ts';
import type { MailRequests } from '../people/store/mailed-links.ts';
import type { PeopleRows, PersonRow } from '../people/store/people.ts';
import {
  type Invitation,
  type InvitationRefusal,
  type InvitationToken,
  type Joining,
  type JoiningPassword,
  type ListedInvitation,
  mayGive,
  type NewInvitation,
  type Role,
  type TeamCalls,
  type TeamRefusal,
} from './calls.ts';

const HOUR_MS = 3_600_000;
const FIRST_OWNER_MS = 24 * HOUR_MS;
const INVITED_MS = 7 * 24 * HOUR_MS;
/** Of one organisation at a time, lapsed ones too as long as they are listed. */
const INVITATIONS_MAX = 100;
const MEMBERS_MAX = 1000;
/** Invitations that one person may have mailed: an organisation is no way to send mails to the world. */
const MAILS_PER_HOUR_MAX = 50;
const GATEWAY: Actor = { type: 'system', id: 'gateway' };

interface Rooms {
  rows: InvitationRows;
  people: PeopleRows;
  requests: Pick<MailRequests, 'take' | 'askedInHour'>;
}

type InvitingCalls = Pick<
  TeamCalls,
  'inviteFirstOwner' | 'invite' | 'listInvitations' | 'renewInvitation' | 'withdrawInvitation'
>;

export interface InvitingTables {
  calls: InvitingCalls;
  /** What the person invites others to and, with this role or none, may not any more; in the caller's transaction. */
  withdrawBeyond(organisationId: string, personId: string, role: Role | null, by: Actor): void;
}

export function createInvitingTables(context: TableContext, rooms: Rooms): InvitingTables {
  const tables = new Inviting(context, rooms);
  const whole = <Args extends unknown[], Result>(call: (...args: Args) => Result): ((...args: Args) => Result) =>
    context.database.transaction(call).immediate;
  return {
    calls: {
      inviteFirstOwner: whole((hash) => tables.inviteFirstOwner(hash)),
      invite: whole((...args) => tables.invite(...args)),
      listInvitations: (organisationId) => rooms.rows.list(organisationId).map(rooms.rows.listed),
      renewInvitation: whole((...args) => tables.renew(...args)),
      withdrawInvitation: whole((...args) => tables.withdraw(...args)),
    },
    withdrawBeyond: (...args) => tables.withdrawBeyond(...args),
  };
}

class Inviting {
  readonly #context: TableContext;
  readonly #rooms: Rooms;
  readonly #ownerless;
  readonly #organisation;

  constructor(context: TableContext, rooms: Rooms) {
    this.#context = context;
    this.#rooms = rooms;
    const { database } = context;
    this.#ownerless = database
      .prepare<[], string>(
        `SELECT organisation_id FROM (SELECT organisation_id FROM api_keys ORDER BY number LIMIT 1) AS first
         WHERE NOT EXISTS (SELECT 1 FROM memberships
                           WHERE memberships.organisation_id = first.organisation_id AND role = 'owner')`,
      )
      .pluck();
    this.#organisation = database.prepare<[string], string>('SELECT id FROM organisations WHERE id = ?').pluck();
  }

  inviteFirstOwner(hash: Uint8Array): boolean {
    const { rows } = this.#rooms;
    rows.prune();
    const organisationId = this.#ownerless.get();
    if (organisationId === undefined) return false;
    const row = { organisationId, hash, role: 'owner', email: null, address: null, inviterId: null } as const;
    this.#audit(GATEWAY, organisationId, 'made', { ...row, id: rows.add(row, FIRST_OWNER_MS) });
    return true;
  }

  invite(organisationId: string, invited: NewInvitation, by: Actor): ListedInvitation | InvitationRefusal {
    const { email, address, role, hash } = invited;
    const { rows, people } = this.#rooms;
    rows.prune();
    if (this.#organisation.get(organisationId) === undefined) throw noOrganisation(organisationId);
    const there = rows.list(organisationId);
    const former = there.find((each) => each.address === address);
    if (!this.#mayTouch(organisationId, by, role, former?.role ?? role)) return 'role_not_allowed';
    const existing = people.byAddress(address);
    if (existing !== undefined && people.roleIn(organisationId, existing.id) !== undefined) return 'member';
    const isFull = there.length >= INVITATIONS_MAX || people.members(organisationId).length >= MEMBERS_MAX;
    if (former === undefined && isFull) return 'too_many_invitations';
    if (!this.#mayMail(address, invited, by)) return 'too_many_mails';
    const inviterId = by.type === 'person' ? by.id : null;
    const id = rows.add({ organisationId, hash, role, email, address, inviterId }, INVITED_MS);
    this.#mail(organisationId, email, invited);
    this.#audit(by, organisationId, 'made', { id, role, email });
    return rows.listed(this.#find(organisationId, id)!);
  }

  renew(organisationId: string, id: string, token: InvitationToken, by: Actor): ListedInvitation | InvitationRefusal {
    const row = this.#find(organisationId, id);
    if (row === undefined) return 'not_found';
    if (!this.#mayTouch(organisationId, by, row.role)) return 'role_not_allowed';
    if (!this.#mayMail(row.address, token, by)) return 'too_many_mails';
    this.#rooms.rows.renew(id, token.hash, INVITED_MS);
    this.#mail(organisationId, row.email, token);
    this.#audit(by, organisationId, 'sent-again', row);
    return this.#rooms.rows.listed(this.#find(organisationId, id)!);
  }

  withdraw(organisationId: string, id: string, by: Actor): TeamRefusal | 'done' {
    const row = this.#find(organisationId, id);
    if (row === undefined) return 'not_found';
    if (!this.#mayTouch(organisationId, by, row.role)) return 'role_not_allowed';
    this.#remove(organisationId, row, by);
    return 'done';
  }

  withdrawBeyond(organisationId: string, personId: string, role: Role | null, by: Actor): void {
    for (const row of this.#rooms.rows.list(organisationId)) {
      const isBeyond = row.inviterId === personId && (role === null || !mayGive(role, row.role));
      if (isBeyond) this.#remove(organisationId, row, by);
    }
  }

  #find(organisationId: string, id: string): InvitationRow | undefined {
    return this.#rooms.rows.list(organisationId).find((each) => each.id === id);
  }

  #remove(organisationId: string, row: InvitationRow, by: Actor): void {
    this.#rooms.rows.remove(row.id);
    this.#audit(by, organisationId, 'withdrawn', row);
  }

  #mayTouch(organisationId: string, by: Actor, ...roles: readonly Role[]): boolean {
    const own = this.#rooms.people.roleOf(organisationId, by);
    return own !== undefined && roles.every((role) => mayGive(own, role));
  }

  /** Counted if so. What is not mailed, or is mailed by whoever runs the gateway, has no limit. */
  #mayMail(address: string, { sealed }: InvitationToken, by: Actor): boolean {
    if (sealed === undefined || by.type !== 'person') return true;
    const { requests } = this.#rooms;
    if (requests.askedInHour('invitation', by.id) >= MAILS_PER_HOUR_MAX) return false;
    return requests.take('invitation', address, by.id);
  }

  #mail(organisationId: string, to: string, { sealed }: InvitationToken): void {
    if (sealed !== undefined) this.#context.outbox('mail.invitation', { to, sealed, organisationId });
  }

  #audit(by: Actor, organisationId: string, what: string, row: { id: string; role: Role; email: string | null }): void {
    const { id, role, email } = row;
    this.#context.audit({ by, organisationId, action: `invitation.${what}`, target: id, detail: { role, email } });
  }
}

// The rows of invitations, on an open database. What may be done with them is above and below.
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
  /** Undefined for a link that has expired or was used. */
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

export function createInvitationRows({ database, nowMs, newId }: DrawingContext): InvitationRows {
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
      const id = newId('inv');
      insert.run({ ...row, id, nowMs: nowMs(), expiresAtMs: nowMs() + lifeMs });
      return id;
    },
    renew: (id, hash, lifeMs) => void renew.run({ id, hash, nowMs: nowMs(), expiresAtMs: nowMs() + lifeMs }),
    tried: (hash) => void tried.run(hash),
    remove: (id) => void remove.run(id),
    prune: () => void prune.run(nowMs() - LISTED_MS),
  };
}

// What the link of an invitation does, on an open database: it is looked at, tried, and used once.
type JoiningCalls = Pick<TeamCalls, 'findInvitation' | 'beginJoining' | 'join'>;

/** Where the address of an account was not proved yet. */
export type ProveAddress = (
  person: PersonRow,
  link: { expiresAtMs: number },
  passwordHash: string,
  welcomeMicroUsd: bigint,
  client: string,
) => unknown;

interface Accounts {
  rows: InvitationRows;
  people: PeopleRows;
  prove: ProveAddress;
}

export function createJoiningTables(context: TableContext, { rows, people, prove }: Accounts): JoiningCalls {
  const { database } = context;

  /** An invitation and the account that it would join, for that address. */
  function joining(hash: Uint8Array, address: string, triesMax?: number) {
    const invitation = rows.open(hash, triesMax);
    if (invitation === undefined || (invitation.address ?? address) !== address) return undefined;
    const person = people.byAddress(address);
    return person?.state === 'suspended' ? undefined : { invitation, person };
  }

  function beginJoining(hash: Uint8Array, address: string): JoiningPassword | undefined {
    const found = joining(hash, address);
    if (found === undefined) return undefined;
    if (found.person?.state !== 'verified') return { type: 'choose' };
    rows.tried(hash);
    return { type: 'compare', passwordHash: found.person.passwordHash };
  }

  function join(wanted: Joining) {
    const { hash, address, proof, client } = wanted;
    // The last try was counted before its password was compared.
    const found = joining(hash, address, TRIES_MAX + 1);
    if (found === undefined) return undefined;
    const { invitation, person: existing } = found;
    const isProved =
      'loggedInAs' in proof
        ? existing?.state === 'verified' && existing.id === proof.loggedInAs
        : existing?.state !== 'verified' || existing.passwordHash === proof.passwordHash;
    if (!isProved) return undefined;
    const personId = existing?.state === 'verified' ? existing.id : account(existing, invitation, wanted);
    const { organisationId, role, id } = invitation;
    const hasJoined = people.join(personId, organisationId, role);
    rows.remove(id);
    context.audit({
      by: { type: 'person', id: personId, address: client },
      organisationId,
      action: hasJoined ? 'member.joined' : 'invitation.used-by-member',
      target: personId,
      detail: { role, invitation: id },
    });
    return { personId, email: people.byId(personId)!.email };
  }

  /** An account with its address proved by the link: a new one, or one that nobody has proved yet. */
  function account(unproved: PersonRow | undefined, invitation: OpenInvitation, joining: Joining): string {
    const { email, address, welcomeMicroUsd, client } = joining;
    const { passwordHash } = joining.proof as { passwordHash: string };
    const id = unproved?.id ?? people.add({ email: invitation.email ?? email, address, passwordHash });
    // Who is invited into an organisation has not opened one.
    prove(people.byId(id)!, invitation, passwordHash, unproved === undefined ? 0n : welcomeMicroUsd, client);
    return id;
  }

  return {
    findInvitation(hash) {
      const found = rows.open(hash);
      if (found === undefined) return undefined;
      const { address: _, expiresAtMs: __, ...invitation } = found;
      return invitation;
    },
    beginJoining: database.transaction(beginJoining).immediate,
    join: database.transaction(join).immediate,
  };
}
