// What is to be done outside the database because of a commit: written in the same transaction, done at least once. Mail is.
import { type Operations, reads, writes } from '../operation.ts';

export interface OutboxMessage {
  number: number;
  /** `mail.verification`, `mail.password-reset`, … */
  type: string;
  params: Readonly<Record<string, unknown>>;
  /** 1 at the first attempt. */
  attempt: number;
}

export interface OutboxCalls {
  /** Messages that are due, oldest first; no other process gets them for the time of the lease. */
  takeOutbox(limit: number, leaseMs: number): OutboxMessage[];
  /** Done (null), or to be tried again after so many milliseconds. What it was about is forgotten when it is done. */
  endOutbox(number: number, retryAfterMs: number | null): void;
  /** When the first message is due, in epoch milliseconds; undefined when there is none. For a caller that sets a timer instead of polling. */
  nextOutboxDueMs(): number | undefined;
}

export const OUTBOX_OPERATIONS = {
  takeOutbox: writes(),
  endOutbox: writes(),
  nextOutboxDueMs: reads(),
} as const satisfies Operations<OutboxCalls>;
