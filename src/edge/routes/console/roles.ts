// Who may ask what of the console: every endpoint for people who are logged in, with the least role that it takes in the
// organisation of the session. One that is not here cannot be made.
import { type Refusal, refuse } from '../../../api/errors.ts';
import type { Role } from '../../../store/accounts/calls.ts';
import { ROLES } from '../../../store/accounts/roles.ts';

export const ENDPOINTS = {
  // One's own account and logins.
  'GET me': 'read_only',
  'POST organisation': 'read_only',
  'POST logout': 'read_only',
  'POST confirm': 'read_only',
  'POST verification': 'read_only',
  'POST email': 'read_only',
  'POST password': 'read_only',
  'GET console-sessions': 'read_only',
  'DELETE console-sessions/:id': 'read_only',

  // What the organisation uses, and what it costs.
  'GET balance': 'read_only',
  'GET usage': 'read_only',
  'GET sessions': 'read_only',
  'GET sessions/:id': 'read_only',
  'GET sessions/:id/events': 'read_only',
  'GET bills/:month': 'read_only',
  'GET models': 'read_only',
  'GET models/:provider/:model': 'read_only',

  'POST playground': 'developer',
  'POST playground/sessions/:id/break': 'developer',

  'GET keys': 'developer',
  'POST keys': 'developer',
  'PATCH keys/:id': 'admin',
  'POST keys/:id/roll': 'admin',
  'DELETE keys/:id': 'admin',

  'GET provider-keys': 'developer',
  'POST provider-keys': 'admin',
  'POST provider-keys/:id/test': 'admin',
  'DELETE provider-keys/:id': 'admin',

  'GET audit': 'admin',
} as const satisfies Readonly<Record<string, Role>>;

export type Endpoint = keyof typeof ENDPOINTS;

/** Throws a Refusal `role_not_allowed`. */
export function requireRole(endpoint: Endpoint, role: Role): void {
  if (mayAsk(endpoint, role)) return;
  throw roleNotAllowed(ENDPOINTS[endpoint]);
}

export function mayAsk(endpoint: Endpoint, role: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(ENDPOINTS[endpoint]);
}

function roleNotAllowed(least: Role): Refusal {
  return refuse('role_not_allowed', `This takes the role ${least} in the organisation. Ask one of its owners.`);
}
