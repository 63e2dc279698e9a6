// Does a call of an operator's command at most once: which calls these are, and the answer that is kept.
import type { EntryContext } from '../../store/entry.ts';
import { createOperatorAnswers, type OperatorCalls } from '../../store/operator-calls.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TableBase } from '../../store/table-base.ts';
import { type CallName, isCallName, kindOf, type TableCalls } from './store.ts';

/** Of the node itself, not of its operators. */
const OF_NODES: readonly CallName[] = ['operate', 'claimOwnership', 'noteLedger', 'acceptLedger', 'markContent'];

/** Whether an operator's command may make this call on the node that owns the accounts. */
export const mayOperate = (name: string): name is CallName =>
  isCallName(name) && ['writes', 'notes'].includes(kindOf(name)) && !OF_NODES.includes(name);

export function createOperate(
  base: TableBase,
  { beginCall }: Pick<EntryContext, 'beginCall'>,
  tables: () => TableCalls,
): OperatorCalls {
  const answers = createOperatorAnswers(base);
  return {
    operate({ id, name, args, drawn }) {
      const known = answers.find(id);
      if (known !== undefined) return known[0];
      if (!mayOperate(name)) throw new StoreError('invalid', `${JSON.stringify(name)} is not a call of an operator.`);
      beginCall(drawn);
      const answer = Reflect.apply(tables()[name] as (...values: unknown[]) => unknown, tables(), args);
      answers.keep(id, answer);
      return answer;
    },
  };
}
