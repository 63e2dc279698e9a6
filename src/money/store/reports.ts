// Usage and bills of an organisation. A session is on the bill of the month in which the ledger settled it, whole: what is
// posted of a session still open is on no bill yet, and a bill never changes once its month is over. Only reads.

import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { Bill, LedgerCalls, UsageGroup, UsageRow } from './calls.ts';
import { isoOf } from './checks.ts';
import type { LedgerTransfers } from './transfers.ts';

type LedgerReports = Pick<LedgerCalls, 'usageOf' | 'billOf'>;

interface UsageBind {
  organisationId: string;
  from: string;
  to: string;
  keyId: string | null;
}

type Counts = 'sessions' | 'audioMs' | 'connectionMs';
type Counted<Row> = Omit<Row, 'own' | Counts> & Record<'own' | Counts, bigint>;
type BillLine = Bill['lines'][number];

const GROUPS: Readonly<Record<UsageGroup, string>> = {
  model: 'session_lines.model',
  provider: "substr(session_lines.model, 1, instr(session_lines.model || '/', '/') - 1)",
  day: 'substr(opened_at, 1, 10)',
  key: 'key_id',
};

const SUMS = `own, count(DISTINCT sessions.number) AS sessions, sum(session_lines.audio_ms) AS audioMs,
  sum(session_lines.connection_ms) AS connectionMs,  sum(session_lines.cost_micro_usd) AS costMicroUsd`;

export function createLedgerReports(
  { database }: TableContext,
  { balanceOf }: Pick<LedgerTransfers, 'balanceOf'>,
): LedgerReports {
  const usageBy = (group: UsageGroup) =>
    database
      .prepare<UsageBind, Counted<UsageRow>>(
        `SELECT ${GROUPS[group]} AS "group", ${SUMS}
         FROM sessions JOIN session_lines ON session = number
         WHERE organisation_id = @organisationId AND opened_at >= @from AND opened_at < @to
           AND (@keyId IS NULL OR key_id = @keyId)
         GROUP BY 1, own ORDER BY 1, own`,
      )
      .safeIntegers();
  const usage = { model: usageBy('model'), provider: usageBy('provider'), day: usageBy('day'), key: usageBy('key') };
  const billLines = database
    .prepare<[string, string, string], Counted<BillLine>>(
      `SELECT session_lines.model, mode, ${SUMS}
       FROM session_ends
       JOIN sessions ON sessions.number = session_ends.session
       JOIN session_lines ON session_lines.session = session_ends.session
       WHERE session_ends.organisation_id = ? AND settled_at >= ? AND settled_at < ?
       GROUP BY session_lines.model, mode, own ORDER BY session_lines.model, mode, own`,
    )
    .safeIntegers();
  const credits = database
    .prepare<{ account: string; from: string; to: string }, Bill['credits'][number]>(
      `SELECT at, kind, CASE WHEN credit = @account THEN micro_usd ELSE -micro_usd END AS microUsd, note
       FROM transfers WHERE kind <> 'usage' AND (credit = @account OR debit = @account) AND at >= @from AND at < @to
       ORDER BY number`,
    )
    .safeIntegers();
  const opening = database
    .prepare<{ account: string; start: string }, bigint>(
      `SELECT (SELECT coalesce(sum(micro_usd), 0) FROM transfers WHERE kind <> 'usage' AND credit = @account AND at < @start)
         - (SELECT coalesce(sum(micro_usd), 0) FROM transfers WHERE kind <> 'usage' AND debit = @account AND at < @start)
         - (SELECT coalesce(sum(cost_micro_usd), 0) FROM session_ends
            WHERE organisation_id = @account AND settled_at < @start)`,
    )
    .pluck()
    .safeIntegers();

  return {
    usageOf({ organisationId, from, to, groupBy, keyId }) {
      const bind = { organisationId, from: isoOf(from, 'start'), to: isoOf(to, 'end'), keyId: keyId ?? null };
      return usage[groupBy].all(bind).map(counted<UsageRow>);
    },
    billOf(account, month) {
      balanceOf(account);
      const [from, to] = boundsOf(month);
      const lines = billLines.all(account, from, to).map(counted<BillLine>);
      const openingMicroUsd = opening.get({ account, start: from })!;
      const given = credits.all({ account, from, to });
      const totalMicroUsd = lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0n);
      const closingMicroUsd = given.reduce((sum, { microUsd }) => sum + microUsd, openingMicroUsd) - totalMicroUsd;
      return { organisationId: account, month, openingMicroUsd, credits: given, lines, totalMicroUsd, closingMicroUsd };
    },
  };
}

function counted<Row extends { own: boolean } & Record<Counts, number>>(row: Counted<Row>): Row {
  return {
    ...row,
    own: row.own === 1n,
    sessions: Number(row.sessions),
    audioMs: Number(row.audioMs),
    connectionMs: Number(row.connectionMs),
  } as unknown as Row;
}

/** First moment of a month and of the next. */
function boundsOf(month: string): [string, string] {
  const match = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month);
  if (match === null) throw new StoreError('invalid', 'A month is written like 2026-11.');
  const [year, number] = [Number(match[1]), Number(match[2])];
  const next =
    number === 12 ? `${String(year + 1).padStart(4, '0')}-01` : `${match[1]}-${String(number + 1).padStart(2, '0')}`;
  return [`${month}-01T00:00:00.000Z`, `${next}-01T00:00:00.000Z`];
}
