// The console's endpoints for people: sign-up, login, sessions, passwords, addresses. Every rule behind them is in src/accounts/people.

import {
  ConfirmBody,
  type ConsoleSessionView,
  EmailBody,
  EmptyBody,
  LoginBody,
  PasswordBody,
  PasswordResetBody,
  type PersonView,
  SignUpBody,
} from '../../api/console/console.ts';
import { apiError } from '../../api/errors.ts';
import { json, type Route, type RouteContext } from '../../http/router.ts';
import type { Reply } from '../../http/server.ts';
import { type ConsoleContext, type ConsoleRoute, openRoute, peerOf, readBody } from '../console-login/console-route.ts';
import { apiErrorOfLogin, clearCookie, type Reach, readCookie, setCookie } from '../console-login/reach.ts';
import type { KeyStore } from '../keys/calls.ts';
import type { TeamStore } from '../team/calls.ts';
import type { Accounts } from './accounts.ts';
import type { Logins } from './logins.ts';

export interface AccountRoutesDependencies {
  store: Pick<TeamStore & KeyStore, 'listMemberships' | 'isOperator' | 'findOrganisation'>;
  accounts: Accounts;
  logins: Logins;
  consoleRoute: ConsoleRoute;
  reach: Reach;
  /** Whether mails reach anybody. */
  canMail: boolean;
}

/** What ends in a mail: the answer is the same whether or not there is such an account, and none where no mail reaches anybody. */
const mailed =
  <Context>({ canMail }: AccountRoutesDependencies, work: (context: Context) => Promise<void>) =>
  async (context: Context): Promise<Reply> => {
    if (!canMail) throw noMail();
    await work(context);
    return json(202, { status: 'mail_sent' });
  };
const noMail = () =>
  apiError(
    'invalid_request',
    'This gateway cannot send mails, which an account needs. Ask its operator for an API key, or to set VOXGATE_SMTP_URL.',
  );
const done = (headers: Record<string, string> = {}): Reply => ({ status: 204, headers });

export function accountRoutes(dependencies: AccountRoutesDependencies): Route[] {
  const { consoleRoute } = dependencies;
  const at = (method: string, path: string, handle: Route['handle']): Route => ({
    method,
    path: `/console/api/${path}`,
    handle,
  });
  return [
    at('POST', 'sign-up', openRoute(signUp(dependencies))),
    at('POST', 'login', openRoute(logIn(dependencies))),
    at('POST', 'password-reset-request', openRoute(requestReset(dependencies))),
    at('POST', 'password-reset', openRoute(resetPassword(dependencies))),
    consoleRoute('POST logout', logOut(dependencies), { always: true }),
    consoleRoute('POST confirm', confirm(dependencies), { always: true }),
    consoleRoute('GET me', getMe(dependencies)),
    consoleRoute('POST verification', resendVerification(dependencies)),
    consoleRoute('POST email', changeEmail(dependencies), { verified: true, confirmed: true }),
    consoleRoute('POST password', changePassword(dependencies)),
    consoleRoute('GET console-sessions', listSessions(dependencies)),
    consoleRoute('DELETE console-sessions/:id', endSession(dependencies)),
  ];
}

const signUp = (dependencies: AccountRoutesDependencies) =>
  mailed(dependencies, async ({ request }: RouteContext) => {
    await dependencies.accounts.signUp(await readBody(request, SignUpBody), request.remoteAddress);
  });

const logIn =
  ({ logins, reach }: AccountRoutesDependencies): Route['handle'] =>
  async ({ request }) => {
    const inVain = apiErrorOfLogin(reach, request);
    if (inVain !== undefined) throw inVain;
    const { email, password } = await readBody(request, LoginBody);
    const { cookie } = await logins.logIn(email, password, peerOf(request), readCookie(request, reach));
    return done(setCookie(request, reach, cookie));
  };

const requestReset = (dependencies: AccountRoutesDependencies) =>
  mailed(dependencies, async ({ request }: RouteContext) => {
    const { email } = await readBody(request, EmailBody);
    await dependencies.accounts.requestPasswordReset(email, request.remoteAddress);
  });

const resetPassword =
  ({ accounts }: AccountRoutesDependencies): Route['handle'] =>
  async ({ request }) => {
    const { token, password } = await readBody(request, PasswordResetBody);
    await accounts.resetPassword(token, password, request.remoteAddress);
    return done();
  };

const logOut =
  ({ logins, reach }: AccountRoutesDependencies) =>
  async ({ request, current, peer }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    await logins.end(current.person.id, current.session.id, peer.client);
    return done(clearCookie(request, reach));
  };

const confirm =
  ({ logins }: AccountRoutesDependencies) =>
  async ({ request, current, peer }: ConsoleContext) => {
    const { password } = await readBody(request, ConfirmBody);
    await logins.confirm(current, password, peer);
    return done();
  };

const getMe =
  ({ store }: AccountRoutesDependencies) =>
  async ({ current: { person, isConfirmed, role }, organisationId }: ConsoleContext) => {
    const organisations = await store.listMemberships(person.id);
    // A node with the accounts of an earlier version does not know it.
    const operator = await store.isOperator(organisationId).catch(() => false);
    const current = organisations.find(({ id }) => id === organisationId);
    const settings = await store.findOrganisation(organisationId).catch(() => undefined);
    const view: PersonView = {
      id: person.id,
      email: person.email,
      email_verified: person.state === 'verified',
      organisation: {
        id: organisationId,
        name: current?.name ?? '',
        show_transcripts: settings?.showTranscripts ?? false,
        spend_ceilings: settings?.spendCeilings ?? null,
      },
      role,
      operator,
      organisations,
      created_at: person.createdAt,
      confirmed: isConfirmed,
    };
    return json(200, view);
  };

const resendVerification = (dependencies: AccountRoutesDependencies) =>
  mailed(dependencies, async ({ request, current, peer }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    await dependencies.accounts.resendVerification(current.person, peer.client);
  });

const changeEmail = (dependencies: AccountRoutesDependencies) =>
  mailed(dependencies, async ({ request, current, peer }: ConsoleContext) => {
    const { email } = await readBody(request, EmailBody);
    await dependencies.accounts.requestAddressChange(current.person, email, peer.client);
  });

/** Every other session of the person ends, and this one continues under a new id. */
const changePassword =
  ({ logins, reach }: AccountRoutesDependencies) =>
  async ({ request, current, peer }: ConsoleContext) => {
    const body = await readBody(request, PasswordBody);
    const { cookie } = await logins.changePassword(current, body.current_password, body.new_password, peer);
    return done(setCookie(request, reach, cookie));
  };

const listSessions =
  ({ logins }: AccountRoutesDependencies) =>
  async ({ current }: ConsoleContext) => {
    const sessions = await logins.list(current.person.id);
    const data = sessions.map(
      (session): ConsoleSessionView => ({
        id: session.id,
        current: session.id === current.session.id,
        address: session.client,
        user_agent: session.userAgent,
        created_at: new Date(session.createdAtMs).toISOString(),
        seen_at: new Date(session.seenAtMs).toISOString(),
      }),
    );
    return json(200, { data });
  };

const endSession =
  ({ logins }: AccountRoutesDependencies) =>
  async ({ request, params, current, peer }: ConsoleContext) => {
    await readBody(request, EmptyBody);
    if (await logins.end(current.person.id, params.id ?? '', peer.client)) return done();
    throw apiError('not_found', 'There is no such console session. GET /console/api/console-sessions lists them.');
  };
