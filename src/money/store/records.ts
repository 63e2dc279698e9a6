// Sessions with their bills as the ledger knows them, and transfers as plain rows. Only reads.

import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { BilledLine, LedgerCalls, LedgerTransfer, SessionRecord, SessionSearch } from './calls.ts';
import { REDACTIONS, redactionsIn } from './session-redactions.ts';
import { boundTag, TAGGED, type TagBind, WITH_TAGS } from './session-tags.ts';

export interface LedgerRecords extends Pick<LedgerCalls, 'findSession' | 'countLiveSessions' | 'exportLedger'> {
  /** The session with that number, which exists. */
  recordOf(number: number): SessionRecord;
  /** The same where nothing redacted is known of it. */
  plainRecordOf(number: number): SessionRecord;
}

interface HeadRow
  extends Omit<SessionRecord, 'audioMs' | 'lines' | 'costMicroUsd' | 'heldMicroUsd' | 'tags' | 'redactions'> {
  number: bigint;
  tags: string | null;
  redactions: string | null;
  endAudioMs: bigint | null;
  held: bigint | null;
}

interface LineRow {
  model: string;
  own: bigint;
  rate: bigint;
  audioMs: bigint;
  connectionMs: bigint;
  unit: 'minute' | 'session';
  microUsd: bigint;
  minimumMicroUsd: bigint;
  costMicroUsd: bigint;
  countedMicroUsd: bigint;
}

type TransferRow = Omit<LedgerTransfer, 'number' | 'tags'> & { number: bigint; tags: string | null };

const TRANSFERS_MAX = 10_000;

const headWith = (
  redactions: string,
) => `SELECT sessions.number, id, sessions.organisation_id AS organisationId, sessions.key_id AS keyId, mode, model,
    opened_at AS openedAt, ended_at AS endedAt, reason, code, audio_ms AS endAudioMs, holds.micro_usd AS held, tags,
    ${redactions} AS redactions
  FROM sessions
  ${WITH_TAGS}
  LEFT JOIN session_ends ON session_ends.session = sessions.number
  LEFT JOIN open_holds ON open_holds.session = sessions.number
  LEFT JOIN holds ON holds.number = open_holds.hold`;

export function createLedgerRecords({ database }: TableContext): LedgerRecords {
  const byNumberWith = (redactions: string) =>
    database.prepare<[number], HeadRow>(`${headWith(redactions)} WHERE sessions.number = ?`).safeIntegers();
  const byNumber = byNumberWith(REDACTIONS);
  const plainByNumber = byNumberWith('NULL');
  const byId = database
    .prepare<[string, string], HeadRow>(
      `${headWith(REDACTIONS)} WHERE sessions.id = ? AND sessions.organisation_id = ?`,
    )
    .safeIntegers();
  const linesOf = database
    .prepare<[bigint], LineRow>(
      `SELECT model, own, rate, audio_ms AS audioMs, connection_ms AS connectionMs, unit, price_micro_usd AS microUsd, minimum_micro_usd AS minimumMicroUsd,
              cost_micro_usd AS costMicroUsd, counted_micro_usd AS countedMicroUsd
       FROM session_lines WHERE session = ? ORDER BY model, own, rate`,
    )
    .safeIntegers();
  const live = database
    .prepare<[string, string], number>(
      `SELECT count(*) FROM sessions LEFT JOIN session_ends ON session_ends.session = sessions.number
       WHERE sessions.organisation_id = ? AND opened_at >= ? AND mode = 'live' AND session_ends.session IS NULL`,
    )
    .pluck();
  const transfersAfter = database
    .prepare<[number, number], TransferRow>(
      `SELECT transfers.number, transfers.id, at, kind, debit, credit, micro_usd AS microUsd, sessions.id AS sessionId, note, tags
       FROM transfers LEFT JOIN sessions ON sessions.number = transfers.session
       LEFT JOIN session_tags ON session_tags.session = transfers.session
       WHERE transfers.number > ? ORDER BY transfers.number LIMIT ?`,
    )
    .safeIntegers();

  function record({ number, endAudioMs, held, tags, redactions, ...head }: HeadRow): SessionRecord {
    const lines = linesOf.all(number).map(lineOf);
    // Until the end is told, what the models heard is all that is known of the client's audio.
    const heardMs = lines.reduce((sum, { audioMs }) => sum + audioMs, 0);
    return {
      ...head,
      ...(tags === null ? {} : { tags }),
      audioMs: endAudioMs === null ? heardMs : Number(endAudioMs),
      lines,
      costMicroUsd: lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0n),
      heldMicroUsd: held ?? 0n,
      ...redactionsIn(redactions),
    };
  }

  return {
    recordOf: (number) => record(byNumber.get(number)!),
    plainRecordOf: (number) => record(plainByNumber.get(number)!),
    findSession(organisationId, sessionId) {
      const row = byId.get(sessionId, organisationId);
      return row === undefined ? undefined : record(row);
    },
    countLiveSessions: (organisationId, since) => live.get(organisationId, since) ?? 0,
    exportLedger: (after, limit) =>
      transfersAfter
        .all(after, Math.min(TRANSFERS_MAX, Math.max(0, Math.trunc(limit))))
        .map(({ tags, ...row }) => ({ ...row, number: Number(row.number), ...(tags === null ? {} : { tags }) })),
  };
}

