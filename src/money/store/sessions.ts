// A session's money from its first hold to its settlement, one transaction a call. What is held and what is posted is decided
// in holds.ts and postings.ts.

import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type {
  HoldGrant,
  HoldRequest,
  LedgerCalls,
  PriceBound,
  SessionEnd,
  SessionHead,
  SessionName,
  SessionRecord,
} from './calls.ts';
import type { LedgerCeilings } from './ceilings.ts';
import { isoOf, requireEnd, requireHead, requireHoldRequest, requireLines } from './checks.ts';
import type { HeldBefore, LedgerHolds } from './holds.ts';
import type { LegUsage } from './leg-usage.ts';
import { lateHead, lateId, linesBeyond, NODE_LOST } from './lost.ts';
import type { OwnHolds } from './own-holds.ts';
import type { LedgerCharges, LedgerPostings, SessionRow } from './postings.ts';
import { createSessionRedactions } from './session-redactions.ts';
import { createSessionTags } from './session-tags.ts';
import type { LedgerTransfers } from './transfers.ts';

type SessionCalls = Pick<LedgerCalls, 'openSession' | 'renewHold' | 'holdOwn' | 'settleSession'>;

interface Parts {
  transfers: Pick<LedgerTransfers, 'openAccount'>;
  postings: LedgerPostings;
  holds: Pick<LedgerHolds, 'offer' | 'heldOf' | 'hold' | 'holdLate' | 'end'>;
  ownHolds: Pick<OwnHolds, 'offer' | 'hold' | 'end' | 'countedOf'>;
  charges: LedgerCharges;
  ceilings: Pick<LedgerCeilings, 'reached' | 'refusedBy' | 'keepDay'>;
  legUsage: Pick<LegUsage, 'add'>;
  /** The session with that number, which exists. */
  recordOf(number: number): SessionRecord;
  /** The same where nothing redacted is known of it. */
  plainRecordOf(number: number): SessionRecord;
}

type KnownSession = SessionRow & { isSettled: 0 | 1; isLostFile: 0 | 1; hasOwnHold: 0 | 1 };
/** A session that is known, or one that was made just now. */
type ChargedSession = SessionRow & Partial<Pick<KnownSession, 'hasOwnHold'>>;

const NOTHING: HoldGrant = { heldMicroUsd: 0n, limitedBy: null };
const SETTLED: HoldGrant = { ...NOTHING, settled: true };

type SessionRows = ReturnType<typeof sessionRows>;

function sessionRows({ database, nowText }: TableContext) {
  const keepTags = createSessionTags({ database });
  const keepRedactions = createSessionRedactions({ database });
  const sessionById = database.prepare<[string], KnownSession>(
    `SELECT number, id, organisation_id AS organisationId, key_id AS keyId, model,
            EXISTS (SELECT 1 FROM session_ends WHERE session = number) AS isSettled,
            EXISTS (SELECT 1 FROM session_ends WHERE session = number AND mode = 'batch' AND reason = '${NODE_LOST}') AS isLostFile,
            EXISTS (SELECT 1 FROM own_holds WHERE session = number) AS hasOwnHold
     FROM sessions WHERE id = ?`,
  );
  const insertSession = database.prepare<Omit<SessionHead, 'tags'>>(
    `INSERT INTO sessions (id, organisation_id, key_id, mode, model, opened_at)
     VALUES (@id, @organisationId, @keyId, @mode, @model, @openedAt)`,
  );
  const insertEnd = database.prepare<
    Omit<SessionEnd, 'lines' | 'sentAgain' | 'redactions'> & {
      number: number;
      organisationId: string;
      settledAt: string;
    }
  >(
    `INSERT INTO session_ends (session, organisation_id, ended_at, settled_at, reason, code, audio_ms, cost_micro_usd)
     VALUES (@number, @organisationId, @endedAt, @settledAt, @reason, @code, @audioMs,
       (SELECT coalesce(sum(cost_micro_usd), 0) FROM session_lines WHERE session = @number))`,
  );
  /** Undefined when it was never heard of. Throws `conflict` for an id that another organisation has. */
  function known({ id, organisationId }: SessionHead): KnownSession | undefined {
    const session = sessionById.get(id);
    if (session !== undefined && session.organisationId !== organisationId) {
      throw new StoreError('conflict', `The session id ${JSON.stringify(id)} is taken.`);
    }
    return session;
  }

  function addSession(head: SessionHead): SessionRow {
    const { id, organisationId, keyId, mode, model } = head;
    const openedAt = isoOf(head.openedAt, 'time of opening');
    const { lastInsertRowid } = insertSession.run({ id, organisationId, keyId, mode, model, openedAt });
    const number = Number(lastInsertRowid);
    keepTags(number, head);
    return { number, id, organisationId, keyId, model };
  }

  function addEnd({ number, organisationId }: SessionRow, end: SessionEnd): void {
    const { reason, code, audioMs } = end;
    const endedAt = isoOf(end.endedAt, 'time of ending');
    insertEnd.run({ number, organisationId, endedAt, settledAt: nowText(), reason, code, audioMs });
  }

  return { byId: (id: string) => sessionById.get(id), known, addSession, keepTags, keepRedactions, addEnd };
}

