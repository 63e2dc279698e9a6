// Which network a client's address stands for: what one subscriber has is counted as one.
import { isIPv6 } from 'node:net';

/** Groups of an IPv6 address that name the network; the rest are the subscriber's own. */
const NETWORK_GROUPS = 4;

/** One IPv4 address, or the 2^64 IPv6 addresses that share the first half: `2001:db8:1:2::/64`. Other texts stay as they are. */
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
