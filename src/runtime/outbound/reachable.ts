// Where the gateway connects to at a customer's request: webhooks, audio by URL. Never into the operator's own network, by whatever
// name or address, unless the operator has listed it. Names are checked after their lookup, at each connection.
import { type LookupAddress, type LookupAllOptions, lookup as lookUp } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { codeOf } from '../error-code.ts';
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

/** Of one try. A server that does not answer is asked twice. */
const DNS_MS = 2_000;
const DNS_TRIES = 2;
const THIS_MACHINE = /(?:^|\.)localhost\.?$/i;

/**
 * Asks DNS without a thread. Lookups of the system share two of the process's threads: two names that are answered late would
 * delay every connection to a provider. Files of the machine such as `/etc/hosts` are not read.
 *
 * @param servers those of the system when absent
 */
export const internetLookup =
  (servers?: readonly string[]): Resolve =>
  (hostname, _, callback) => {
    if (THIS_MACHINE.test(hostname)) return void setImmediate(callback, new NotReachable(hostname), []);
    // For each lookup: the servers of the system may have changed.
    const resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const addresses = async (family: 4 | 6) =>
      (await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname))).map((address) => ({
        address,
        family,
      }));
    void Promise.allSettled([addresses(4), addresses(6)]).then(([four, six]) => {
      const found = [four, six].flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      if (found.length > 0) return callback(null, found);
      const codes = [four, six].map((each) => (each.status === 'rejected' ? codeOf(each.reason) : ''));
      const isUnknown = codes.every((code) => code === 'ENOTFOUND' || code === 'ENODATA');
      const error = new Error(`No address was found for ${hostname}.`);
      callback(Object.assign(error, { code: isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN' }), []);
    });
  };

/** Names of an operator's own network may be known to the system alone. */
const lookupWithin = (networks: BlockList | undefined): Resolve => (networks === undefined ? internetLookup() : lookUp);

/**
 * A lookup that finds reachable addresses only: the address that is checked is the one that the connection goes to. It is not called
 * for an address in the place of a name, which `requireReachable` checks.
 *
 * @param resolve by DNS when absent, or by the system where there are private networks
 */
export const reachableLookup =
  (networks: BlockList | undefined, isTls: boolean, resolve: Resolve = lookupWithin(networks)): LookupFunction =>
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
