// The page of an invitation: whoever has the link becomes a member with the password of the account there is, or of a new one, and
// is logged in. Opening the page changes nothing.
import type { Invitations } from '../../../../accounts/invitations.ts';
import type { Logins } from '../../../../accounts/logins.ts';
import { LINK_PATHS } from '../../../../accounts/mails.ts';
import { escaped } from '../../../../documents/pages/html.ts';
import type { Invitation, Role } from '../../../../store/accounts/calls.ts';
import type { DoorRequest, Reply } from '../../../door.ts';
import type { Route } from '../../../router.ts';
import { peerOf } from '../console-route.ts';
import { readCookie, setCookie } from '../cookie.ts';
import { type Reach, refusalOfLogin } from '../reach.ts';
import { type Form, form, posted } from './forms.ts';
import { page } from './html.ts';

export interface JoinRoutesDependencies {
  invitations: Invitations;
  logins: Logins;
  reach: Reach;
}

const ROLES: Readonly<Record<Role, string>> = {
  owner: 'an owner',
  admin: 'an admin',
  developer: 'a developer',
  read_only: 'a reader',
};

export function joinRoutes(dependencies: JoinRoutesDependencies): Route[] {
  const { invitations, reach } = dependencies;
  const path = LINK_PATHS.join;
  const joining: Form = {
    title: 'Join an organisation',
    content: async (token) => contentOf(await invitations.find(token)),
    button: 'Join',
  };
  return [
    { method: 'GET', path, handle: form(reach, joining) },
    { method: 'POST', path, handle: posted(reach, joining, postJoin(dependencies)) },
  ];
}

function contentOf({ organisationName, role, email }: Invitation): string {
  const as =
    email === null
      ? '<p><label>Your e-mail address<input type="email" name="email" autocomplete="username" required></label></p>'
      : `<p>You join as ${escaped(email)}.</p>`;
  return (
    `<p>This makes you ${ROLES[role]} of the organisation “${escaped(organisationName)}”.</p>${as}` +
    '<p><label>Password: of your account where this address has one, else a new one of 8 to 256 characters' +
    '<input type="password" name="password" autocomplete="current-password" required></label></p>'
  );
}

const postJoin =
  ({ invitations, logins, reach }: JoinRoutesDependencies) =>
  async (token: string, fields: URLSearchParams, request: DoorRequest): Promise<Reply> => {
    const password = fields.get('password') ?? '';
    const joined = await invitations.join(token, fields.get('email') ?? '', password, request.remoteAddress);
    const done = page(200, 'You are a member', '<p><a href="/">Go to the console</a></p>', reach.tls);
    // The cookie would not be kept; the console says why.
    if (refusalOfLogin(reach, request) !== undefined) return done;
    const { email, organisationId } = joined;
    const opened = await logins.logIn(email, password, peerOf(request), readCookie(request, reach), organisationId);
    return { ...done, headers: { ...done.headers, ...setCookie(request, reach, opened.cookie) } };
  };
