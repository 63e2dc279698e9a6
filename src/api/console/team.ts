// What the console's own HTTP API takes and answers about organisations of several people, below `/console/api/`.
import { type Static, Type } from '@sinclair/typebox';
import { closed, Email, type MemberRole } from './console.ts';

/** Each may do what those behind it may. */
export const MEMBER_ROLES = ['owner', 'admin', 'developer', 'read_only'] as const satisfies readonly MemberRole[];
const Role = Type.Union(MEMBER_ROLES.map((role) => Type.Literal(role)));

export const RoleBody = closed({ role: Role });
export type RoleBody = Static<typeof RoleBody>;
export const InvitationBody = closed({ email: Email, role: Role });
export type InvitationBody = Static<typeof InvitationBody>;
export const NewOrganisationBody = closed({ name: Type.String({ minLength: 1, maxLength: 100 }) });

/** Settings of the organisation that the session works in. */
export const OrganisationSettingsBody = closed({ show_transcripts: Type.Boolean() });

export interface MemberView {
  id: string;
  email: string;
  role: MemberRole;
  /** Whether it is who asks. */
  you: boolean;
  /** Null where it was not written down yet. */
  joined_at: string | null;
  last_login_at: string | null;
}

export interface InvitationView {
  id: string;
  email: string;
  role: MemberRole;
  /** `locked`: its link was tried with too many wrong passwords. */
  state: 'pending' | 'expired' | 'locked';
  /** Address of who invites; null for the command line. */
  invited_by: string | null;
  sent_at: string;
  expires_at: string;
}

export interface InvitedAnswer {
  invitation: InvitationView;
  /** Path of the link to hand over, told only now; null where it was mailed. */
  link: string | null;
}
