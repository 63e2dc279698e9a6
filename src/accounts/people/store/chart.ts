// The account chart on the row of a person: what becomes of it when something happens, and what is to be done for that.
import { transition } from 'xstate';
import { type AccountEvent, accountMachine } from '../../../../machines/account.ts';
import type { AccountState } from './calls.ts';

/** Mails of one kind that one account gets in an hour. */
export const MAILS_PER_HOUR_MAX = 3;

export interface AccountOutcome {
  state: AccountState;
  /** Names of the chart's actions, in their order. Empty with an unchanged state: the event does nothing here. */
  actions: string[];
}

export function accountAfter(state: AccountState, event: AccountEvent): AccountOutcome {
  const before = accountMachine.resolveState({ value: state, context: { mailsPerHourMax: MAILS_PER_HOUR_MAX } });
  const [after, actions] = transition(accountMachine, before, event);
  return { state: after.value, actions: actions.map(({ type }) => type) };
}
