// Idempotency keys: who works under one, and what the first request was answered. Bodies are sealed before they come here, and
// of the key itself only a hash is kept. When an attempt counts as done is decided by the edge.
import { member, type Operations, writes } from '../operation.ts';

/** One request under an idempotency key. */
export interface IdempotencyAttempt {
  /** Keys are the organisation's: the same text under another one is another key. */
  organisationId: string;
  /** SHA-256 of the key. */
  keyHash: Uint8Array;
  /** The request's own id. */
  attemptId: string;
}

/** What became of a claim. */
export type IdempotencyClaim =
  /**
   * The key is the attempt's for the time of the lease. `chargeId`: the id to charge under. It is the attempt's own, or that of
   * the first who had the key and let the lease run out, as when its process was killed: that one may have been charged.
   */
  | { state: 'claimed'; chargeId: string }
  /** Another attempt has it, for so long unless it is renewed. */
  | { state: 'running'; leaseMs: number }
  | IdempotencyAnswer;

/** What the first request was answered; `sealed` is null when that was too large to be kept, or had to make room. */
export interface IdempotencyAnswer {
  state: 'done';
  attemptId: string;
  /** SHA-256 of the request. */
  fingerprint: Uint8Array;
  sealed: Uint8Array | null;
}

export interface IdempotencyCalls {
  /** Gives a free key to the attempt; forgets a few of those whose time is over. Throws `not_found` for the organisation. */
  claimIdempotency(attempt: IdempotencyAttempt, leaseMs: number): IdempotencyClaim;
  /** False when the key is the attempt's no more. */
  renewIdempotency(attempt: IdempotencyAttempt, leaseMs: number): boolean;
  /**
   * Keeps the answer for 24 hours from the claim on; the oldest answers of the organisation make room. False, and nothing is
   * kept, when the key is the attempt's no more.
   */
  finishIdempotency(attempt: IdempotencyAttempt, fingerprint: Uint8Array, sealed: Uint8Array): boolean;
  /** Nothing came of the attempt: the key is free. */
  releaseIdempotency(attempt: IdempotencyAttempt): void;
  /** Ends the leases of all attempts that began by then: no process that works on them is left. What they charge under stays. */
  endIdempotency(claimedUntilMs: number): number;
}

export const IDEMPOTENCY_OPERATIONS = {
  endIdempotency: writes(),
  claimIdempotency: writes(member('object', 'number')),
  renewIdempotency: writes(member('object', 'number')),
  finishIdempotency: writes(member('object', 'bytes', 'bytes')),
  releaseIdempotency: writes(member('object')),
} as const satisfies Operations<IdempotencyCalls>;
