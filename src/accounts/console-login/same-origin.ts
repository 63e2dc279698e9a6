// Whether a request was made by a page of this gateway: what stands between a person's cookie and every other page that the
// same browser has open.
import { refuse } from '../../api/errors.ts';
import type { DoorRequest } from '../../http/door.ts';
import { refuseContentEncoding } from '../../http/multipart/parts.ts';

/** Methods that change nothing. */
const SAFE_METHODS = new Set(['GET', 'HEAD']);

export function changesNothing({ method }: DoorRequest): boolean {
  return SAFE_METHODS.has(method);
}

/** Throws a Refusal `cross_site_request` for a request that another site's page, or no page at all, has made. */
export function requireSameOrigin({ headers }: DoorRequest): void {
  const site = headers.get('sec-fetch-site');
  // Older browsers do not say so; then the origin has to be this very host.
  if (site === undefined ? isOwnOrigin(headers.get('origin'), headers.get('host')) : site === 'same-origin') return;
  throw refuse(
    'cross_site_request',
    'Only pages of this gateway may do this: send `Sec-Fetch-Site: same-origin`, or an `Origin` that is the host itself.',
  );
}

/** The same for the JSON API, whose requests no form can make. Methods that change nothing pass. */
export function requireConsoleRequest(request: DoorRequest): void {
  if (changesNothing(request)) return;
  requireSameOrigin(request);
  const { headers } = request;
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
    throw refuse('unsupported_media_type', 'The console takes JSON: send `Content-Type: application/json`.');
  }
  refuseContentEncoding(headers);
  if (headers.get('x-requested-with') !== 'console') {
    throw refuse('cross_site_request', 'Requests to the console carry the header `X-Requested-With: console`.');
  }
}

function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, origin: normal, host: named } = new URL(origin);
  const own = `${protocol}//${host}`;
  return normal === origin && URL.canParse(own) && new URL(own).host === named;
}
