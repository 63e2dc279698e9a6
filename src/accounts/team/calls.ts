// Organisations of several people: who is a member and as what, who is invited, and what an invitation's link does.

import { type ApiError, apiError } from '../../api/errors.ts';
import type { Actor } from '../../store/audit-log.ts';
import { type Asynchronous, drawing, first, none, type Operations, reads, writes } from '../../store/operation.ts';

export type Role = 'owner' | 'admin' | 'developer' | 'read_only';

export interface Membership {
  /** Of the organisation. */
  id: string;
  name: string;
  role: Role;
}

/** A person in an organisation. */
export interface Member {
  personId: string;
  email: string;
  role: Role;
  /** Epoch milliseconds; null where it was not written down yet. */
  joinedAtMs: number | null;
  lastLoginAtMs: number | null;
}

/**
 * Why nothing became of a change: no such member or invitation, the caller's own role gives no say in it, or nobody would be left
 * who owns the organisation and can log in.
 */
export type TeamRefusal = 'not_found' | 'role_not_allowed' | 'last_owner';

/** A link that makes somebody a member of an organisation, as long as it can be used. */
export interface Invitation {
  /** `inv_…`: names it in lists; opens nothing. */
  id: string;
  organisationId: string;
  organisationName: string;
  role: Role;
  /** Who is invited; null for whoever opens the link first. */
  email: string | null;
}

/** An invitation as those see it who may invite. */
export interface ListedInvitation {
  id: string;
  email: string;
  role: Role;
  /** `locked`: its link was tried with too many wrong passwords. */
  state: 'pending' | 'expired' | 'locked';
  /** Address of who invites; null for the command line. */
  invitedBy: string | null;
  /** Epoch milliseconds; since it was sent last. */
  sentAtMs: number;
  expiresAtMs: number;
}

/** A new token of a link. */
export interface InvitationToken {
  /** SHA-256. */
  hash: Uint8Array;
  /** For the mail sender; without it no mail is sent. */
  sealed?: string;
}

export interface NewInvitation extends InvitationToken {
  email: string;
  address: string;
  role: Role;
}

/** `member`: the address is that of a member. The others: bounds of an organisation, and of what a person may have mailed. */
export type InvitationRefusal =
  | Exclude<TeamRefusal, 'last_owner'>
  | 'member'
  | 'too_many_invitations'
  | 'too_many_mails';

/** What the page of an invitation was given. */
export interface Joining {
  /** SHA-256 of the link's token. */
  hash: Uint8Array;
  /** Who joins; has to be who is invited, where the invitation says who. */
  email: string;
  address: string;
  /** The password of the account that there is, as it was compared, or of the new one; or who is logged in with that address. */
  proof: { passwordHash: string } | { loggedInAs: string };
  welcomeMicroUsd: bigint;
  client: string;
}

/** How the password of an invitation's page is looked at: compared with that of the account there is, or taken for a new one. */
export type JoiningPassword = { type: 'compare'; passwordHash: string } | { type: 'choose' };

export interface TeamCalls {
  /** Longest first. */
  listMemberships(personId: string): Membership[];
  /** A new prepaid organisation that the person owns. Undefined where there are as many already as one may own. */
  foundOrganisation(personId: string, name: string, by: Actor): Membership | undefined;

  /** Longest first. */
  listMembers(organisationId: string): Member[];
  /**
   * Nobody raises himself, and an admin has no say over owners. What somebody invites to beyond the new role is withdrawn, here and
   * with `removeMember`.
   */
  changeRole(organisationId: string, personId: string, role: Role, by: Actor): TeamRefusal | 'done';
  /**
   * Ends the person's console sessions in this organisation. A person who leaves continues in another organisation, or gets an empty one
   * where this was the last. Keys stay.
   */
  removeMember(organisationId: string, personId: string, by: Actor): TeamRefusal | 'done';

