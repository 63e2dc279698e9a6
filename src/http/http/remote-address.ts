// Whose request it is behind proxies: the address that limits count by and logs name. Proxies are believed when they are
// trusted by the configuration; `X-Forwarded-For` of other senders is ignored.
import { isIP } from 'node:net';
import { isWithin, parseNetworks } from '../../runtime/networks.ts';
import type { DoorRequest } from '../door.ts';
import { normaliseAddress } from './request-head.ts';

/**
 * A request with the client's address in the place of its peer's: the rightmost hop that is no trusted proxy. A hop that is no
 * address ends the search at the proxy that wrote it.
 *
 * @param trusted as in `VOXGATE_TRUSTED_PROXIES`; undefined for none
 */
export function createRemoteAddress(
  trusted: string | undefined,
): <Request extends DoorRequest>(request: Request) => Request {
  const proxies = trusted === undefined ? undefined : parseNetworks(trusted);
  if (proxies === undefined) return (request) => request;
  return (request) => {
    const hops = request.headers.get('x-forwarded-for')?.split(',') ?? [];
    let remoteAddress = request.remoteAddress;
    while (hops.length > 0 && isWithin(proxies, remoteAddress)) {
      const hop = addressOf(hops.pop()!.trim());
      if (hop === undefined) break;
      remoteAddress = hop;
    }
    return { ...request, remoteAddress };
  };
}

/** An address as proxies write it: some add the port, and brackets around IPv6. */
function addressOf(hop: string): string | undefined {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
  return isIP(bare) === 0 ? undefined : normaliseAddress(bare);
}
