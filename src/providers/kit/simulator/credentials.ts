// Who is let in by a simulated service: the keys that are refused, and where a request carries its key.
import type { SimulatedRequest } from '../../simulation.ts';

/** Why a key is refused: there is none, it is wrong, its account has no credit, or it is used too often. */
export type KeyFault = 'missing' | 'bad' | 'broke' | 'limited';

/** Any key is good but those whose first letters say otherwise. */
export function keyFault(key: string | undefined): KeyFault | undefined {
  if (key === undefined || key.trim() === '') return 'missing';
  return (['bad', 'broke', 'limited'] as const).find((fault) => key.startsWith(fault));
}

/** The key in `Authorization: <scheme> <key>`. */
export function authorizationOf({ headers }: SimulatedRequest, ...schemes: readonly string[]): string | undefined {
  const [scheme = '', key] = (headers.authorization ?? '').split(/\s+/);
  return schemes.includes(scheme.toLowerCase()) ? key : undefined;
}

/** The subprotocols that are offered: browsers cannot set headers, and send keys among these. */
export const subprotocolsOf = ({ headers }: SimulatedRequest): string[] =>
  (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
