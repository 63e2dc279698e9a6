// Sessions with their bills as the ledger knows them, and transfers as plain rows. Only reads.

import type { TableContext } from '../../store/table-context.ts';
import type { BilledLine, LedgerCalls, LedgerTransfer, SessionRecord } from './calls.ts';

export interface LedgerRecords extends Pick<LedgerCalls, 'findSession' | 'countLiveSessions' | 'exportLedger'> {
  /** The session with that number, which exists. */
  recordOf(number: number): SessionRecord;
}

interface HeadRow extends Omit<SessionRecord, 'audioMs' | 'lines' | 'costMicroUsd' | 'heldMicroUsd'> {
  number: bigint;
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
}

type TransferRow = Omit<LedgerTransfer, 'number'> & { number: bigint };

const TRANSFERS_MAX = 10_000;

const HEAD = `SELECT sessions.number, id, sessions.organisation_id AS organisationId, sessions.key_id AS keyId, mode, model,
    opened_at AS openedAt, ended_at AS endedAt, reason, code, audio_ms AS endAudioMs, holds.micro_usd AS held
  FROM sessions
  LEFT JOIN session_ends ON session_ends.session = sessions.number
  LEFT JOIN open_holds ON open_holds.session = sessions.number
  LEFT JOIN holds ON holds.number = open_holds.hold`;

export function createLedgerRecords({ database }: TableContext): LedgerRecords {
  const byNumber = database.prepare<[number], HeadRow>(`${HEAD} WHERE sessions.number = ?`).safeIntegers();
  const byId = database
    .prepare<[string, string], HeadRow>(`${HEAD} WHERE sessions.id = ? AND sessions.organisation_id = ?`)
    .safeIntegers();
  const linesOf = database
    .prepare<[bigint], LineRow>(
      `SELECT model, own, rate, audio_ms AS audioMs, connection_ms AS connectionMs, unit, price_micro_usd AS microUsd, minimum_micro_usd AS minimumMicroUsd,
              cost_micro_usd AS costMicroUsd
       FROM session_lines WHERE session = ?`,
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
      `SELECT transfers.number, transfers.id, at, kind, debit, credit, micro_usd AS microUsd, sessions.id AS sessionId, note
       FROM transfers LEFT JOIN sessions ON sessions.number = session
       WHERE transfers.number > ? ORDER BY transfers.number LIMIT ?`,
    )
    .safeIntegers();

  function record({ number, endAudioMs, held, ...head }: HeadRow): SessionRecord {
    const lines = linesOf.all(number).map(lineOf);
    // Until the end is told, what the models heard is all that is known of the client's audio.
    const heardMs = lines.reduce((sum, { audioMs }) => sum + audioMs, 0);
    return {
      ...head,
      audioMs: endAudioMs === null ? heardMs : Number(endAudioMs),
      lines,
      costMicroUsd: lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0n),
      heldMicroUsd: held ?? 0n,
    };
  }

  return {
    recordOf: (number) => record(byNumber.get(number)!),
    findSession(organisationId, sessionId) {
      const row = byId.get(sessionId, organisationId);
      return row === undefined ? undefined : record(row);
    },
    countLiveSessions: (organisationId, since) => live.get(organisationId, since) ?? 0,
    exportLedger: (after, limit) =>
      transfersAfter
        .all(after, Math.min(TRANSFERS_MAX, Math.max(0, Math.trunc(limit))))
        .map((row) => ({ ...row, number: Number(row.number) })),
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
}: LineRow): BilledLine {
  return {
    model,
    own: own === 1n,
    ...(rate === 0n ? {} : { rate: Number(rate) }),
    audioMs: Number(audioMs),
    ...(connectionMs === 0n ? {} : { connectionMs: Number(connectionMs) }),
    price: { unit, microUsd, minimumMicroUsd },
    costMicroUsd,
  };
}
