// Where the events of calls may be posted to: addresses of the Internet, and those of the networks that the operator names. Asked
// of the address that is connected to, so that a name which points elsewhere a moment later gains nothing.
import { lookup as lookUp } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isWithin } from '../../runtime/network-addresses.ts';

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

/** @param networks of the operator's own */
export function isReachable(address: string, networks: BlockList | undefined, isTls: boolean): boolean {
  if (networks !== undefined && isWithin(networks, address)) return true;
  if (!isTls) return false;
  return isIP(address) === 4
    ? !special.check(address, 'ipv4')
    : isIP(address) === 6 && global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/** A lookup that finds reachable addresses only. */
export const reachableLookup =
  (networks: BlockList | undefined, isTls: boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, found) => {
      const [first] = error ? [] : found;
      if (first === undefined) return callback(error ?? notReachable(hostname), []);
      if (!found.every(({ address }) => isReachable(address, networks, isTls)))
        return callback(notReachable(hostname), []);
      if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };

export const notReachable = (hostname: string): Error =>
  new Error(`${hostname} is no address that events are posted to.`);
