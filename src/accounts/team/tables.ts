// Teams on an open database: members, those who are invited, and the links that they join by.

import type { Actor } from '../../store/audit-log.ts';
import type { DrawingContext, TableContext } from '../../store/table-context.ts';
import type { ConsoleSessionTables } from '../people/store/console-session-tables.ts';
import type { MailRequests } from '../people/store/mailed-links.ts';
import type { PeopleRows } from '../people/store/people.ts';
import { isAtLeast, mayGive, type Role, type TeamCalls, type TeamRefusal } from './calls.ts';
import {
  createInvitationRows,
  createInvitingTables,
  createJoiningTables,
  type InvitingTables,
  type ProveAddress,
} from './invitation-tables.ts';

interface Accounts {
  people: PeopleRows;
  sessions: ConsoleSessionTables;
  requests: MailRequests;
  prove: ProveAddress;
}

export function createTeamTables(context: DrawingContext, accounts: Accounts): TeamCalls {
  const rows = createInvitationRows(context);
  const inviting = createInvitingTables(context, { ...accounts, rows });
  return {
    ...inviting.calls,
    ...createJoiningTables(context, { ...accounts, rows }),
    ...createMemberTables(context, { ...accounts, inviting }),
  };
}

// Members of organisations on an open database: listed, given another role, removed. Each change is judged in the transaction that
// makes it, so that two at once cannot leave an organisation without an owner.
const ORGANISATIONS_OWNED_MAX = 20;
const NAME_LENGTH_MAX = 100;

type MemberCalls = Pick<
  TeamCalls,
  'listMemberships' | 'foundOrganisation' | 'listMembers' | 'changeRole' | 'removeMember'
>;

interface MemberParts {
  people: PeopleRows;
  sessions: Pick<ConsoleSessionTables, 'endIn' | 'moveFrom'>;
  inviting: Pick<InvitingTables, 'withdrawBeyond'>;
}

export function createMemberTables(context: TableContext, { people, sessions, inviting }: MemberParts): MemberCalls {
  const { database } = context;
  const otherOwners = database
    .prepare<[string, string], number>(
      `SELECT count(*) FROM memberships JOIN people ON id = person_id
       WHERE organisation_id = ? AND role = 'owner' AND person_id <> ? AND state <> 'suspended'`,
    )
    .pluck();
  const keysOf = database
    .prepare<[string, string], number>(
      'SELECT count(*) FROM api_keys WHERE organisation_id = ? AND made_by = ? AND revoked_at IS NULL',
    )
    .pluck();

  /** @param wanted the new role; null to be none */
  function judge(
    organisationId: string,
    personId: string,
    wanted: Role | null,
    by: Actor,
  ): TeamRefusal | { from: Role } {
    const from = people.roleIn(organisationId, personId);
    if (from === undefined) return 'not_found';
    const own = people.roleOf(organisationId, by);
    const isOwn = isSelf(by, personId) && (wanted === null || isAtLeast(from, wanted));
    const isGiven = own !== undefined && mayGive(own, from) && (wanted === null || mayGive(own, wanted));
    if (!isOwn && !isGiven) return 'role_not_allowed';
    const isLoss = from === 'owner' && wanted !== 'owner';
    return isLoss && otherOwners.get(organisationId, personId) === 0 ? 'last_owner' : { from };
  }

  function changeRole(organisationId: string, personId: string, role: Role, by: Actor): TeamRefusal | 'done' {
    const judged = judge(organisationId, personId, role, by);
    if (typeof judged === 'string') return judged;
    if (judged.from === role) return 'done';
    people.setRole(organisationId, personId, role);
    inviting.withdrawBeyond(organisationId, personId, role, by);
    const detail = { from: judged.from, to: role };
    context.audit({ by, organisationId, action: 'member.role-changed', target: personId, detail });
    return 'done';
  }

  function removeMember(organisationId: string, personId: string, by: Actor): TeamRefusal | 'done' {
    const judged = judge(organisationId, personId, null, by);
    if (typeof judged === 'string') return judged;
    const { email } = people.byId(personId)!;
    people.leave(organisationId, personId);
    inviting.withdrawBeyond(organisationId, personId, null, by);
    // Who is a member of nothing could not log in any more.
    if (people.memberships(personId).length === 0) found(personId, email.slice(0, NAME_LENGTH_MAX), by);
    if (isSelf(by, personId)) sessions.moveFrom(personId, organisationId);
    else sessions.endIn(personId, organisationId);
    const action = isSelf(by, personId) ? 'member.left' : 'member.removed';
    const detail = { email, role: judged.from, keysThatStay: keysOf.get(organisationId, personId) };
    context.audit({ by, organisationId, action, target: personId, detail });
    return 'done';
  }

  function found(personId: string, name: string, by: Actor): string {
    const id = people.addOrganisation(name, by);
    people.join(personId, id, 'owner');
    return id;
  }

  return {
    listMemberships: (personId) => people.memberships(personId),
    foundOrganisation: database.transaction((personId: string, name: string, by: Actor) => {
      const owned = people.memberships(personId).filter(({ role }) => role === 'owner');
      if (owned.length >= ORGANISATIONS_OWNED_MAX) return undefined;
      return { id: found(personId, name, by), name, role: 'owner' as const };
    }).immediate,
    listMembers: (organisationId) => people.members(organisationId),
    changeRole: database.transaction(changeRole).immediate,
    removeMember: database.transaction(removeMember).immediate,
  };
}

const isSelf = (by: Actor, personId: string): boolean => by.type === 'person' && by.id === personId;
