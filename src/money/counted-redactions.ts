// What was redacted in a time, by class, as usage shows it.
import { StoreError } from '../store/store-error.ts';
import type { LedgerStore, Redactions } from './store/calls.ts';

/** Empty where the node that owns the accounts is of a version that does not count them. Rejects as the store does. */
export async function countedRedactions(
  store: Pick<LedgerStore, 'redactionsOf'>,
  query: Parameters<LedgerStore['redactionsOf']>[0],
): Promise<Redactions> {
  try {
    return await store.redactionsOf(query);
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'invalid') return {};
    throw error;
  }
}
