// Idempotency keys: who works under one, and what the first request was answered. Bodies are sealed before they come here, and
// of the key itself only a hash is kept. When an attempt counts as done is decided by the edge.
import { type Asynchronous, member, type Operations, writes } from './operation.ts';
import type { Pieces } from './pieces.ts';
import { StoreError } from './store-error.ts';
import type { TableContext } from './table-context.ts';

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

/** What the first request was answered; `sealed` is null when that was too large to be kept, had to make room, or is in pieces. */
export interface IdempotencyAnswer {
  state: 'done';
  attemptId: string;
  /** SHA-256 of the request. */
  fingerprint: Uint8Array;
  sealed: Uint8Array | null;
  /** Of `answerContent(attemptId)`; 0 where it is not in pieces. Absent in older versions. */
  pieces?: number;
}

/** The content that an answer in pieces is. */
export const answerContent = (attemptId: string): string => `answer ${attemptId}`;

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
  /**
   * The same for an answer whose pieces were put as `answerContent` before. Throws `conflict` unless all of them are there, and
   * `invalid` when they are too large to be kept.
   */
  finishIdempotencyInPieces(attempt: IdempotencyAttempt, fingerprint: Uint8Array, pieces: number): boolean;
  /** Nothing came of the attempt: the key is free. */
  releaseIdempotency(attempt: IdempotencyAttempt): void;
  /** Ends the leases of all attempts that began by then: no process that works on them is left. What they charge under stays. */
  endIdempotency(claimedUntilMs: number): number;
}

export type IdempotencyStore = Asynchronous<IdempotencyCalls>;

export const IDEMPOTENCY_OPERATIONS = {
  endIdempotency: writes(),
  claimIdempotency: writes(member('object', 'number')),
  renewIdempotency: writes(member('object', 'number')),
  finishIdempotency: writes(member('object', 'bytes', 'bytes')),
  finishIdempotencyInPieces: writes(member('object', 'bytes', 'number')),
  releaseIdempotency: writes(member('object')),
} as const satisfies Operations<IdempotencyCalls>;

export interface IdempotencyLimits {
  /** How long a key is remembered, from its claim on. */
  keptMs: number;
  /** Largest sealed answer; of a larger one only that it was given is kept. */
  answerBytesMax: number;
  /** Of one organisation: keys, answers, and bytes of answers. The oldest make room; a key in work never does. */
  keysMax: number;
  answersMax: number;
  bytesMax: number;
  /** Keys that are over and go with each claim. */
  sweptMax: number;
}

const MIB = 1024 * 1024;
/** Answers are kept sealed, which takes a few bytes more. */
const SEAL_BYTES = 64;

export const IDEMPOTENCY_LIMITS: IdempotencyLimits = {
  keptMs: 24 * 60 * 60 * 1000,
  answerBytesMax: 4 * MIB + SEAL_BYTES,
  keysMax: 100_000,
  answersMax: 10_000,
  bytesMax: 256 * MIB,
  sweptMax: 20,
};

/** Longer than a lease, so that one that was renewed since the clock was put back is good. */
const AHEAD_MS_MAX = 120_000;

interface Row {
  number: number;
  attemptId: string;
  chargeId: string;
  expiresAtMs: number;
  leaseUntilMs: number | null;
  fingerprint: Uint8Array | null;
  sealed: Uint8Array | null;
  pieces: number;
}

interface Totals {
  keys: number;
  answers: number;
  bytes: number;
}

const own = 'WHERE organisation_id = @organisationId AND key_hash = @keyHash AND attempt_id = @attemptId';

