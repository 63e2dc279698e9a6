// What somebody may be in an organisation.
import type { Role } from './calls.ts';

/** Each may do what those before it may. */
export const ROLES: readonly Role[] = ['read_only', 'developer', 'admin', 'owner'];

export const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text);
