// Client tokens for one use: which were used. The time of the entry decides, so that clocks of nodes do not matter.
import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { KeyCalls } from './calls.ts';

/** A node whose clock is late may accept a token after its end; one that is over for longer is refused here. */
const KEPT_MS = 3_600_000;
/** No token lives as long. One of a node whose clock is ahead is kept no longer. */
const AHEAD_MS_MAX = 86_400_000;
const ID_LENGTH_MAX = 100;
/** Expired ones that are removed with each use. */
const REMOVED_MAX = 100;

export function createRedeemedTokens({
  database,
  nowMs,
}: Pick<TableContext, 'database' | 'nowMs'>): KeyCalls['redeemToken'] {
  const removeOld = database.prepare<[number, number]>(
    `DELETE FROM redeemed_tokens WHERE (organisation_id, token_id) IN (SELECT organisation_id, token_id FROM redeemed_tokens
       WHERE expires_at_ms < ? ORDER BY expires_at_ms, organisation_id, token_id LIMIT ?)`,
  );
  const insert = database.prepare<[string, string, number]>(
    'INSERT INTO redeemed_tokens (organisation_id, token_id, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const redeem = database.transaction((organisationId: string, tokenId: string, expiresAtMs: number): boolean => {
    const now = nowMs();
    if (!Number.isSafeInteger(expiresAtMs) || tokenId.length < 1 || tokenId.length > ID_LENGTH_MAX)
      throw new StoreError(
        'invalid',
        'A client token has an id of 1 to 100 characters, and ends at a whole millisecond.',
      );
    removeOld.run(now - KEPT_MS, REMOVED_MAX);
    if (expiresAtMs < now - KEPT_MS) return false;
    return insert.run(organisationId, tokenId, Math.min(expiresAtMs, now + AHEAD_MS_MAX)).changes === 1;
  });
  return (organisationId, tokenId, expiresAtMs) => redeem.immediate(organisationId, tokenId, expiresAtMs);
}
