// What somebody may be in an organisation, and over whom that gives a say.
import type { Role } from './calls.ts';

/** Each may do what those before it may. */
export const ROLES: readonly Role[] = ['read_only', 'developer', 'admin', 'owner'];

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);

export const isAtLeast = (role: Role, least: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(least);

/** Whether somebody with a role may give another one, or take it away: admins have no say over owners. */
export const mayGive = (own: Role, other: Role): boolean => isAtLeast(own, 'admin') && isAtLeast(own, other);
