// Invitations as those make them who look after an organisation, on an open database: made, sent again, withdrawn. What is done
// with their links is in joining.ts.
import type { Actor } from '../../store/audit-log.ts';
import { noOrganisation } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { MailRequests } from '../people/store/mail-requests.ts';
import type { PeopleRows } from '../people/store/people.ts';
import type {
  InvitationRefusal,
  InvitationToken,
  ListedInvitation,
  NewInvitation,
  Role,
  TeamCalls,
  TeamRefusal,
} from './calls.ts';
import type { InvitationRow, InvitationRows } from './invitation-rows.ts';
import { mayGive } from './roles.ts';

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