export function createIdempotencyTables(
  { database, nowMs }: Pick<TableContext, 'database' | 'nowMs'>,
  pieces: Pick<Pieces, 'measurePieces' | 'takePieces'>,
  limits: IdempotencyLimits = IDEMPOTENCY_LIMITS,
): IdempotencyCalls {
  const hasOrganisation = database.prepare<[string], number>('SELECT 1 FROM organisations WHERE id = ?').pluck();
  const find = database.prepare<[string, Uint8Array], Row>(
    `SELECT number, attempt_id AS attemptId, charge_id AS chargeId, expires_at_ms AS expiresAtMs,
            lease_until_ms AS leaseUntilMs, fingerprint, sealed, pieces
     FROM idempotency_keys WHERE organisation_id = ? AND key_hash = ?`,
  );
  const insert = database.prepare<IdempotencyAttempt & Pick<Row, 'chargeId' | 'expiresAtMs' | 'leaseUntilMs'>>(
    `INSERT INTO idempotency_keys (organisation_id, key_hash, attempt_id, charge_id, expires_at_ms, lease_until_ms)
     VALUES (@organisationId, @keyHash, @attemptId, @chargeId, @expiresAtMs, @leaseUntilMs)`,
  );
  const renew = database.prepare<IdempotencyAttempt & { leaseUntilMs: number }>(
    `UPDATE idempotency_keys SET lease_until_ms = @leaseUntilMs ${own} AND fingerprint IS NULL`,
  );
  const release = database.prepare<IdempotencyAttempt>(
    `DELETE FROM idempotency_keys ${own} AND fingerprint IS NULL AND charge_id = attempt_id`,
  );
  const letGo = database.prepare<IdempotencyAttempt & { now: number }>(
    `UPDATE idempotency_keys SET lease_until_ms = @now ${own} AND fingerprint IS NULL`,
  );
  const endUntil = database.prepare<{ claimedUntilMs: number; keptMs: number; now: number }>(
    `UPDATE idempotency_keys SET lease_until_ms = @now
     WHERE lease_until_ms > @now AND expires_at_ms - @keptMs <= @claimedUntilMs`,
  );
  const remove = database.prepare<[number]>('DELETE FROM idempotency_keys WHERE number = ?');
  const sweep = database.prepare<{ now: number; limit: number }>(
    `DELETE FROM idempotency_keys WHERE number IN
       (SELECT number FROM idempotency_keys
        WHERE expires_at_ms <= @now AND (lease_until_ms IS NULL OR lease_until_ms <= @now)
        ORDER BY expires_at_ms, number LIMIT @limit)`,
  );
  const totals = database.prepare<[string], Totals>(
    'SELECT keys, answers, bytes FROM idempotency_totals WHERE organisation_id = ?',
  );
  const removeOldest = database.prepare<[string, number]>(
    `DELETE FROM idempotency_keys WHERE number IN
       (SELECT number FROM idempotency_keys WHERE organisation_id = ? AND fingerprint IS NOT NULL ORDER BY number LIMIT ?)`,
  );
  function claim(attempt: IdempotencyAttempt, leaseMs: number): IdempotencyClaim {
    const now = nowMs();
    const { organisationId, keyHash, attemptId } = attempt;
    if (hasOrganisation.get(organisationId) === undefined) {
      throw new StoreError('not_found', 'There is no such organisation.');
    }
    sweep.run({ now, limit: limits.sweptMax });
    const row = find.get(organisationId, keyHash);
    const holder = row === undefined ? undefined : holderOf(row, now, limits.keptMs);
    if (holder !== undefined) return holder;
    if (row !== undefined) remove.run(row.number);
    const { keys } = totals.get(organisationId) ?? { keys: 0 };
    if (keys >= limits.keysMax) removeOldest.run(organisationId, keys - limits.keysMax + 1);
    const chargeId = row?.fingerprint === null ? row.chargeId : attemptId;
    insert.run({ ...attempt, chargeId, expiresAtMs: now + limits.keptMs, leaseUntilMs: now + leaseMs });
    return { state: 'claimed', chargeId };
  }

  return {
    claimIdempotency: database.transaction(claim),
    renewIdempotency: (attempt, leaseMs) => renew.run({ ...attempt, leaseUntilMs: nowMs() + leaseMs }).changes === 1,
    ...keptAnswers(database, pieces, limits),
    releaseIdempotency(attempt) {
      // Under an earlier attempt's id something may have been charged, and the next attempt has to know it.
      if (release.run(attempt).changes === 0) letGo.run({ ...attempt, now: nowMs() });
    },
    endIdempotency: (claimedUntilMs) => endUntil.run({ claimedUntilMs, keptMs: limits.keptMs, now: nowMs() }).changes,
  };
}

