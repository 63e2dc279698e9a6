// The URL of an endpoint, as far as it can be judged before a connection is made. Its address is checked at each connection.
import type { BlockList } from 'node:net';
import { apiError } from '../api/errors.ts';
import { WEBHOOK_URL_LENGTH_MAX } from '../api/webhooks.ts';
import { NotReachable, requireReachable } from '../runtime/outbound/reachable.ts';

/**
 * Throws an ApiError for a URL that nothing can be posted to.
 *
 * @param networks private ones that may be reached, also without TLS
 */
export function checkedUrl(text: string, networks: BlockList | undefined): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isAllowed(url, networks) || !isPlain(url))
    throw refused(
      'url',
      'must be an `https` URL without a user name or a fragment (`#…`), such as https://example.com/voxgate.',
    );
  return reachable(url, networks, 'url').href;
}

/**
 * The same for one that a client names for one job: it may have a user name and a password, which are sent as `Authorization`, and
 * a fragment, which is not sent.
 *
 * @param param what the client calls it
 */
export function checkedCallbackUrl(text: string, networks: BlockList | undefined, param: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isAllowed(url, networks))
    throw refused(param, 'must be an `https` URL, such as https://example.com/voxgate.');
  if (url.href.length > WEBHOOK_URL_LENGTH_MAX)
    throw refused(
      param,
      `has ${url.href.length} characters as a URL. It may have ${WEBHOOK_URL_LENGTH_MAX}: send a shorter one.`,
    );
  return reachable(url, networks, param).href;
}

const isAllowed = ({ protocol }: URL, networks: BlockList | undefined): boolean =>
  protocol === 'https:' || (protocol === 'http:' && networks !== undefined);

const isPlain = ({ username, password, hash }: URL): boolean => username === '' && password === '' && hash === '';

function reachable(url: URL, networks: BlockList | undefined, param: string): URL {
  try {
    requireReachable(url, networks);
    url.hash = '';
    return url;
  } catch (error) {
    if (!(error instanceof NotReachable)) throw error;
    throw refused(param, 'is in a private or reserved network. Send the URL of a server on the Internet.');
  }
}

const refused = (param: string, message: string) => apiError('invalid_request', `\`${param}\` ${message}`, { param });
