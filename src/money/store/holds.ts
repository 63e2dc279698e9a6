// Holds: money put aside for an open session, never more than there is, given back when its lease is over. Each session has at
// most one. Everything but expireHolds and endHolds runs in the caller's transaction.

import type { TableContext } from '../../store/table-context.ts';
import type { HoldGrant, HoldRequest, Leases, LedgerCalls } from './calls.ts';
import type { SessionRow } from './postings.ts';
import type { LedgerTransfers } from './transfers.ts';

export interface LedgerHolds extends Leases, Pick<LedgerCalls, 'expireHolds' | 'endHolds'> {
  /** What a hold may be now: nothing below `leastMicroUsd`, and of what was held before, as much as is wanted. */
  offer(organisationId: string, keyId: string, request: HoldRequest, heldBeforeMicroUsd?: bigint): HoldGrant;
  /** What is held for the session, 0 once the lease is over. */
  heldOf(session: SessionRow): bigint;
  /** Makes the hold that was offered; nothing for 0. */
  hold(session: SessionRow, microUsd: bigint, leaseMs: number, heldBeforeMicroUsd?: bigint): void;
  /** Makes the hold of a session that never had one and whose charge is certain, where none can be refused; it ends with the charge. */
  holdLate(session: SessionRow, microUsd: bigint): void;
  /** Ends the session's hold, if it has one: post when something was posted, void otherwise. Returns what was held. */
  end(session: SessionRow, postedMicroUsd: bigint): bigint;
}

interface OpenHold {
  session: bigint;
  hold: bigint;
  organisationId: string;
  keyId: string;
  microUsd: bigint;
}

const DAY_LENGTH = 10;
/**
 * A hold that was made so long after now was made before the clock was put back, and the end of its lease is not known: it
 * is over now. Who still needs it makes another within half a lease.
 */
const AHEAD_MS_MAX = 60_000;
/** Of a hold that ends in the transaction that makes it. */
const LATE_LEASE_MS = 1_000;
const OPEN_HOLDS = `SELECT open_holds.session, hold, organisation_id AS organisationId, key_id AS keyId, micro_usd AS microUsd
  FROM open_holds JOIN holds ON number = hold`;

export function createLedgerHolds(
  { database, nowMs, nowText }: TableContext,
  { balanceOf }: Pick<LedgerTransfers, 'balanceOf'>,
): LedgerHolds {
  const statements = prepare(database);

  function close({ session, hold, organisationId, keyId, microUsd }: OpenHold, kind: string, posted: bigint): void {
    statements.insertEnd.run(hold, kind, posted, nowMs());
    statements.removeOpen.run(session);
    statements.changeHeld.run(-microUsd, organisationId);
    statements.giveKeyBack.run(microUsd, keyId);
  }

  const times = (now = nowMs()) => ({ now, ahead: now + AHEAD_MS_MAX });

  const expire = database.transaction((): number => {
    const over = statements.openUntil.all(times());
    for (const each of over) close(each, 'expire', 0n);
    return over.length;
  });

  const endUntil = database.transaction((madeUntilMs: number): number => {
    const made = statements.openMadeUntil.all(madeUntilMs);
    for (const each of made) close(each, 'expire', 0n);
    return made.length;
  });

  const holds: LedgerHolds = {
    offer(organisationId, keyId, { wantedMicroUsd, leastMicroUsd }, heldBeforeMicroUsd = 0n) {
      let grant: HoldGrant = { heldMicroUsd: wantedMicroUsd, limitedBy: null };
      if (wantedMicroUsd === 0n) return grant;
      const credit = balanceOf(organisationId).availableMicroUsd;
      if (credit !== null && credit < grant.heldMicroUsd) grant = { heldMicroUsd: credit, limitedBy: 'credit' };
      const daily = statements.leftToday.get({ keyId, day: nowText().slice(0, DAY_LENGTH) }) ?? null;
      if (daily !== null && daily < grant.heldMicroUsd) grant = { heldMicroUsd: daily, limitedBy: 'daily_spend' };
      if (credit === null && daily === null) return { ...grant, unlimited: true };
      // Credit that is taken back meanwhile is not taken out of holds: a provider may be at work for them.
      if (heldBeforeMicroUsd >= wantedMicroUsd) return { heldMicroUsd: wantedMicroUsd, limitedBy: null };
      if (heldBeforeMicroUsd > grant.heldMicroUsd) grant.heldMicroUsd = heldBeforeMicroUsd;
      const isTooLittle = grant.heldMicroUsd < 0n || (grant.limitedBy !== null && grant.heldMicroUsd < leastMicroUsd);
      return isTooLittle ? { ...grant, heldMicroUsd: 0n } : grant;
    },
    heldOf: ({ number }) => statements.heldUntil.get({ session: number, ...times() }) ?? 0n,
    hold({ number, organisationId, keyId }, microUsd, leaseMs, heldBeforeMicroUsd = 0n) {
      if (microUsd === 0n) return;
      const now = nowMs();
      const { lastInsertRowid } = statements.insertHold.run(
        number,
        organisationId,
        keyId,
        microUsd,
        now,
        now + leaseMs,
      );
      statements.insertOpen.run(number, lastInsertRowid, now + leaseMs);
      statements.changeHeld.run(microUsd, organisationId);
      statements.changeKeyHeld.run(keyId, microUsd);
      const { availableMicroUsd } = balanceOf(organisationId);
      // Stays on in production: the transaction is undone rather than money lent that is not there.
      if (availableMicroUsd !== null && availableMicroUsd < 0n && microUsd > heldBeforeMicroUsd) {
        throw new Error(`a hold of ${microUsd} micro-USD would leave ${organisationId} with ${availableMicroUsd}`);
      }
    },
    holdLate(session, microUsd) {
      if (microUsd === 0n || statements.wasHeld.get(session.number) !== undefined) return;
      const request = { wantedMicroUsd: microUsd, leastMicroUsd: 0n, leaseMs: LATE_LEASE_MS };
      const { unlimited } = holds.offer(session.organisationId, session.keyId, request);
      if (unlimited) holds.hold(session, microUsd, LATE_LEASE_MS);
    },
    end({ number }, postedMicroUsd) {
      const open = statements.openOf.get(number);
      if (open === undefined) return 0n;
      close(open, postedMicroUsd > 0n ? 'post' : 'void', postedMicroUsd);
      return open.microUsd;
    },
    expireHolds: () => expire.immediate(),
    endHolds: (madeUntilMs) => endUntil.immediate(madeUntilMs),
    nextLeaseEndMs(nowMs) {
      const { now, ahead } = times(nowMs);
      // The one that ends last is the one that was made last.
      return (statements.lastMade.get() ?? 0) > ahead ? now : (statements.nextEnd.get() ?? undefined);
    },
  };
  return holds;
}