function keptAnswers(
  database: TableContext['database'],
  { measurePieces, takePieces }: Pick<Pieces, 'measurePieces' | 'takePieces'>,
  limits: IdempotencyLimits,
): Pick<IdempotencyCalls, 'finishIdempotency' | 'finishIdempotencyInPieces'> {
  const finish = database.prepare<IdempotencyAttempt & { fingerprint: Uint8Array; sealed: Uint8Array | null }>(
    `UPDATE idempotency_keys SET lease_until_ms = NULL, fingerprint = @fingerprint, sealed = @sealed
     ${own} AND fingerprint IS NULL`,
  );
  const finishInPieces = database.prepare<
    IdempotencyAttempt & { fingerprint: Uint8Array; pieces: number; bytes: number }
  >(
    `UPDATE idempotency_keys SET lease_until_ms = NULL, fingerprint = @fingerprint, pieces = @pieces, piece_bytes = @bytes
     ${own} AND fingerprint IS NULL`,
  );
  const totals = database.prepare<[string], Totals>(
    'SELECT keys, answers, bytes FROM idempotency_totals WHERE organisation_id = ?',
  );
  const emptyOldest = database.prepare<[string]>(
    `UPDATE idempotency_keys SET sealed = NULL, pieces = 0, piece_bytes = 0 WHERE number =
       (SELECT number FROM idempotency_keys WHERE organisation_id = ? AND (sealed IS NOT NULL OR pieces > 0)
        ORDER BY number LIMIT 1)`,
  );

  function keep(attempt: IdempotencyAttempt, fingerprint: Uint8Array, sealed: Uint8Array): boolean {
    const isSmall = sealed.length <= limits.answerBytesMax;
    if (finish.run({ ...attempt, fingerprint, sealed: isSmall ? sealed : null }).changes === 0) return false;
    makeRoom(attempt.organisationId);
    return true;
  }

  function keepPieces(attempt: IdempotencyAttempt, fingerprint: Uint8Array, pieces: number): boolean {
    const { organisationId } = attempt;
    const content = answerContent(attempt.attemptId);
    const bytes = measurePieces(organisationId, content, pieces);
    if (bytes > limits.answerBytesMax) {
      throw new StoreError('invalid', `The answer has ${bytes} bytes. Up to ${limits.answerBytesMax} are kept.`);
    }
    // Otherwise the pieces expire.
    if (finishInPieces.run({ ...attempt, fingerprint, pieces, bytes }).changes === 0) return false;
    takePieces(organisationId, content);
    makeRoom(organisationId);
    return true;
  }

  function makeRoom(organisationId: string): void {
    for (;;) {
      const { answers, bytes } = totals.get(organisationId) as Totals;
      if (answers <= limits.answersMax && bytes <= limits.bytesMax) return;
      emptyOldest.run(organisationId);
    }
  }

  return {
    finishIdempotency: database.transaction(keep),
    finishIdempotencyInPieces: database.transaction(keepPieces),
  };
}

/** What stands in the way of a claim: a key whose day or whose lease is over does not. */
function holderOf(row: Row, now: number, keptMs: number): IdempotencyClaim | undefined {
  const { fingerprint, sealed, pieces, attemptId, expiresAtMs, leaseUntilMs } = row;
  if (fingerprint !== null) {
    return expiresAtMs > now ? { state: 'done', attemptId, fingerprint, sealed, pieces } : undefined;
  }
  const leaseMs = (leaseUntilMs as number) - now;
  // Taken before the clock was put back, and not renewed since.
  const isAhead = Math.min(expiresAtMs - keptMs, leaseUntilMs as number) > now + AHEAD_MS_MAX;
  return leaseMs > 0 && !isAhead ? { state: 'running', leaseMs } : undefined;
}
