// The pages that the links of mails lead to, and the development outbox. Opening a link changes nothing, because mail programs
// open links by themselves; the button on the page does, with a password.

import type { Accounts } from '../../../accounts/accounts.ts';
import type { Logins } from '../../../accounts/logins.ts';
import type { DevelopmentOutbox } from '../../../accounts/mailer.ts';
import { LINK_PATHS } from '../../../accounts/mails.ts';
import { type Refusal, refuse } from '../../../api/errors.ts';
import { escaped } from '../../../documents/pages/html.ts';
import type { Verified } from '../../../store/accounts/calls.ts';
import { StoreError } from '../../../store/store-error.ts';
import type { DoorRequest, Reply } from '../../door.ts';
import { parseQuery } from '../../http/query.ts';
import { refuseContentEncoding } from '../../multipart/parts.ts';
import { type Route, type RouteHandler, refusalOf } from '../../router.ts';
import { currentSession, refusalOfStore } from './console-route.ts';
import { setCookie } from './cookie.ts';
import { page } from './html.ts';
import { isPrivateRequest, type Reach } from './reach.ts';
import { FORM_BYTES_MAX } from './read-body.ts';
import { requireSameOrigin } from './same-origin.ts';

export interface PageRoutesDependencies {
  accounts: Accounts;
  logins: Logins;
  reach: Reach;
  /** What was to be mailed, where there is no mail server; shown where browser and gateway are alone on one machine. */
  outbox: DevelopmentOutbox | undefined;
}

export function pageRoutes(dependencies: PageRoutesDependencies): Route[] {
  const { verify, resetPassword } = LINK_PATHS;
  return [
    { method: 'GET', path: verify, handle: form(dependencies, VERIFY) },
    { method: 'POST', path: verify, handle: posted(dependencies, VERIFY, postVerify(dependencies)) },
    { method: 'GET', path: resetPassword, handle: form(dependencies, RESET) },
    { method: 'POST', path: resetPassword, handle: posted(dependencies, RESET, postReset(dependencies)) },
    { method: 'GET', path: '/console/outbox', handle: getOutbox(dependencies) },
  ];
}

interface Form {
  title: string;
  /** What stands above the button. */
  content: string;
  button: string;
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

/** The form sends itself to where it came from, so the token need not stand in the page. */
function form({ reach: { tls } }: PageRoutesDependencies, wanted: Form): RouteHandler {
  return async () => formPage(wanted, tls, 200);
}

function formPage({ title, content, button }: Form, tls: boolean, status: number, note = ''): Reply {
  const said = note === '' ? '' : `<p role="alert">${escaped(note)}</p>`;
  return page(status, title, `${said}<form method="post">${content}<button>${button}</button></form>`, tls);
}

/** A form that came back from its own page; refusals are told as a page. */
function posted(
  { reach: { tls } }: PageRoutesDependencies,
  wanted: Form,
  handle: (token: string, fields: URLSearchParams, request: DoorRequest) => Promise<Reply>,
): RouteHandler {
  return async ({ request }) => {
    requireSameOrigin(request);
    const token = parseQuery(request.query).get('token') ?? '';
    const fields = await readForm(request);
    try {
      return await handle(token, fields, request);
    } catch (error) {
      const refusal = refusalOf(error instanceof StoreError ? refusalOfStore(error) : error);
      if (refusal.code === 'internal_error') throw error;
      // With a link that is no good, trying again does not help.
      const reply =
        refusal.code === 'invalid_link'
          ? page(refusal.status, wanted.title, `<p role="alert">${escaped(refusal.message)}</p>`, tls)
          : formPage(wanted, tls, refusal.status, refusal.message);
      return withRetryAfter(reply, refusal);
    }
  };
}

function withRetryAfter(reply: Reply, { extras }: Refusal): Reply {
  if (extras.retryAfterSeconds === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, 'Retry-After': String(Math.ceil(extras.retryAfterSeconds)) } };
}

const postVerify =
  ({ accounts, logins, reach }: PageRoutesDependencies) =>
  async (token: string, fields: URLSearchParams, request: DoorRequest): Promise<Reply> => {
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
  return `<p>${said}${credit}</p><p>What next: <a href="/#key-of-your-own">mint an API key</a>, then speak into your microphone or read <a href="/docs">the documents</a>.</p>`;
}

const postReset =
  ({ accounts, reach: { tls } }: PageRoutesDependencies) =>
  async (token: string, fields: URLSearchParams, request: DoorRequest): Promise<Reply> => {
    await accounts.resetPassword(token, fields.get('password') ?? '', request.remoteAddress);
    return page(200, 'Your password is set', '<p><a href="/#key-of-your-own">Log in with it</a></p>', tls);
  };

async function readForm(request: DoorRequest): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    throw refuse('unsupported_media_type', 'This page takes what its own form sends.');
  }
  refuseContentEncoding(request.headers);
  const chunks: Uint8Array[] = [];
  for await (const chunk of request.body(FORM_BYTES_MAX)) chunks.push(chunk as Uint8Array);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

/** The mails that wait here because there is no mail server. Their links open accounts, so only this machine may read them. */
function getOutbox({ outbox, reach }: PageRoutesDependencies): RouteHandler {
  return async ({ request }) => {
    if (outbox === undefined || !isPrivateRequest(reach, request)) {
      throw refuse('not_found', 'There is no such endpoint. Those of the API begin with /v1/.');
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
