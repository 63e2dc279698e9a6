// The page of an invitation: whoever has the link becomes a member, as who is logged in here with its address, or with the password
// of the account there is or of a new one, and is logged in. Opening the page changes nothing.

import { type ApiError, apiError } from '../../../api/errors.ts';
import type { Route } from '../../../http/router.ts';
import type { Reply, ServerRequest } from '../../../http/server.ts';
import { escaped } from '../../../runtime/html.ts';
import { currentSession, peerOf } from '../../console-login/console-route.ts';
import { apiErrorOfLogin, type Reach, readCookie, setCookie } from '../../console-login/reach.ts';
import type { Invitation, Role } from '../../team/calls.ts';
import type { Invitations } from '../../team/invitations.ts';
import type { Logins } from '../logins.ts';
import { LINK_PATHS } from '../mailer.ts';
import type { Person } from '../store/calls.ts';
import { type Form, form, page, posted } from './forms.ts';

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
  const { invitations, logins, reach } = dependencies;
  const path = LINK_PATHS.join;
  const joining: Form = {
    title: 'Join an organisation',
    content: async (token, request) => {
      const invitation = await invitations.find(token);
      const current = await currentSession(logins, request, reach);
      return contentOf(
        invitation,
        current?.person,
        current !== undefined && invitations.isFor(invitation, current.person),
      );
    },
    button: 'Join',
  };
  return [
    { method: 'GET', path, handle: form(reach, joining) },
    { method: 'POST', path, handle: posted(reach, joining, postJoin(dependencies)) },
  ];
}

/** @param isForHere whether who is logged in here is the one who is invited */
function contentOf(invitation: Invitation, here: Person | undefined, isForHere: boolean): string {
  const { organisationName, role, email } = invitation;
  const what = `<p>This makes you ${ROLES[role]} of the organisation “${escaped(organisationName)}”.</p>`;
  if (here !== undefined && isForHere && here.state === 'verified') {
    return `${what}<p>You join as ${escaped(here.email)}, as which you are logged in here.</p>`;
  }
  return `${what}${here === undefined || isForHere ? '' : switchOf(here, email ?? '')}${fieldsOf(email)}`;
}

/** Joining as somebody else than is logged in here has to be wanted. */
function switchOf(here: Person, email: string): string {
  return (
    `<p>You are logged in as ${escaped(here.email)}. The invitation is for ${escaped(email)}: joining logs you out and in ` +
    'again as that. To stay as you are, <a href="/">go back to the console</a>.</p>' +
    '<input type="hidden" name="switch" value="yes">'
  );
}

function fieldsOf(email: string | null): string {
  const as =
    email === null
      ? '<p><label>Your e-mail address<input type="email" name="email" autocomplete="username" required></label></p>'
      : `<p>You join as ${escaped(email)}.</p>`;
  return (
    `${as}<p><label>Password: of your account where this address has one, else a new one of 8 to 256 characters` +
    '<input type="password" name="password" autocomplete="current-password" required></label></p>'
  );
}

const postJoin =
  (dependencies: JoinRoutesDependencies) =>
  async (token: string, fields: URLSearchParams, request: ServerRequest): Promise<Reply> => {
    const { invitations, logins, reach } = dependencies;
    const current = await currentSession(logins, request, reach);
    if (current === undefined) return joinByPassword(dependencies, token, fields, request);
    const invitation = await invitations.find(token);
    const { person } = current;
    if (!invitations.isFor(invitation, person)) {
      if (fields.get('switch') !== 'yes') throw somebodyElse(person);
    } else if (person.state === 'verified') {
      const { organisationId } = await invitations.joinLoggedIn(token, person, request.remoteAddress);
      await logins.enter(current, organisationId);
      return member(reach);
    }
    return joinByPassword(dependencies, token, fields, request);
  };

async function joinByPassword(
  { invitations, logins, reach }: JoinRoutesDependencies,
  token: string,
  fields: URLSearchParams,
  request: ServerRequest,
): Promise<Reply> {
  const password = fields.get('password') ?? '';
  const joined = await invitations.join(token, fields.get('email') ?? '', password, request.remoteAddress);
  const done = member(reach);
  // The cookie would not be kept; the console says why.
  if (apiErrorOfLogin(reach, request) !== undefined) return done;
  const { email, organisationId } = joined;
  const opened = await logins.logIn(email, password, peerOf(request), readCookie(request, reach), organisationId);
  return { ...done, headers: { ...done.headers, ...setCookie(request, reach, opened.cookie) } };
}

const member = ({ tls }: Reach): Reply =>
  page(200, 'You are a member', '<p><a href="/">Go to the console</a></p>', tls);

/** Where the browser did not say so when the page was shown: it keeps the cookie back when a link of another site is followed. */
const somebodyElse = ({ email }: Person): ApiError =>
  apiError('invalid_request', `You are logged in as ${email}, but the invitation is for another address.`);