function lineOf({
  model,
  own,
  rate,
  audioMs,
  connectionMs,
  unit,
  microUsd,
  minimumMicroUsd,
  costMicroUsd,
  countedMicroUsd,
}: LineRow): BilledLine {
  return {
    model,
    own: own === 1n,
    ...(rate === 0n ? {} : { rate: Number(rate) }),
    audioMs: Number(audioMs),
    ...(connectionMs === 0n ? {} : { connectionMs: Number(connectionMs) }),
    price: { unit, microUsd, minimumMicroUsd },
    costMicroUsd,
    ...(countedMicroUsd === 0n ? {} : { countedMicroUsd }),
  };
}

// Searches sessions, newest first. One call looks at a limited number of them; the answer says where to continue.
/** About 20 ms of work. */
export const LOOKED_AT_MAX = 10_000;
const FOUND_MAX = 1000;

/** Where a session stands in the order of its organisation's. */
interface Place {
  openedAt: string;
  number: bigint;
}

interface Wanted extends TagBind {
  organisationId: string;
  state: string | null;
  model: string | null;
  keyId: string | null;
  reason: string | null;
  idPrefix: string | null;
  /** This place is not looked at any more. */
  fromAt: string;
  fromNumber: bigint;
  /** This one is still. */
  toAt: string;
  toNumber: bigint;
  limit: number;
}

/** Later than every time, and earlier. */
const NEWEST: Place = { openedAt: '~', number: 0n };
const OLDEST: Place = { openedAt: '', number: 0n };

const BEFORE = '(opened_at, sessions.number) < (@fromAt, @fromNumber)';
const ORDER = 'ORDER BY opened_at DESC, sessions.number DESC';

/** A slug, or a provider. */
const isOf = (column: string): string =>
  `(${column} = @model OR substr(${column}, 1, length(@model) + 1) = @model || '/')`;

export const SEARCH = `SELECT sessions.number
  FROM sessions INDEXED BY sessions_by_organisation
  LEFT JOIN session_ends ON session_ends.session = sessions.number
  WHERE sessions.organisation_id = @organisationId AND ${BEFORE} AND (opened_at, sessions.number) >= (@toAt, @toNumber)
    AND (@state IS NULL OR (session_ends.session IS NULL) = (@state = 'live'))
    AND (@keyId IS NULL OR key_id = @keyId)
    AND (@reason IS NULL OR reason = @reason OR code = @reason)
    AND (@idPrefix IS NULL OR substr(id, 1, length(@idPrefix)) = @idPrefix)
    AND ${TAGGED}
    AND (@model IS NULL OR ${isOf('model')} OR EXISTS (
      SELECT 1 FROM session_lines WHERE session_lines.session = sessions.number AND ${isOf('session_lines.model')}))
  ${ORDER} LIMIT @limit`;

export function createSessionSearch(
  { database }: Pick<TableContext, 'database'>,
  { recordOf }: Pick<LedgerRecords, 'recordOf'>,
): Pick<LedgerCalls, 'searchSessions' | 'listSessions'> {
  const placeOf = database
    .prepare<[string, string], Place>(
      'SELECT opened_at AS openedAt, number FROM sessions WHERE id = ? AND organisation_id = ?',
    )
    .safeIntegers();
  const furthestOf = database
    .prepare<Pick<Wanted, 'organisationId' | 'fromAt' | 'fromNumber'>, Place>(
      `SELECT opened_at AS openedAt, number FROM sessions INDEXED BY sessions_by_organisation
       WHERE organisation_id = @organisationId AND ${BEFORE} ${ORDER} LIMIT 1 OFFSET ${LOOKED_AT_MAX - 1}`,
    )
    .safeIntegers();
  const found = database.prepare<Wanted, bigint>(SEARCH).pluck().safeIntegers();

  function beginningOf(organisationId: string, { before, to }: SessionSearch): Place {
    const begin = to === undefined ? NEWEST : { openedAt: to, number: 0n };
    if (before === undefined) return begin;
    const last = placeOf.get(before, organisationId);
    if (last !== undefined) return last.openedAt < begin.openedAt ? last : begin;
    throw new StoreError('invalid', `The organisation has no session ${JSON.stringify(before.slice(0, 100))}.`);
  }

  function searchSessions(organisationId: string, search: SessionSearch): ReturnType<LedgerCalls['searchSessions']> {
    const { state = null, model = null, keyId = null, reason = null, idPrefix = null, from, tag } = search;
    const begin = beginningOf(organisationId, search);
    const beginning = { organisationId, fromAt: begin.openedAt, fromNumber: begin.number };
    const furthest = furthestOf.get(beginning);
    const oldest = from === undefined ? OLDEST : { openedAt: from, number: 0n };
    const isCut = furthest !== undefined && furthest.openedAt >= oldest.openedAt;
    const end = isCut ? furthest : oldest;
    const limit = Math.min(FOUND_MAX, Math.max(1, Math.trunc(search.limit)));
    const asked = { state, model, keyId, reason, idPrefix, ...boundTag(tag) };
    const wanted = { ...asked, toAt: end.openedAt, toNumber: end.number };
    const numbers = found.all({ ...beginning, ...wanted, limit: limit + 1 });
    const sessions = numbers.slice(0, limit).map((number) => recordOf(Number(number)));
    if (numbers.length > limit) return { sessions, next: sessions.at(-1)!.id };
    return { sessions, next: isCut ? recordOf(Number(furthest.number)).id : null };
  }

  return {
    searchSessions,
    listSessions: (organisationId, limit, before) =>
      searchSessions(organisationId, { limit, ...(before === undefined ? {} : { before }) }).sessions,
  };
}