/** How a session's use becomes charges, and its end a record. Runs in the caller's transaction. */
function sessionCharges(
  { known, addSession, addEnd, keepRedactions }: SessionRows,
  { postings, holds, ownHolds, charges, recordOf, plainRecordOf, legUsage }: Parts,
) {
  /**
   * Posts what the lines say, out of the hold. What is more than was held is charged anyway, and noted. Gives what is left of
   * the hold.
   */
  function charge(
    session: SessionRow,
    lines: SessionEnd['lines'],
    whenLess: 'refuse' | 'keep',
    onTrust = false,
    isFile = false,
  ): HeldBefore {
    const posted = postings.post(session, lines, whenLess);
    if (isFile) holds.holdLate(session, posted);
    const { microUsd: held, providers } = holds.end(session, posted);
    if (posted > held) charges.noteBeyond(session, held, posted, onTrust);
    return { microUsd: posted > held ? 0n : held - posted, providers };
  }

  function finish(session: ChargedSession, end: SessionEnd): SessionRecord {
    // A last statement may be older than the last renewal, after a crash. What was posted stays posted.
    charge(session, end.lines, 'keep', end.onTrust, end.file !== undefined);
    if (session.hasOwnHold === 1) ownHolds.end(session, 0n);
    if (end.file !== undefined) charges.noteFile(session, end.file);
    addEnd(session, end);
    const record = plainRecordOf(session.number);
    const { redactions } = end;
    if (redactions !== undefined && Object.keys(redactions).length > 0) {
      keepRedactions(session.number, redactions);
      record.redactions = redactions;
    }
    if (end.sentAgain !== undefined && end.sentAgain.length > 0)
      legUsage.add(record, isoOf(end.endedAt, 'time of ending'), end.sentAgain);
    return record;
  }

  /** The session was closed because its node went silent. What came after what was posted then is billed beside it, once. */
  function settleLate(number: number, head: SessionHead, end: SessionEnd): SessionRecord {
    // Whatever is billed late, they belong to the session.
    if (end.redactions !== undefined) keepRedactions(number, end.redactions);
    const first = recordOf(number);
    const lines = linesBeyond(first.lines, end.lines);
    const name = lateHead(head);
    requireHead(name);
    const before = known(name);
    if (before === undefined && lines.length === 0) return first;
    const audioMs = Math.max(0, end.audioMs - first.audioMs);
    const { redactions: _, ...ending } = end;
    const rest = { ...ending, audioMs, lines };
    const late = before?.isSettled === 1 ? recordOf(before.number) : finish(before ?? addSession(name), rest);
    return {
      ...first,
      audioMs: first.audioMs + late.audioMs,
      lines: [...first.lines, ...late.lines],
      costMicroUsd: first.costMicroUsd + late.costMicroUsd,
    };
  }

  return { charge, finish, settleLate };
}

/** Who pays has to be there. Throws `not_found`. */
function payers({ database }: TableContext, { transfers }: Pick<Parts, 'transfers'>) {
  const keyOwner = database.prepare<[string], string>('SELECT organisation_id FROM api_keys WHERE id = ?').pluck();
  return ({ organisationId, keyId }: SessionHead): void => {
    transfers.openAccount(organisationId);
    if (keyOwner.get(keyId) !== organisationId) {
      throw new StoreError('not_found', `The organisation has no key ${JSON.stringify(keyId)}.`);
    }
  };
}

