// Holds: money put aside for an open session, never more than there is, given back when its lease is over. Each session has at
// most one. Everything but expireHolds and endHolds runs in the caller's transaction.

import { ownerOf } from '../../api/slug.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { HoldGrant, HoldRequest, Leases, LedgerCalls } from './calls.ts';
import type { LedgerCeilings } from './ceilings.ts';
import type { SessionRow } from './postings.ts';
import type { LedgerTransfers } from './transfers.ts';

/** Of a session: the model that it was opened with names the provider that it is held for where nothing else is said. */
export type Payer = Pick<SessionRow, 'organisationId' | 'keyId' | 'model'>;

/** The part of the hold before that nothing was charged to. */
export interface HeldBefore {
  microUsd: bigint;
  providers: readonly string[] | undefined;
}

export interface LedgerHolds extends Leases, Pick<LedgerCalls, 'expireHolds' | 'endHolds'> {
  /** What a hold may be now: nothing below `leastMicroUsd`, and of what was held before, as much as is wanted. */
  offer(payer: Payer, request: HoldRequest, heldBefore?: HeldBefore): HoldGrant;
  /** What is held for the session, 0 once the lease is over. */
  heldOf(session: SessionRow): HeldBefore;
  /** Makes the hold that was offered; nothing for 0. */
  hold(
    session: SessionRow,
    { heldMicroUsd, providers }: Pick<HoldGrant, 'heldMicroUsd' | 'providers'>,
    leaseMs: number,
    heldBeforeMicroUsd?: bigint,
  ): void;
  /** Makes the hold of a session that never had one and whose charge is certain, where none can be refused; it ends with the charge. */
  holdLate(session: SessionRow, microUsd: bigint): void;
  /** Ends the session's hold, if it has one: post when something was posted, void otherwise. Returns what was held, and for which providers. */
  end(session: Pick<SessionRow, 'number'>, postedMicroUsd: bigint): HeldBefore;
}

interface OpenHold {
  session: bigint;
  hold: bigint;
  organisationId: string;
  keyId: string;
  microUsd: bigint;
  providers: string | null;
}

const NOTHING_BEFORE: HeldBefore = { microUsd: 0n, providers: undefined };
const DAY_LENGTH = 10;
/**
 * A hold that was made so long after now was made before the clock was put back, and the end of its lease is not known: it
 * is over now. Who still needs it makes another within half a lease.
 */
export const AHEAD_MS_MAX = 60_000;
/** Of a hold that ends in the transaction that makes it. */
const LATE_LEASE_MS = 1_000;
const OPEN_HOLDS = `SELECT open_holds.session, hold, organisation_id AS organisationId, key_id AS keyId, micro_usd AS microUsd, providers
  FROM open_holds JOIN holds ON number = hold`;

