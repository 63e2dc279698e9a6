// Where the gateway connects to at a customer's request: webhooks, audio by URL. Never into the operator's own network, by whatever
// name or address, unless the operator has listed it. Names are checked after their lookup, at each connection.
import { type LookupAddress, type LookupAllOptions, lookup as lookUp } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isWithin } from '../network-addresses.ts';

/** A host that is private or reserved, or that is not on the Internet at all. */
export class NotReachable extends Error {
  override readonly name = 'NotReachable';

  constructor(hostname: string) {
    super(`${hostname} is not an address that customers may have requests sent to.`);
  }
}

/** IPv4 that is not of the Internet at large. https://www.iana.org/assignments/iana-ipv4-special-registry */
const SPECIAL: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
/** Of IPv6 only this is of the Internet, without documentation and what carries IPv4 addresses inside. */
const GLOBAL_IPV6: readonly [string, number] = ['2000::', 3];
const SPECIAL_IPV6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const listOf = (networks: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList();
  for (const [network, bits] of networks) list.addSubnet(network, bits, family);
  return list;
};
const special = listOf(SPECIAL, 'ipv4');
const global6 = listOf([GLOBAL_IPV6], 'ipv6');
const special6 = listOf(SPECIAL_IPV6, 'ipv6');

/** @param networks of the operator's own: the only ones that are reached without TLS */
export function isReachable(address: string, networks: BlockList | undefined, isTls: boolean): boolean {
  if (networks !== undefined && isWithin(networks, address)) return true;
  if (!isTls) return false;
  return isIP(address) === 4
    ? !special.check(address, 'ipv4')
    : isIP(address) === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/** A lookup of all addresses of a name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * A lookup that finds reachable addresses only: the address that is checked is the one that the connection goes to. It is not called
 * for an address in the place of a name, which `requireReachable` checks.
 *
 * @param resolve that of the system when absent
 */
export const reachableLookup =
  (networks: BlockList | undefined, isTls: boolean, resolve: Resolve = lookUp): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      const [first] = error ? [] : found;
      if (first === undefined) return callback(error ?? new NotReachable(hostname), []);
      if (!found.every(({ address }) => isReachable(address, networks, isTls)))
        return callback(new NotReachable(hostname), []);
      if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };

/** Throws NotReachable for a URL whose host is an address that is not reachable. Names are left to the lookup. */
export function requireReachable({ protocol, hostname }: URL, networks: BlockList | undefined): void {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !isReachable(literal, networks, protocol === 'https:')) throw new NotReachable(literal);
}
