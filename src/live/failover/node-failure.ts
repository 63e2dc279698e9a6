// Which failures of a dial may be the doing of the node that has dialled: its network, its credential, its build. Such a leg is
// tried on another node, and is no news of the provider before a second node has met the same.
import type { LegFailure } from '../../../machines/events.ts';

const CODES: ReadonlySet<string> = new Set([
  ...['unreachable', 'handshake_failed', 'connect_timeout'],
  ...['own_key_unavailable', 'internal_fault'],
]);

/** `ownKey`: the credential is the customer's own, and the same on every node. */
export const mayBeOfNode = ({ kind, code = '' }: Partial<LegFailure>, ownKey: boolean): boolean =>
  CODES.has(code) || (kind === 'account' && !ownKey);
