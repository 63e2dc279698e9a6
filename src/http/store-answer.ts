// What a client hears when the store cannot answer: that it may ask again, and nothing of the cause, which is for the log.
import { apiError } from '../api/errors.ts';
import { StoreError, type StoreErrorReason } from '../store/store-error.ts';

const IN_PASSING: readonly StoreErrorReason[] = ['overflow', 'busy', 'superseded', 'failed', 'closed', 'unreachable'];

/** The answer of the store. Throws the ApiError `ledger_unavailable` where it has none. */
export async function fromLedger<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof StoreError && IN_PASSING.includes(error.reason))) throw error;
    const refusal = apiError('ledger_unavailable', 'The ledger does not answer just now. Try again in a moment.', {
      retryAfterSeconds: 1,
    });
    throw Object.assign(refusal, { cause: error });
  }
}
