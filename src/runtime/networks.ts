// Lists of IP addresses and networks, such as those of trusted proxies: how they are written. What they are trusted with is
// decided where they are used.
import { BlockList, isIP } from 'node:net';

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