  /**
   * A new link for the first owner of the organisation of the first key, in the place of the former one: good for 24 hours, for
   * whoever opens it first. False when that organisation has an owner, or there is none.
   */
  inviteFirstOwner(hash: Uint8Array): boolean;
  /**
   * A link for somebody else, good for seven days, in the place of a former one for that address; mailed where the token is given
   * sealed. Throws StoreError `not_found`.
   */
  invite(organisationId: string, invited: NewInvitation, by: Actor): ListedInvitation | InvitationRefusal;
  /** Newest first; those that lapsed within the last thirty days too. */
  listInvitations(organisationId: string): ListedInvitation[];
  /** The same invitation by another link, for seven days from now; the former link stops working. */
  renewInvitation(
    organisationId: string,
    invitationId: string,
    token: InvitationToken,
    by: Actor,
  ): ListedInvitation | InvitationRefusal;
  withdrawInvitation(organisationId: string, invitationId: string, by: Actor): TeamRefusal | 'done';

  /** Undefined for a link that is unknown, used, withdrawn, expired, or was tried too often. */
  findInvitation(hash: Uint8Array): Invitation | undefined;
  /**
   * Counts a try of the link where there is a password to compare: five in all. An account whose address nobody has proved yet
   * takes the new password: the link proves the address. Undefined as for `findInvitation`.
   */
  beginJoining(hash: Uint8Array, address: string): JoiningPassword | undefined;
  /**
   * Uses the link up: makes the account where there is none, verifies the one whose address was not proved, and makes the person a
   * member; who is one already keeps the role. Undefined for an invalid link, a suspended account, and a password that is
   * another one by now.
   */
  join(joining: Joining): { personId: string; email: string } | undefined;
}

export type TeamStore = Asynchronous<TeamCalls>;

export const TEAM_OPERATIONS = {
  foundOrganisation: drawing({ ids: 1 }, writes(none('text', 'text', 'object'))),
  listMembers: reads(first('text')),
  changeRole: writes(first('text', 'text', 'text', 'object')),
  removeMember: drawing({ ids: 1 }, writes(first('text', 'text', 'object'))),
  inviteFirstOwner: drawing({ ids: 1 }, writes()),
  invite: drawing({ ids: 1 }, writes(first('text', 'object', 'object'))),
  listInvitations: reads(first('text')),
  renewInvitation: writes(first('text', 'text', 'object', 'object')),
  withdrawInvitation: writes(first('text', 'text', 'object')),
  findInvitation: reads(none('bytes')),
  beginJoining: writes(none('bytes', 'text')),
  join: drawing({ ids: 1 }, writes(none('object'))),
  listMemberships: reads(none('text')),
} as const satisfies Operations<TeamCalls>;

// What somebody may be in an organisation, and over whom that gives a say.
/** Each may do what those before it may. */
export const ROLES: readonly Role[] = ['read_only', 'developer', 'admin', 'owner'];

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/** Whether somebody with a role may give another one, or take it away: admins have no say over owners. */
export const mayGive = (own: Role, other: Role): boolean => isAtLeast(own, 'admin') && isAtLeast(own, other);

// What somebody is told whose change of a team was not made.
export function apiErrorOfTeam(why: TeamRefusal | InvitationRefusal): ApiError {
  switch (why) {
    case 'not_found':
      return apiError('not_found', 'There is no such member or invitation in this organisation. Load the list again.');
    case 'role_not_allowed':
      return apiError(
        'role_not_allowed',
        'Your role in the organisation does not allow this. You cannot raise your own role, and only owners can change owners. Ask an owner.',
      );
    case 'last_owner':
      return apiError(
        'last_owner',
        'The organisation would be left without an owner who can log in. Make another member an owner first.',
      );
    case 'member':
      return apiError('invalid_request', 'This address is a member already. Change the role in the list of members.', {
        param: 'email',
      });
    case 'too_many_invitations':
      return apiError(
        'invalid_request',
        'An organisation has 100 open invitations and 1,000 members at most. Withdraw an invitation first.',
      );
    case 'too_many_mails':
      return apiError(
        'rate_limit_exceeded',
        'An address is mailed three invitations of one person in an hour, and one person may send fifty. Try again later.',
        { retryAfterSeconds: 1200 },
      );
  }
}