export function createLedgerHolds(
  { database, nowMs, nowText }: TableContext,
  { balanceOf }: Pick<LedgerTransfers, 'balanceOf'>,
  ceilings: LedgerCeilings,
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
    offer(payer, request, before = NOTHING_BEFORE) {
      const { organisationId, keyId } = payer;
      const { wantedMicroUsd, leastMicroUsd } = request;
      let grant: HoldGrant = { heldMicroUsd: wantedMicroUsd, limitedBy: null };
      if (wantedMicroUsd === 0n) return grant;
      const credit = balanceOf(organisationId).availableMicroUsd;
      if (credit !== null && credit < grant.heldMicroUsd) grant = { heldMicroUsd: credit, limitedBy: 'credit' };
      const key = statements.leftToday.get({ keyId, organisationId, day: nowText().slice(0, DAY_LENGTH) });
      const daily = key?.daily ?? null;
      if (daily !== null && daily < grant.heldMicroUsd) grant = { heldMicroUsd: daily, limitedBy: 'daily_spend' };
      if (key?.isBounded === 1n) grant = withinCeilings(ceilings, payer, request, grant);
      else if (credit === null && daily === null) return { ...grant, unlimited: true };
      // Credit that is taken back meanwhile is not taken out of holds: a provider may be at work for them.
      const kept = keptOf(request, grant, before);
      if (kept > grant.heldMicroUsd) grant = keeping(kept, payer, request, grant, before);
      const isTooLittle = grant.heldMicroUsd < 0n || (grant.limitedBy !== null && grant.heldMicroUsd < leastMicroUsd);
      return isTooLittle ? { ...grant, heldMicroUsd: 0n } : grant;
    },
    heldOf({ number }) {
      const held = statements.heldUntil.get({ session: number, ...times() });
      return held === undefined ? NOTHING_BEFORE : { microUsd: held.microUsd, providers: providersIn(held.providers) };
    },
    hold({ number, organisationId, keyId }, { heldMicroUsd: microUsd, providers }, leaseMs, heldBeforeMicroUsd = 0n) {
      if (microUsd === 0n) return;
      const now = nowMs();
      const { lastInsertRowid } = statements.insertHold.run(
        number,
        organisationId,
        keyId,
        microUsd,
        now,
        now + leaseMs,
        providers === undefined ? null : ` ${providers.join(' ')} `,
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
      const { unlimited } = holds.offer(session, request);
      if (unlimited) holds.hold(session, { heldMicroUsd: microUsd }, LATE_LEASE_MS);
    },
    end({ number }, postedMicroUsd) {
      const open = statements.openOf.get(number);
      if (open === undefined) return NOTHING_BEFORE;
      close(open, postedMicroUsd > 0n ? 'post' : 'void', postedMicroUsd);
      return { microUsd: open.microUsd, providers: providersIn(open.providers) };
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

/** The ceilings that are about the providers of the hold leave less, or not. */
export function withinCeilings(
  ceilings: LedgerCeilings,
  { organisationId, keyId, model }: Payer,
  request: HoldRequest,
  grant: HoldGrant,
): HoldGrant {
  const providers = request.providers ?? [ownerOf(model)];
  const known = ceilings.of(organisationId, keyId);
  const room = ceilings.room(known, { ...request, providers });
  if (room === undefined || room.microUsd >= grant.heldMicroUsd) {
    const onlyUpTo = ceilings.boundsOf(known);
    return onlyUpTo.length === 0 ? { ...grant, providers } : { ...grant, providers, onlyUpTo };
  }
  const short: HoldGrant = { heldMicroUsd: room.microUsd, limitedBy: 'ceiling', ceiling: room.sentence, providers };
  if (room.leaves.length > 0) short.leaves = room.leaves;
  return room.onlyUpTo.length === 0 ? short : { ...short, onlyUpTo: room.onlyUpTo };
}

/** What a renewal has of the hold before, whatever is left now. */
export function keptOf(
  { wantedMicroUsd, keptMicroUsdMax }: HoldRequest,
  { limitedBy }: HoldGrant,
  { microUsd }: HeldBefore,
): bigint {
  const kept = microUsd < wantedMicroUsd ? microUsd : wantedMicroUsd;
  return limitedBy === 'ceiling' && keptMicroUsdMax !== undefined && keptMicroUsdMax < kept ? keptMicroUsdMax : kept;
}

export const providersIn = (text: string | null): readonly string[] | undefined => text?.trim().split(' ');

/** What was held before stays held, but for no other providers than before. */
export function keeping(
  heldMicroUsd: bigint,
  { model }: Payer,
  { wantedMicroUsd, leastMicroUsd }: HoldRequest,
  grant: HoldGrant,
  before: HeldBefore,
): HoldGrant {
  const providers = before.providers ?? [ownerOf(model)];
  const isForOthers =
    grant.limitedBy === 'ceiling' && grant.providers?.every((each) => providers.includes(each)) === false;
  // What is left for the others too is enough for what was used and not posted yet.
  if (isForOthers && grant.heldMicroUsd > 0n && grant.heldMicroUsd >= leastMicroUsd) return grant;
  if (isForOthers) return { ...grant, heldMicroUsd, providers };
  if (heldMicroUsd < wantedMicroUsd) return { ...grant, heldMicroUsd };
  const { providers: of } = grant;
  return { heldMicroUsd, limitedBy: null, ...(of === undefined ? {} : { providers: of }) };
}

function prepare(database: TableContext['database']) {
  return {
    insertHold: database.prepare<[number, string, string, bigint, number, number, string | null]>(
      `INSERT INTO holds (session, organisation_id, key_id, micro_usd, made_at_ms, lease_end_ms, providers)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
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
      .prepare<{ session: number; now: number; ahead: number }, Pick<OpenHold, 'microUsd' | 'providers'>>(
        `SELECT micro_usd AS microUsd, providers FROM open_holds JOIN holds ON number = hold
       WHERE open_holds.session = @session AND open_holds.lease_end_ms > @now AND made_at_ms <= @ahead`,
      )
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
      .prepare<{ keyId: string; organisationId: string; day: string }, { daily: bigint | null; isBounded: bigint }>(
        `SELECT daily_spend_micro_usd_max
         - coalesce((SELECT micro_usd FROM key_spend WHERE key_id = @keyId AND day = @day), 0)
         - coalesce((SELECT micro_usd FROM key_holds WHERE key_id = @keyId), 0) AS daily,
         EXISTS (SELECT 1 FROM spend_ceilings WHERE scope IN ('gateway', @organisationId, @keyId)) AS isBounded
       FROM api_keys WHERE id = @keyId`,
      )
      .safeIntegers(),
  };
}
