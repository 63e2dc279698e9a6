// What trusted proxies say of a request: the address of its client, which limits count by and logs name, and whether it came by TLS.
// Proxies are believed when the configuration trusts them; the headers of other senders are ignored.
import { isIP } from 'node:net';
import { isWithin, parseNetworks } from '../runtime/network-addresses.ts';
import { normaliseAddress } from './request-head.ts';
import type { ServerRequest } from './server.ts';

/**
 * A request with the client's address in the place of its peer's: the rightmost hop that is not a trusted proxy. A hop that is no
 * address ends the search at the proxy that wrote it.
 *
 * @param trusted as in `VOXGATE_TRUSTED_PROXIES`; undefined for none
 */
export function createRemoteAddress(
  trusted: string | undefined,
): <Request extends ServerRequest>(request: Request) => Request {
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

export const STAY_WITH_TLS = { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } as const;

export interface TlsInFront {
  /** At this server, or at the public URL: for every request. */
  always: boolean;
  /** As in `VOXGATE_TRUSTED_PROXIES`; undefined for none. */
  trustedProxies: string | undefined;
}

/** The headers for the answer to a request, as its connection has it: not with the client's address in the place of its peer's. */
export function createStayWithTls({
  always,
  trustedProxies,
}: TlsInFront): (request: Pick<ServerRequest, 'headers' | 'remoteAddress'>) => Readonly<Record<string, string>> {
  if (always) return () => STAY_WITH_TLS;
  const proxies = trustedProxies === undefined ? undefined : parseNetworks(trustedProxies);
  if (proxies === undefined) return () => NOTHING;
  return ({ headers, remoteAddress }) => {
    // The nearest proxy writes the last one.
    const said = headers.get('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase();
    return said === 'https' && isWithin(proxies, remoteAddress) ? STAY_WITH_TLS : NOTHING;
  };
}

const NOTHING = {};
