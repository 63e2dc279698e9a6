// Roles in words, and which of them the reader has a say over.
import type { MemberRole } from '../../../api/console/console.ts';
import { MEMBER_ROLES } from '../../../api/console/team.ts';
import { may } from '../../data/person.ts';

export const ROLES: readonly MemberRole[] = MEMBER_ROLES;

export const ROLE_NAMES: Readonly<Record<MemberRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  developer: 'Developer',
  read_only: 'Read only',
};

export const ROLE_TEXTS: Readonly<Record<MemberRole, string>> = {
  owner: 'everything, owners included',
  admin: 'all keys, provider keys, members, audit log',
  developer: 'mints keys, looks after the own ones, uses the playground',
  read_only: 'sees use, sessions, models, credit and bills',
};

/** Admins have no say over owners. */
export const mayGive = (role: MemberRole): boolean => may('admin') && may(role);
