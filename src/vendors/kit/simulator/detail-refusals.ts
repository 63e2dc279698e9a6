// How services word a refusal that are made with FastAPI: a sentence, or the member of the request that is wrong.
import type { SimulatedAnswer } from '../../simulation.ts';
import type { ValueFault } from './checks.ts';

export const refuseInDetail = (status: number, detail: string): SimulatedAnswer => ({ status, body: { detail } });

export const faultInDetail = ({ kind, member, message }: Pick<ValueFault, 'kind' | 'member' | 'message'>) => ({
  status: 422,
  body: { detail: [{ loc: ['body', ...member.split('.')], msg: message, type: kind }] },
});
