// Requests from pages of other origins: what a browser needs so that such a page may send one and read its answer. Which pages may use
// a key is decided in auth/permissions.ts, for requests as for live sessions.
import type { DoorRequest, WholeReply } from '../door.ts';

/** Browsers keep a permission no longer than this. */
const PERMISSION_SECONDS = 7_200;
const ORIGIN = /^[\x21-\x7e]{1,255}$/;
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~,\- ]{1,2048}$/;
/** For a browser that names none, or names them in a way that cannot be repeated. */
const USUAL_HEADERS = 'authorization, content-type, xi-api-key, x-gladia-key';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** The interface itself, and that of other vendors' clients. The console is for its own pages alone. */
export const isForPages = (path: string): boolean => path.startsWith('/v1/') || path.startsWith('/compat/');

/** What every answer says to the page that asked for it. Credentials of the browser itself, such as cookies, are never allowed. */
export function readableBy({ headers }: Pick<DoorRequest, 'headers'>): Record<string, string> {
  const origin = headers.get('origin') ?? '';
  if (!ORIGIN.test(origin)) return { Vary: 'Origin' };
  return { Vary: 'Origin', 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': '*' };
}

/** The answer to what a browser asks before a request. It has no key, so that it is the same for every page. */
export function preflight(request: DoorRequest, methods: string | undefined): WholeReply {
  const asked = request.headers.get('access-control-request-headers') ?? '';
  return {
    status: 204,
    headers: {
      ...readableBy(request),
      'Access-Control-Allow-Methods': methods ?? METHODS,
      'Access-Control-Allow-Headers': HEADER_NAMES.test(asked) ? asked : USUAL_HEADERS,
      'Access-Control-Max-Age': String(PERMISSION_SECONDS),
    },
  };
}
