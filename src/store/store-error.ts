// Why a call to the store was rejected.

/**
 * - `cannot_open`: the file or its directory cannot be used; the message says what to do
 * - `overflow`: too many calls are waiting
 * - `busy`: another process holds the write lock for longer than the store waits
 * - `not_found`, `invalid`, `conflict`: the call itself names something that is not there, out of range, or taken
 * - `superseded`: another process owns the database since; this one may not write to it any more
 * - `insufficient_credit`, `daily_spend`: there is less money than the call asks for at least
 * - `failed`: the disk, the file or the thread failed
 * - `closed`: the store was closed
 * - `unreachable`: the node that keeps the store did not answer; it is not known whether the call was applied
 */
export type StoreErrorReason =
  | 'cannot_open'
  | 'overflow'
  | 'busy'
  | 'not_found'
  | 'invalid'
  | 'conflict'
  | 'superseded'
  | 'insufficient_credit'
  | 'daily_spend'
  | 'failed'
  | 'closed'
  | 'unreachable';

/** A call that changed nothing, unless the reason is `unreachable` and it was sent. The message is one sentence without secrets. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;
  /** The call did not leave this node, or no node took it: it was certainly not applied. */
  readonly isUnsent: boolean;

  constructor(reason: StoreErrorReason, message: string, { isUnsent = false } = {}) {
    super(message);
    this.reason = reason;
    this.isUnsent = isUnsent;
  }
}

export function noOrganisation(id: string): StoreError {
  const shown = JSON.stringify(id.slice(0, 50));
  return new StoreError('not_found', `There is no organisation ${shown}; voxgate orgs list shows them.`);
}
