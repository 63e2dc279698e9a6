// The URL of an endpoint, as far as it can be judged before a connection is made. Its address is checked at each connection.
import type { BlockList } from 'node:net';
import { apiError } from '../api/errors.ts';
import { NotReachable, requireReachable } from '../runtime/outbound/reachable.ts';

/**
 * Throws an ApiError for a URL that nothing can be posted to.
 *
 * @param networks private ones that may be reached, also without TLS
 */
export function checkedUrl(text: string, networks: BlockList | undefined): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isAllowed(url, networks !== undefined))
    throw refused('`url` must be an `https` URL without a user name, such as https://example.com/voxgate.');
  try {
    requireReachable(url, networks);
  } catch (error) {
    if (!(error instanceof NotReachable)) throw error;
    throw refused('`url` is in a private or reserved network. Send the URL of a server on the Internet.');
  }
  return url.href;
}

const isAllowed = ({ protocol, username, password, hash }: URL, hasNetworks: boolean): boolean =>
  (protocol === 'https:' || (protocol === 'http:' && hasNetworks)) && username === '' && password === '' && hash === '';

const refused = (message: string) => apiError('invalid_request', message, { param: 'url' });
