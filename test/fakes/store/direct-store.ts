// The store's calls on a database in memory, without the thread: each is answered later, like in the product, and in its order.
import { type AsynchronousCalls, CALL_NAMES, type CallName } from '../../../src/node/store/store.ts';
import { StoreError, type StoreErrorReason } from '../../../src/store/store-error.ts';
import { type LedgerRig, ledgerRig } from './ledger.ts';

export interface DirectStore extends LedgerRig {
  store: AsynchronousCalls;
  /** Calls of these names are rejected so while they stand here. */
  failing: Map<CallName, StoreErrorReason>;
}

/** @param file of the database; in memory when absent */
export function directStore(file?: string): DirectStore {
  const rig = ledgerRig(file);
  const failing: DirectStore['failing'] = new Map();
  const call = async (name: CallName, args: unknown[]): Promise<unknown> => {
    await Promise.resolve();
    const reason = failing.get(name);
    if (reason !== undefined) throw new StoreError(reason, `The call ${name} fails here.`);
    return structuredClone(Reflect.apply(rig.ledger[name] as (...args: unknown[]) => unknown, rig.ledger, args));
  };
  const entries = CALL_NAMES.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return { ...rig, failing, store: Object.fromEntries(entries) as AsynchronousCalls };
}
