// The errors of calls to the node that keeps the accounts, as the store's own.

import { StoreError, type StoreErrorReason } from '../../store/store-error.ts';
import type { BusError } from '../bus/bus.ts';

/** The message for a node with another secret than the others. */
export const FOREIGN =
  'The node that keeps the accounts cannot read what this node says: give all nodes the same VOXGATE_SECRET, and while it is changed the one before as VOXGATE_SECRET_PREVIOUS.';

export const unreadable = () =>
  new StoreError('unreachable', 'What answered for the node that keeps the accounts could not be understood.');

const REASONS: Partial<Record<BusError['reason'], StoreErrorReason>> = {
  overflow: 'overflow',
  handler_failed: 'failed',
};

export function storeErrorOf({ reason, message }: BusError): StoreError {
  return new StoreError(REASONS[reason] ?? 'unreachable', message, { isUnsent: reason === 'unknown_actor' });
}
