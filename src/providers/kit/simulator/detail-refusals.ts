// How services that are made with FastAPI say which member of a request is wrong.
import type { ValueFault } from './checks.ts';

export const faultInDetail = ({ kind, member, message }: Pick<ValueFault, 'kind' | 'member' | 'message'>) => ({
  status: 422,
  body: { detail: [{ loc: ['body', ...member.split('.')], msg: message, type: kind }] },
});