/** Where there are ceilings, a grant says which of them it has brought to a part that is reported. */
function tellingReached({ ceilings }: Pick<Parts, 'ceilings'>) {
  return ({ organisationId, keyId }: SessionRow, grant: HoldGrant, { keepsReached }: HoldRequest): HoldGrant => {
    const isDayKept = keepsReached === true && grant.limitedBy === 'daily_spend';
    if (isDayKept) ceilings.keepDay(organisationId, keyId);
    const reached = grant.providers === undefined ? [] : ceilings.reached(organisationId, keyId, keepsReached);
    if (reached.length === 0 && !isDayKept) return grant;
    return { ...grant, ...(reached.length > 0 && { reached }), ...(isDayKept && { isDayKept }) };
  };
}

/** Answers a refusal by what is reached, and keeps that. The work is a transaction, which the refusal has undone. */
function refusalKept({ database }: TableContext, { ceilings }: Pick<Parts, 'ceilings'>) {
  const keep = database.transaction(({ organisationId, keyId }: SessionHead, error: StoreError): HoldGrant => {
    if (error.reason === 'daily_spend') {
      ceilings.keepDay(organisationId, keyId);
      return { ...NOTHING, limitedBy: 'daily_spend', isRefused: true, isDayKept: true };
    }
    if (error.reason !== 'spend_ceiling') throw error;
    const { message: ceiling } = error;
    const onlyUpTo = error instanceof CeilingRefusal ? error.onlyUpTo : undefined;
    const reached = ceilings.refusedBy(ceiling);
    return { ...NOTHING, limitedBy: 'ceiling', ceiling, isRefused: true, reached, ...(onlyUpTo && { onlyUpTo }) };
  });
  return (head: SessionHead, { keepsReached }: HoldRequest, work: () => HoldGrant): HoldGrant => {
    try {
      return work();
    } catch (error) {
      if (!keepsReached || !(error instanceof StoreError)) throw error;
      return keep.immediate(head, error);
    }
  };
}

/** What an own provider key may use under ceilings. */
function ownHolding(
  context: TableContext,
  { known, addSession }: SessionRows,
  parts: Parts,
  charge: ReturnType<typeof sessionCharges>['charge'],
): SessionCalls['holdOwn'] {
  const { ownHolds } = parts;
  const requirePayer = payers(context, parts);
  const told = tellingReached(parts);
  const holdOwn = context.database.transaction(
    (named: SessionHead, lines: SessionEnd['lines'], request: HoldRequest): HoldGrant => {
      requireHead(named);
      requireLines(lines);
      requireHoldRequest(request);
      const first = known(named);
      const head = first?.isLostFile === 1 ? lateHead(named) : named;
      const before = head === named ? first : known(head);
      if (before?.isSettled === 1) return SETTLED;
      if (before === undefined && request.wantedMicroUsd === 0n) return NOTHING;
      if (before === undefined) requirePayer(head);
      const session = before ?? addSession(head);
      const countedBefore = ownHolds.countedOf(session);
      if (lines.length > 0) charge(session, lines, 'refuse', request.onTrust);
      const left = ownHolds.end(session, ownHolds.countedOf(session) - countedBefore);
      const grant = ownHolds.offer(session, request, left);
      // With usage it is a renewal, which is not refused.
      if (lines.length === 0 && grant.limitedBy !== null && grant.heldMicroUsd < request.leastMicroUsd)
        throw refusal(grant);
      ownHolds.hold(session, grant, request.leaseMs);
      return told(session, grant, request);
    },
  );
  const kept = refusalKept(context, parts);
  return (head, lines, request) => kept(head, request, () => holdOwn.immediate(head, lines, request));
}

