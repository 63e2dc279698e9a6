// Forms on plain pages: shown, read when they come back from their own page, and shown again with a sentence where they were refused.
import { type Refusal, refuse } from '../../../api/errors.ts';
import type { DoorRequest, Reply } from '../../../http/door.ts';
import { parseQuery } from '../../../http/http/query.ts';
import { refuseContentEncoding } from '../../../http/multipart/parts.ts';
import { type RouteHandler, refusalOf } from '../../../http/router.ts';
import { escaped } from '../../../runtime/html.ts';
import { StoreError } from '../../../store/store-error.ts';
import { refusalOfStore } from '../../console-login/console-route.ts';
import type { Reach } from '../../console-login/reach.ts';
import { FORM_BYTES_MAX } from '../../console-login/read-body.ts';
import { requireSameOrigin } from '../../console-login/same-origin.ts';
import { page } from './html.ts';

export interface Form {
  title: string;
  /** What stands above the button, by the link's token and who is here where it differs; throws a Refusal `invalid_link` for a link that is no good. */
  content: string | ((token: string, request: DoorRequest) => Promise<string>);
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
  handle: (token: string, fields: URLSearchParams, request: DoorRequest) => Promise<Reply>,
): RouteHandler {
  return async ({ request }) => {
    requireSameOrigin(request);
    const token = tokenOf(request);
    const fields = await readForm(request);
    return orRefused(reach, wanted, request, () => handle(token, fields, request));
  };
}

const tokenOf = ({ query }: DoorRequest): string => parseQuery(query).get('token') ?? '';

const contentOf = async ({ content }: Form, token: string, request: DoorRequest): Promise<string> =>
  typeof content === 'string' ? content : content(token, request);

function formPage({ title, button }: Form, content: string, tls: boolean, status: number, note = ''): Reply {
  const said = note === '' ? '' : alert(note);
  return page(status, title, `${said}<form method="post">${content}<button>${button}</button></form>`, tls);
}

const alert = (note: string): string => `<p role="alert">${escaped(note)}</p>`;

async function orRefused(
  { tls }: Reach,
  wanted: Form,
  request: DoorRequest,
  work: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalOf(error instanceof StoreError ? refusalOfStore(error) : error);
    if (refusal.code === 'internal_error') throw error;
    // With a link that is no good, or not any more, trying again does not help.
    const isOver = refusal.code === 'invalid_link';
    const content = isOver ? undefined : await contentOf(wanted, tokenOf(request), request).catch(() => undefined);
    const reply =
      content === undefined
        ? page(refusal.status, wanted.title, alert(refusal.message), tls)
        : formPage(wanted, content, tls, refusal.status, refusal.message);
    return withRetryAfter(reply, refusal);
  }
}

function withRetryAfter(reply: Reply, { extras }: Refusal): Reply {
  if (extras.retryAfterSeconds === undefined) return reply;
  return { ...reply, headers: { ...reply.headers, 'Retry-After': String(Math.ceil(extras.retryAfterSeconds)) } };
}

async function readForm(request: DoorRequest): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    throw refuse('unsupported_media_type', 'This page takes what its own form sends.');
  }
  refuseContentEncoding(request.headers);
  const chunks: Uint8Array[] = [];
  for await (const chunk of request.body(FORM_BYTES_MAX)) chunks.push(chunk as Uint8Array);
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}
