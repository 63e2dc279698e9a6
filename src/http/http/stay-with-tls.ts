// Tells browsers to come by TLS only, wherever TLS is: at this door, at a trusted proxy that says so, or at the URL under which
// the gateway is published. Of a request that came without it, browsers ignore the header (RFC 6797, 8.1).
import { isWithin, parseNetworks } from '../../runtime/networks.ts';
import type { DoorRequest } from '../door.ts';

export const STAY_WITH_TLS = { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } as const;

export interface TlsInFront {
  /** At this door, or at the public URL: for every request. */
  always: boolean;
  /** As in `VOXGATE_TRUSTED_PROXIES`; undefined for none. */
  trustedProxies: string | undefined;
}

/** The headers for the answer to a request, as its connection has it: not with the client's address in the place of its peer's. */
export function createStayWithTls({
  always,
  trustedProxies,
}: TlsInFront): (request: Pick<DoorRequest, 'headers' | 'remoteAddress'>) => Readonly<Record<string, string>> {
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
