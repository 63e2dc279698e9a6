// Holds of sessions and files on organisations' own provider keys: they count under ceilings on spend, and take no credit. Each
// session has at most one, which ends with its lease. Runs in the caller's transaction.

import type { TableContext } from '../../store/table-context.ts';
import type { HoldGrant, HoldRequest, Leases } from './calls.ts';
import type { LedgerCeilings } from './ceilings.ts';
import { AHEAD_MS_MAX, type HeldBefore, keeping, keptOf, type Payer, providersIn, withinCeilings } from './holds.ts';
import type { SessionRow } from './postings.ts';

export interface OwnHolds extends Leases {
  /** What may be held now; of what was held before, as much as is wanted. Nothing where no ceiling is set. */
  offer(payer: Payer, request: HoldRequest, before: HeldBefore): HoldGrant;
  hold(session: SessionRow, grant: Pick<HoldGrant, 'heldMicroUsd' | 'providers'>, leaseMs: number): void;
  /** Ends the session's hold, if it has one. Returns what is left of it after what was counted since, and for which providers. */
  end(session: Pick<SessionRow, 'number'>, countedMicroUsd: bigint): HeldBefore;
  /** What all lines of the session count for. */
  countedOf(session: Pick<SessionRow, 'number'>): bigint;
  /** Those whose lease is over. Returns how many, as the next two do. */
  expire(): number;
  endMadeUntil(madeUntilMs: number): number;
  /** Of sessions whose ids are between the two. */
  endOfNode(fromId: string, toId: string): number;
}

const NOTHING: HeldBefore = { microUsd: 0n, providers: undefined };

export function createOwnHolds({ database, nowMs }: TableContext, ceilings: LedgerCeilings): OwnHolds {
  const insert = database.prepare<[number, string, string, bigint, string, number, number]>(
    `INSERT INTO own_holds (session, organisation_id, key_id, micro_usd, providers, made_at_ms, lease_end_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const held = database
    .prepare<[number], { microUsd: bigint; providers: string }>(
      'SELECT micro_usd AS microUsd, providers FROM own_holds WHERE session = ?',
    )
    .safeIntegers();
  const countedIn = database
    .prepare<[number], bigint>('SELECT coalesce(sum(counted_micro_usd), 0) FROM session_lines WHERE session = ?')
    .pluck()
    .safeIntegers();
  const remove = database.prepare<[number]>('DELETE FROM own_holds WHERE session = ?');
  const expire = database.prepare<[number, number]>('DELETE FROM own_holds WHERE lease_end_ms <= ? OR made_at_ms > ?');
  const endMadeUntil = database.prepare<[number]>('DELETE FROM own_holds WHERE made_at_ms <= ?');
  const endOfNode = database.prepare<[string, string]>(
    'DELETE FROM own_holds WHERE session IN (SELECT number FROM sessions WHERE id > ? AND id < ?)',
  );
  const nextEnd = database.prepare<[], number | null>('SELECT min(lease_end_ms) FROM own_holds').pluck();
  const lastMade = database.prepare<[], number | null>('SELECT max(made_at_ms) FROM own_holds').pluck();

  return {
    offer(payer, request, before) {
      const { wantedMicroUsd } = request;
      const whole: HoldGrant = { heldMicroUsd: wantedMicroUsd, limitedBy: null };
      if (wantedMicroUsd === 0n) return whole;
      let grant = withinCeilings(ceilings, payer, request, whole);
      const kept = keptOf(request, grant, before);
      if (kept > grant.heldMicroUsd) grant = keeping(kept, payer, request, grant, before);
      const isTooLittle =
        grant.heldMicroUsd < 0n || (grant.limitedBy !== null && grant.heldMicroUsd < request.leastMicroUsd);
      return isTooLittle ? { ...grant, heldMicroUsd: 0n } : grant;
    },
    hold({ number, organisationId, keyId }, { heldMicroUsd, providers = [] }, leaseMs) {
      if (heldMicroUsd === 0n) return;
      const now = nowMs();
      const names = ` ${providers.join(' ')} `;
      insert.run(number, organisationId, keyId, heldMicroUsd, names, now, now + leaseMs);
    },
    end({ number }, counted) {
      const row = held.get(number);
      if (row === undefined) return NOTHING;
      remove.run(number);
      const microUsd = counted > row.microUsd ? 0n : row.microUsd - counted;
      return { microUsd, providers: providersIn(row.providers) };
    },
    countedOf: ({ number }) => countedIn.get(number)!,
    expire: () => expire.run(nowMs(), nowMs() + AHEAD_MS_MAX).changes,
    endMadeUntil: (madeUntilMs) => endMadeUntil.run(madeUntilMs).changes,
    endOfNode: (fromId, toId) => endOfNode.run(fromId, toId).changes,
    nextLeaseEndMs(now) {
      const next = nextEnd.get() ?? undefined;
      return next !== undefined && (lastMade.get() ?? 0) > now + AHEAD_MS_MAX ? now : next;
    },
  };
}
