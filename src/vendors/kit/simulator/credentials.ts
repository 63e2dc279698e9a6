// Who is let in by a simulated service: the keys that are refused, and where a request carries its key.
import type { SimulatedAnswer, SimulatedRequest } from '../simulation.ts';
import type { ValueFault } from './checks.ts';

/** Why a key is refused: there is none, it is wrong, its account has no credit, or it is used too often. */
export type KeyFault = 'missing' | 'bad' | 'broke' | 'limited';

/** Any key is good but those whose first letters say otherwise. */
export function keyFault(key: string | undefined): KeyFault | undefined {
  if (key === undefined || key.trim() === '') return 'missing';
  return (['bad', 'broke', 'limited'] as const).find((fault) => key.startsWith(fault));
}

/** How most services refuse a key; undefined where it is let in. `broke` is the status of an account without credit. */
export function keyRefusal(
  key: string | undefined,
  refusal: (status: number) => SimulatedAnswer,
  broke = 403,
): SimulatedAnswer | undefined {
  const fault = keyFault(key);
  return fault && refusal(fault === 'limited' ? 429 : fault === 'broke' ? broke : 401);
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

export const refuseInDetail = (status: number, detail: string): SimulatedAnswer => ({ status, body: { detail } });

export const faultInDetail = ({ kind, member, message }: Pick<ValueFault, 'kind' | 'member' | 'message'>) => ({
  status: 422,
  body: { detail: [{ loc: ['body', ...member.split('.')], msg: message, type: kind }] },
});
