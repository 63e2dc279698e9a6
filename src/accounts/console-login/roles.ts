// Who may ask what of the console: every endpoint for people who are logged in, with the least role that it takes in the
// organisation of the session. One that is not here cannot be made.
import { apiError } from '../../api/errors.ts';
import { isAtLeast, type Role } from '../team/calls.ts';

export const ENDPOINTS = {
  // One's own account and logins.
  'GET me': 'read_only',
  'POST organisation': 'read_only',
  'POST organisations': 'read_only',
  'POST logout': 'read_only',
  'POST confirm': 'read_only',
  'POST verification': 'read_only',
  'POST email': 'read_only',
  'POST password': 'read_only',
  'GET console-sessions': 'read_only',
  'DELETE console-sessions/:id': 'read_only',

  // Who is in the organisation. Over whom a role has authority: src/accounts/team/calls.ts.
  'GET members': 'read_only',
  'POST members/leave': 'read_only',
  'PATCH members/:id': 'admin',
  'DELETE members/:id': 'admin',
  'GET invitations': 'admin',
  'POST invitations': 'admin',
  'POST invitations/:id/resend': 'admin',
  'DELETE invitations/:id': 'admin',

  // What its members may see of what its customers say.
  'PATCH organisation': 'owner',

  // What the organisation uses, and what it costs.
  'GET balance': 'read_only',
  'GET overview': 'read_only',
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
  'POST keys/:id/roll': 'developer',
  'DELETE keys/:id': 'developer',

  'GET provider-keys': 'developer',
  'POST provider-keys': 'admin',
  'POST provider-keys/:id/test': 'admin',
  'DELETE provider-keys/:id': 'admin',

  'GET webhooks': 'developer',
  'POST webhooks': 'admin',
  'PATCH webhooks/:id': 'admin',
  'DELETE webhooks/:id': 'admin',
  'POST webhooks/:id/secret': 'admin',
  'POST webhooks/:id/test': 'developer',
  'GET webhooks/:id/deliveries': 'developer',
  'POST webhooks/:id/deliveries/:delivery/resend': 'developer',

  // Of an API key, which the query names. Their text is shown where the organisation shows transcripts.
  'GET jobs': 'read_only',
  'GET jobs/:id': 'read_only',
  'POST jobs/:id/cancel': 'developer',
  'DELETE jobs/:id': 'developer',

  'GET audit': 'admin',

  // Of all organisations: in that of the operator only.
  'GET machines': 'read_only',
  'GET operator/sessions': 'admin',
  'GET operator/history': 'admin',
} as const satisfies Readonly<Record<string, Role>>;

export type Endpoint = keyof typeof ENDPOINTS;

/** What it takes where somebody else has made what the endpoint is about. */
export const ENDPOINTS_OF_OTHERS = {
  'POST keys/:id/roll': 'admin',
  'DELETE keys/:id': 'admin',
} as const satisfies { readonly [Each in Endpoint]?: Role };

/** Throws an ApiError `role_not_allowed`. */
export function requireRole(endpoint: Endpoint, role: Role): void {
  if (mayAsk(endpoint, role)) return;
  throw apiError(
    'role_not_allowed',
    `This takes the role ${ENDPOINTS[endpoint]} in the organisation. Ask one of its owners.`,
  );
}

export function mayAsk(endpoint: Endpoint, role: Role): boolean {
  return isAtLeast(role, ENDPOINTS[endpoint]);
}

/**
 * @param makerId who has made what the endpoint is about
 * @throws ApiError `role_not_allowed`
 */
export function requireRoleOverOthers(
  endpoint: keyof typeof ENDPOINTS_OF_OTHERS,
  { role, person }: { role: Role; person: { id: string } },
  makerId: string | null,
): void {
  const least = ENDPOINTS_OF_OTHERS[endpoint];
  if (makerId === person.id || isAtLeast(role, least)) return;
  throw apiError('role_not_allowed', `You need the role ${least} for keys of other members. Ask an admin.`);
}
