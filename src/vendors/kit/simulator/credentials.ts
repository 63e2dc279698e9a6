// Who is let in by a simulated service: the keys that are refused, and how.
import type { SimulatedAnswer } from '../simulation.ts';
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

export const refuseInDetail = (status: number, detail: string): SimulatedAnswer => ({ status, body: { detail } });

export const faultInDetail = ({ kind, member, message }: Pick<ValueFault, 'kind' | 'member' | 'message'>) => ({
  status: 422,
  body: { detail: [{ loc: ['body', ...member.split('.')], msg: message, type: kind }] },
});
