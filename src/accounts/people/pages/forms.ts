// Forms on plain pages: shown, read when they come back from their own page, and shown again with a sentence where they were refused.

import type { SetUp } from '../../../api/console/gateway.ts';
import { type ApiError, apiError } from '../../../api/errors.ts';
import { refuseContentEncoding } from '../../../http/multipart/parts.ts';
import { STAY_WITH_TLS } from '../../../http/proxies.ts';
import { parseQuery } from '../../../http/query.ts';
import { type RouteHandler, toApiError } from '../../../http/router.ts';
import type { Reply, ServerRequest, WholeReply } from '../../../http/server.ts';
import { escaped, htmlPage, pageHeaders } from '../../../runtime/html.ts';
import { StoreError } from '../../../store/store-error.ts';
import type { Provider } from '../../../vendors/kit/provider.ts';
import { needOf } from '../../../vendors/kit/served.ts';
import { apiErrorOfStore, FORM_BYTES_MAX } from '../../console-login/console-route.ts';
import { type Reach, requireSameOrigin } from '../../console-login/reach.ts';

export interface Form {
  title: string;
  /** What stands above the button, by the link's token and who is here where it differs; throws an ApiError `invalid_link` for a link that is invalid. */
  content: string | ((token: string, request: ServerRequest) => Promise<string>);
  button: string;
}

/** Shows the form, which changes nothing. It sends itself to where it came from, so the token need not stand in the page. */
export function form(reach: Reach, wanted: Form): RouteHandler {
  return async ({ request }) => {
    const token = tokenOf(request);
    return orRefused(reach, wanted, request, async () =>
      formPage(wanted, await contentOf(wanted, token, request), reach.tls, 200),
    );
  };
}

/** A form that came back from its own page; refusals are told as a page. */
export function posted(
  reach: Reach,
  wanted: Form,
  handle: (token: string, fields: URLSearchParams, request: ServerRequest) => Promise<Reply>,
): RouteHandler {
  return async ({ request }) => {
    requireSameOrigin(request);
    const token = tokenOf(request);
    const fields = await readForm(request);
    return orRefused(reach, wanted, request, () => handle(token, fields, request));
  };
}

const tokenOf = ({ query }: ServerRequest): string => parseQuery(query).get('token') ?? '';

const contentOf = async ({ content }: Form, token: string, request: ServerRequest): Promise<string> =>
  typeof content === 'string' ? content : content(token, request);

function formPage({ title, button }: Form, content: string, tls: boolean, status: number, note = ''): Reply {
  const said = note === '' ? '' : alert(note);
  return page(status, title, `${said}<form method="post">${content}<button>${button}</button></form>`, tls);
}

const alert = (note: string): string => `<p role="alert">${escaped(note)}</p>`;

async function orRefused(
  { tls }: Reach,
  wanted: Form,
  request: ServerRequest,
  work: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const refusal = toApiError(error instanceof StoreError ? apiErrorOfStore(error) : error);
    if (refusal.code === 'internal_error') throw error;
    // With an invalid or expired link, trying again does not help.
    const isOver = refusal.code === 'invalid_link';
    const content = isOver ? undefined : await contentOf(wanted, tokenOf(request), request).catch(() => undefined);
    const reply =
      content === undefined
        ? page(refusal.status, wanted.title, alert(refusal.message), tls)
        : formPage(wanted, content, tls, refusal.status, refusal.message);
    return withRetryAfter(reply, refusal);
  }
}

function withRetryAfter(reply: Reply, { extras }: ApiError): Reply {
  if (extras.retryAfterSeconds === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, 'Retry-After': String(Math.ceil(extras.retryAfterSeconds)) } };
}

async function readForm(request: ServerRequest): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    throw apiError('unsupported_media_type', 'This page takes what its own form sends.');
  }
  refuseContentEncoding(request.headers);
  const chunks: Uint8Array[] = [];
  for await (const chunk of request.body(FORM_BYTES_MAX)) chunks.push(chunk as Uint8Array);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

// The plain pages that mails lead to: a sentence, perhaps a form, no script. What they do is in the files beside it.
/** The colours of the console, which these pages lead to. */
const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:.9375rem/1.5 Inter,system-ui,sans-serif;margin:0;padding:min(12vh,6rem) 1rem 2rem;color:light-dark(#17201d,#eceeed);background:light-dark(#fbfbfa,#111315)}' +
  'main{max-width:30rem;margin:0 auto;padding:1.5rem;background:light-dark(#fff,#191c1f);border:1px solid light-dark(#e0e2e1,#2c3135);border-radius:.5rem}' +
  'h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}h2{font-size:1.125rem;margin:1.5rem 0 .5rem}label{font-weight:500}' +
  'input,button{font:inherit;border-radius:.3rem;border:1px solid light-dark(#878f8c,#6d767c);padding:.4rem .6rem}' +
  'input{width:100%;box-sizing:border-box;margin-top:.25rem;color:inherit;background:light-dark(#fff,#191c1f)}' +
  'button{font-weight:500;padding:.4rem .85rem;cursor:pointer;color:light-dark(#fff,#06211d);background:light-dark(#0f766e,#37c2b1);border-color:light-dark(#0f766e,#37c2b1)}' +
  'a{color:light-dark(#0f766e,#37c2b1)}[role=alert]{padding:.75rem 1rem;border:1px solid;border-radius:.5rem;color:light-dark(#b3261e,#ff8a80);background:light-dark(#fcebea,#3b1613)}' +
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;border-left:.2rem solid light-dark(#e0e2e1,#2c3135);padding-left:1rem}';

const HEADERS: Readonly<Record<string, string>> = {
  ...pageHeaders(STYLE, { forms: `'self'` }),
  'Cache-Control': 'no-store',
  'X-Frame-Options': 'DENY',
};

/**
 * @param content HTML in which all text from outside was passed through `escaped`
 * @param tls whether the server itself terminates TLS: then browsers are told to stay with it
 */
export function page(status: number, title: string, content: string, tls: boolean): WholeReply {
  const body = htmlPage(title, STYLE, `<main><h1>${escaped(title)}</h1>\n${content}\n</main>`);
  return { status, headers: tls ? { ...HEADERS, ...STAY_WITH_TLS } : { ...HEADERS }, body };
}

// What a gateway is set up with, as shown to its operator.
export function providersOf(
  providers: ReadonlyMap<string, Provider>,
  hasService: (provider: string) => boolean,
): SetUp['providers'] {
  return [...providers.values()].map((provider) => {
    const { name, title } = provider;
    return { name, title, needs: needOf(provider), is_usable: hasService(name) };
  });
}
