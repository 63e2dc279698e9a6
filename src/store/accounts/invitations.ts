// Links that make somebody a member of an organisation, on an open database: made, tried, and used once.
import { uuidv7 } from '../../runtime/uuid.ts';
import type { Actor } from '../audit-log/calls.ts';
import { noOrganisation } from '../keys/organisation-tables.ts';
import type { TableContext } from '../table-context.ts';
import type { AccountCalls, Invitation, Joining, JoiningPassword, NewInvitation, Person, Role } from './calls.ts';
import { type PeopleRows, type PersonRow, personOf } from './people.ts';

const HOUR_MS = 3_600_000;
const FIRST_OWNER_HOURS = 24;
const INVITED_HOURS = 7 * 24;
/** Passwords that the page of one link compares. */
const TRIES_MAX = 5;
const GATEWAY: Actor = { type: 'system', id: 'gateway' };

type InvitationCalls = Pick<AccountCalls, 'inviteFirstOwner' | 'invite' | 'findInvitation' | 'beginJoining' | 'join'>;

interface Accounts {
  people: PeopleRows;
  /** Where the address of an account was not proved yet. */
  prove(
    person: PersonRow,
    link: { expiresAtMs: number },
    passwordHash: string,
    welcome: bigint,
    client: string,
  ): unknown;
}

interface OpenInvitation extends Invitation {
  address: string | null;
  expiresAtMs: number;
  tries: number;
}

export function createInvitationTables(context: TableContext, accounts: Accounts): InvitationCalls {
  const { database, nowMs } = context;
  const { people } = accounts;
  const statements = prepare(database);

  function open(hash: Uint8Array, triesMax = TRIES_MAX): OpenInvitation | undefined {
    const found = statements.byHash.get(hash);
    return found === undefined || found.expiresAtMs <= nowMs() || found.tries >= triesMax ? undefined : found;
  }

  /** An invitation and the account that it would join, for that address. */
  function joining(hash: Uint8Array, address: string, triesMax?: number) {
    const invitation = open(hash, triesMax);
    if (invitation === undefined || (invitation.address ?? address) !== address) return undefined;
    const person = people.byAddress(address);
    return person?.state === 'suspended' ? undefined : { invitation, person };
  }

  function inviteFirstOwner(hash: Uint8Array): boolean {
    statements.prune.run(nowMs());
    const organisationId = statements.ownerless.get();
    if (organisationId === undefined) return false;
    add({ organisationId, hash, role: 'owner', email: null, address: null }, FIRST_OWNER_HOURS, GATEWAY);
    return true;
  }

  function invite(organisationId: string, { email, address, role, hash, sealed }: NewInvitation, by: Actor): void {
    statements.prune.run(nowMs());
    if (statements.organisation.get(organisationId) === undefined) throw noOrganisation(organisationId);
    add({ organisationId, hash, role, email, address }, INVITED_HOURS, by);
    if (sealed !== undefined) context.outbox('mail.invitation', { to: email, sealed });
  }

  /** In the place of the one that there was for the same. */
  function add(row: Omit<InvitationRow, 'id' | 'nowMs' | 'expiresAtMs'>, hours: number, by: Actor): void {
    const { organisationId, address, email, role } = row;
    statements.forget.run(organisationId, address);
    const id = `inv_${uuidv7(nowMs())}`;
    statements.insert.run({ ...row, id, nowMs: nowMs(), expiresAtMs: nowMs() + hours * HOUR_MS });
    context.audit({ by, organisationId, action: 'invitation.made', target: id, detail: { role, email } });
  }

  function beginJoining(hash: Uint8Array, address: string): JoiningPassword | undefined {
    const found = joining(hash, address);
    if (found === undefined) return undefined;
    if (found.person?.state !== 'verified') return { type: 'choose' };
    statements.tried.run(hash);
    return { type: 'compare', passwordHash: found.person.passwordHash };
  }

  function join({ hash, email, address, passwordHash, welcomeMicroUsd, client }: Joining): Person | undefined {
    // The last try was counted before its password was compared.
    const found = joining(hash, address, TRIES_MAX + 1);
    if (found === undefined) return undefined;
    const { invitation, person: existing } = found;
    if (existing?.state === 'verified' && existing.passwordHash !== passwordHash) return undefined;
    const personId = existing?.id ?? people.add({ email: invitation.email ?? email, address, passwordHash });
    if (existing?.state !== 'verified') {
      // Who is invited into an organisation has not opened one.
      const welcome = existing === undefined ? 0n : welcomeMicroUsd;
      accounts.prove(people.byId(personId)!, invitation, passwordHash, welcome, client);
    }
    people.join(personId, invitation.organisationId, invitation.role);
    statements.remove.run(invitation.id);
    context.audit({
      by: { type: 'person', id: personId, address: client },
      organisationId: invitation.organisationId,
      action: 'member.joined',
      target: personId,
      detail: { role: invitation.role, invitation: invitation.id },
    });
    return personOf(people.byId(personId)!);
  }

  const whole = <Args extends unknown[], Result>(call: (...args: Args) => Result): ((...args: Args) => Result) =>
    database.transaction(call).immediate;
  return {
    inviteFirstOwner: whole(inviteFirstOwner),
    invite: whole(invite),
    findInvitation(hash) {
      const found = open(hash);
      return found && viewOf(found);
    },
    beginJoining: whole(beginJoining),
    join: whole(join),
  };
}

const viewOf = ({ id, organisationId, organisationName, role, email }: OpenInvitation): Invitation => ({
  id,
  organisationId,
  organisationName,
  role,
  email,
});

interface InvitationRow {
  id: string;
  hash: Uint8Array;
  organisationId: string;
  role: Role;
  email: string | null;
  address: string | null;
  nowMs: number;
  expiresAtMs: number;
}

function prepare(database: TableContext['database']) {
  return {
    byHash: database.prepare<[Uint8Array], OpenInvitation>(
      `SELECT invitations.id, organisation_id AS organisationId, name AS organisationName, role, email, address, tries,
              expires_at_ms AS expiresAtMs
       FROM invitations JOIN organisations ON organisations.id = organisation_id WHERE hash = ?`,
    ),
    ownerless: database
      .prepare<[], string>(
        `SELECT organisation_id FROM (SELECT organisation_id FROM api_keys ORDER BY number LIMIT 1) AS first
         WHERE NOT EXISTS (SELECT 1 FROM memberships
                           WHERE memberships.organisation_id = first.organisation_id AND role = 'owner')`,
      )
      .pluck(),
    insert: database.prepare<InvitationRow>(
      `INSERT INTO invitations (id, hash, organisation_id, role, email, address, created_at_ms, expires_at_ms)
       VALUES (@id, @hash, @organisationId, @role, @email, @address, @nowMs, @expiresAtMs)`,
    ),
    forget: database.prepare<[string, string | null]>(
      'DELETE FROM invitations WHERE organisation_id = ? AND address IS ?',
    ),
    organisation: database.prepare<[string], string>('SELECT id FROM organisations WHERE id = ?').pluck(),
    tried: database.prepare<[Uint8Array]>('UPDATE invitations SET tries = tries + 1 WHERE hash = ?'),
    remove: database.prepare<[string]>('DELETE FROM invitations WHERE id = ?'),
    prune: database.prepare<[number]>('DELETE FROM invitations WHERE expires_at_ms <= ?'),
  };
}