function prepare(database: TableContext['database']) {
  return {
    insertHold: database.prepare<[number, string, string, bigint, number, number]>(
      'INSERT INTO holds (session, organisation_id, key_id, micro_usd, made_at_ms, lease_end_ms) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    insertOpen: database.prepare<[number, number | bigint, number]>(
      'INSERT INTO open_holds (session, hold, lease_end_ms) VALUES (?, ?, ?)',
    ),
    insertEnd: database.prepare<[bigint, string, bigint, number]>(
      'INSERT INTO hold_ends (hold, kind, posted_micro_usd, ended_at_ms) VALUES (?, ?, ?, ?)',
    ),
    removeOpen: database.prepare<[bigint]>('DELETE FROM open_holds WHERE session = ?'),
    openOf: database.prepare<[number], OpenHold>(`${OPEN_HOLDS} WHERE open_holds.session = ?`).safeIntegers(),
    wasHeld: database.prepare<[number], number>('SELECT 1 FROM holds WHERE session = ? LIMIT 1').pluck(),
    heldUntil: database
      .prepare<{ session: number; now: number; ahead: number }, bigint>(
        `SELECT micro_usd FROM open_holds JOIN holds ON number = hold
       WHERE open_holds.session = @session AND open_holds.lease_end_ms > @now AND made_at_ms <= @ahead`,
      )
      .pluck()
      .safeIntegers(),
    openUntil: database
      .prepare<{ now: number; ahead: number }, OpenHold>(
        `${OPEN_HOLDS} WHERE open_holds.lease_end_ms <= @now OR made_at_ms > @ahead ORDER BY open_holds.lease_end_ms, open_holds.session`,
      )
      .safeIntegers(),
    openMadeUntil: database
      .prepare<[number], OpenHold>(`${OPEN_HOLDS} WHERE made_at_ms <= ? ORDER BY open_holds.session`)
      .safeIntegers(),
    nextEnd: database.prepare<[], number | null>('SELECT min(lease_end_ms) FROM open_holds').pluck(),
    lastMade: database
      .prepare<[], number>(
        `SELECT made_at_ms FROM open_holds JOIN holds ON number = hold
         ORDER BY open_holds.lease_end_ms DESC, open_holds.session DESC LIMIT 1`,
      )
      .pluck(),
    changeHeld: database.prepare<[bigint, string]>(
      'UPDATE balances SET held_micro_usd = held_micro_usd + ? WHERE account = ?',
    ),
    changeKeyHeld: database.prepare<[string, bigint]>(
      `INSERT INTO key_holds (key_id, micro_usd) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET micro_usd = micro_usd + excluded.micro_usd`,
    ),
    giveKeyBack: database.prepare<[bigint, string]>('UPDATE key_holds SET micro_usd = micro_usd - ? WHERE key_id = ?'),
    leftToday: database
      .prepare<{ keyId: string; day: string }, bigint | null>(
        `SELECT daily_spend_micro_usd_max
         - coalesce((SELECT micro_usd FROM key_spend WHERE key_id = @keyId AND day = @day), 0)
         - coalesce((SELECT micro_usd FROM key_holds WHERE key_id = @keyId), 0)
       FROM api_keys WHERE id = @keyId`,
      )
      .pluck()
      .safeIntegers(),
  };
}
