// IP addresses and networks: lists of them, such as those of trusted proxies, and the network that a client's address stands for.
import { BlockList, isIP, isIPv6 } from 'node:net';

const NETWORKS_MAX = 256;

/** The addresses and networks of a text such as `10.0.0.0/8, 192.0.2.7, fd00::/8`; undefined when any of it is something else. */
export function parseNetworks(text: string): BlockList | undefined {
  const members = text.split(',').map((member) => member.trim());
  if (members.length > NETWORKS_MAX) return undefined;
  const list = new BlockList();
  return members.every((member) => addNetwork(list, member)) ? list : undefined;
}

/** Whether an address is in such a list. */
export function isWithin(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, family(version));
}

function addNetwork(list: BlockList, member: string): boolean {
  const [address = '', length, ...rest] = member.split('/');
  const version = isIP(address);
  // An address with a zone means something on one machine only.
  if (version === 0 || rest.length > 0 || address.includes('%')) return false;
  if (length === undefined) {
    list.addAddress(address, family(version));
    return true;
  }
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : 0;
  // Length 0 is everybody, and would let every client say who it is.
  if (bits === 0 || bits > (version === 4 ? 32 : 128)) return false;
  list.addSubnet(address, bits, family(version));
  return true;
}

const family = (version: number): 'ipv4' | 'ipv6' => (version === 4 ? 'ipv4' : 'ipv6');

/** Groups of an IPv6 address that name the network; the rest are the subscriber's own. */
const NETWORK_GROUPS = 4;

/**
 * The network that one subscriber has: one IPv4 address, or the 2^64 IPv6 addresses that share the first half,
 * `2001:db8:1:2::/64`. Other texts stay as they are.
 */
export function networkOf(address: string): string {
  const plain = address.split('%')[0]!;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // Dots at the end stand for two groups, but never for one of the first four.
  const missing = tail === undefined ? 0 : 8 - before.length - after.length - (plain.includes('.') ? 1 : 0);
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...after];
  return `${groups
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