export function createLedgerSessions(context: TableContext, parts: Parts): SessionCalls {
  const { database } = context;
  const { transfers, holds, ownHolds, recordOf } = parts;
  const rows = sessionRows(context);
  const { known, addSession, keepTags } = rows;
  const { charge, finish, settleLate } = sessionCharges(rows, parts);
  const requirePayer = payers(context, parts);
  const told = tellingReached(parts);
  const kept = refusalKept(context, parts);

  function offerOrRefuse(payer: SessionRow | SessionHead, request: HoldRequest): HoldGrant {
    const grant = holds.offer(payer, request);
    if (grant.limitedBy === null || grant.heldMicroUsd >= request.leastMicroUsd) return grant;
    throw refusal(grant);
  }

  /** A call repeated because its answer was lost changes nothing; one that comes later, or wants more, must be held for. */
  function openAgain(session: KnownSession, request: HoldRequest): HoldGrant {
    if (session.isSettled === 1) return SETTLED;
    const { microUsd: heldMicroUsd, providers } = holds.heldOf(session);
    if (heldMicroUsd > 0n && heldMicroUsd >= request.wantedMicroUsd)
      return { heldMicroUsd, limitedBy: null, ...(providers && { providers }) };
    holds.end(session, 0n);
    const grant = offerOrRefuse(session, request);
    holds.hold(session, grant, request.leaseMs);
    return told(session, grant, request);
  }

  const open = database.transaction((named: SessionHead, request: HoldRequest): HoldGrant => {
    requireHead(named);
    requireHoldRequest(request);
    const first = known(named);
    // A file that was given up is tried again.
    const head = first?.isLostFile === 1 ? lateHead(named) : named;
    const before = head === named ? first : known(head);
    if (before !== undefined) return openAgain(before, request);
    requirePayer(head);
    const grant = offerOrRefuse(head, request);
    const session = addSession(head);
    holds.hold(session, grant, request.leaseMs);
    return told(session, grant, request);
  });

  const renew = database.transaction(
    (name: SessionName, lines: SessionEnd['lines'], request: HoldRequest): HoldGrant => {
      requireLines(lines);
      requireHoldRequest(request);
      const first = rows.byId(name.id);
      const session = first?.isLostFile === 1 ? (rows.byId(lateId(name.id)) ?? first) : first;
      if (session?.organisationId !== name.organisationId) {
        throw new StoreError('not_found', `There is no session ${JSON.stringify(name.id)}.`);
      }
      if (session.isSettled === 1) return SETTLED;
      const left = charge(session, lines, 'refuse', request.onTrust);
      // Of a live session, which tells its usage: a model that is paid for hears now.
      if (lines.length > 0) ownHolds.end(session, 0n);
      const grant = holds.offer(session, request, left);
      holds.hold(session, grant, request.leaseMs, left.microUsd);
      return told(session, grant, request);
    },
  );

  const settle = database.transaction((head: SessionHead, end: SessionEnd): SessionRecord => {
    requireHead(head);
    requireEnd(end);
    const before = known(head);
    if (before?.isSettled === 1) {
      const first = recordOf(before.number);
      return first.reason === NODE_LOST ? settleLate(before.number, head, end) : first;
    }
    // What is known has its account already.
    if (before === undefined) transfers.openAccount(head.organisationId);
    else keepTags(before.number, head);
    return finish(before ?? addSession(head), end);
  });

  return {
    openSession: (head, request) => kept(head, request, () => open.immediate(head, request)),
    renewHold: (session, lines, request) => renew.immediate(session, lines, request),
    holdOwn: ownHolding(context, rows, parts, charge),
    settleSession: (head, end) => settle.immediate(head, end),
  };
}

/** Refused by ceilings, each of which leaves models up to a price where there is `onlyUpTo`. */
class CeilingRefusal extends StoreError {
  override readonly name = 'CeilingRefusal';
  readonly onlyUpTo: readonly PriceBound[] | undefined;

  constructor({ ceiling = '', onlyUpTo }: HoldGrant) {
    super('spend_ceiling', ceiling);
    this.onlyUpTo = onlyUpTo;
  }
}

function refusal(grant: HoldGrant): StoreError {
  const { limitedBy } = grant;
  if (limitedBy === 'ceiling') return new CeilingRefusal(grant);
  return limitedBy === 'credit'
    ? new StoreError('insufficient_credit', 'The organisation has too little credit to start the session.')
    : new StoreError('daily_spend', 'The key has spent or reserved its limit for today (UTC).');
}
