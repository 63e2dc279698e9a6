// The pages that the links of mails lead to, and the development outbox. Opening a link changes nothing, because mail programs
// open links on their own; the button on the page does, with a password.

import { apiError } from '../../../api/errors.ts';
import type { Route, RouteHandler } from '../../../http/router.ts';
import type { Reply, ServerRequest } from '../../../http/server.ts';
import { escaped } from '../../../runtime/html.ts';
import { currentSession } from '../../console-login/console-route.ts';
import { isPrivateRequest, type Reach, setCookie } from '../../console-login/reach.ts';
import type { Accounts } from '../accounts.ts';
import type { Logins } from '../logins.ts';
import { type DevelopmentOutbox, LINK_PATHS } from '../mailer.ts';
import type { Verified } from '../store/calls.ts';
import { type Form, form, page, posted } from './forms.ts';

export interface PageRoutesDependencies {
  accounts: Accounts;
  logins: Logins;
  reach: Reach;
  /** What was to be mailed, where there is no mail server; shown where browser and gateway are alone on one machine. */
  outbox: DevelopmentOutbox | undefined;
}

export function pageRoutes(dependencies: PageRoutesDependencies): Route[] {
  const { verify, resetPassword } = LINK_PATHS;
  const { reach } = dependencies;
  return [
    { method: 'GET', path: verify, handle: form(reach, VERIFY) },
    { method: 'POST', path: verify, handle: posted(reach, VERIFY, postVerify(dependencies)) },
    { method: 'GET', path: resetPassword, handle: form(reach, RESET) },
    { method: 'POST', path: resetPassword, handle: posted(reach, RESET, postReset(dependencies)) },
    { method: 'GET', path: '/console/outbox', handle: getOutbox(dependencies) },
  ];
}

const VERIFY: Form = {
  title: 'Confirm your address',
  content:
    '<p>Give your password to confirm the e-mail address that this link was sent to. Do it only if you asked for it yourself: the link of somebody else’s sign-up with your address takes their password, not yours.</p>' +
    '<p><label>Your password<input type="password" name="password" autocomplete="current-password" required></label></p>',
  button: 'Confirm',
};

const RESET: Form = {
  title: 'Choose a new password',
  content:
    '<p><label>New password, 8 to 256 characters<input type="password" name="password" autocomplete="new-password" minlength="8" required></label></p>',
  button: 'Set password',
};

const postVerify =
  ({ accounts, logins, reach }: PageRoutesDependencies) =>
  async (token: string, fields: URLSearchParams, request: ServerRequest): Promise<Reply> => {
    const verified = await accounts.verify(token, fields.get('password') ?? '', request.remoteAddress);
    const current = await currentSession(logins, request, reach);
    const cookie = current?.person.id === verified.person.id ? await logins.rename(current) : undefined;
    const reply = page(200, 'Your address is confirmed', confirmation(verified), reach.tls);
    return cookie === undefined
      ? reply
      : { ...reply, headers: { ...reply.headers, ...setCookie(request, reach, cookie) } };
  };

function confirmation({ credited, purpose }: Verified): string {
  const credit = credited ? ' Your welcome credit is there.' : '';
  const said = purpose === 'verification' ? 'Your account is open.' : 'Your account has this address now.';
  return `<p>${said}${credit}</p><p>What next: <a href="/keys">log in and mint an API key</a>, speak into your microphone in <a href="/playground">the playground</a>, or read <a href="/docs">the documents</a>.</p>`;
}

const postReset =
  ({ accounts, reach: { tls } }: PageRoutesDependencies) =>
  async (token: string, fields: URLSearchParams, request: ServerRequest): Promise<Reply> => {
    await accounts.resetPassword(token, fields.get('password') ?? '', request.remoteAddress);
    return page(200, 'Your password is set', '<p><a href="/">Log in with it</a></p>', tls);
  };

/** The mails that wait here because there is no mail server. Their links open accounts, so only this machine may read them. */
function getOutbox({ outbox, reach }: PageRoutesDependencies): RouteHandler {
  return async ({ request }) => {
    if (outbox === undefined || !isPrivateRequest(reach, request)) {
      throw apiError('not_found', 'There is no such endpoint. Those of the API begin with /v1/.');
    }
    const mails = outbox.mails.map(
      ({ at, to, subject, text }) =>
        `<h2>${escaped(subject)}</h2><p>${escaped(at)} to ${escaped(to)}</p><pre>${withLinks(escaped(text))}</pre>`,
    );
    return page(
      200,
      'Mails that wait here',
      mails.join('\n') || '<p>None yet. A new one takes a moment: load this page again.</p>',
      reach.tls,
    );
  };
}

function withLinks(html: string): string {
  return html.replace(/^https?:\/\/[^\s<]+$/gm, (url) => `<a href="${url}">${url}</a>`);
}
