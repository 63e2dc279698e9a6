// Usage and bills of an organisation. A session is on the bill of the month in which the ledger settled it, whole: what is
// posted of a session still open is on no bill yet, and a bill never changes once its month is over. Only reads.

import { TAG_KEY } from '../../api/tags.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { Bill, LedgerCalls, UsageGroup, UsageRow } from './calls.ts';
import { isoOf } from './checks.ts';
import { boundTag, TAGGED, type TagBind, tagPath, WITH_TAGS } from './session-tags.ts';
import type { LedgerTransfers } from './transfers.ts';

type LedgerReports = Pick<LedgerCalls, 'usageOf' | 'redactionsOf' | 'billOf'>;

interface UsageBind extends TagBind {
  organisationId: string;
  from: string;
  to: string;
  keyId: string | null;
  /** Of the tag that rows are of. */
  path: string | null;
}

type Counts = 'sessions' | 'audioMs' | 'connectionMs';
type Counted<Row> = Omit<Row, 'own' | Counts> & Record<'own' | Counts, bigint>;
type BillLine = Bill['lines'][number];
const UNTAGGED = ['model', 'provider', 'day', 'key'] as const;
type Grouping = (typeof UNTAGGED)[number] | 'tag';

const GROUPS: Readonly<Record<Grouping, string>> = {
  model: 'session_lines.model',
  provider: "substr(session_lines.model, 1, instr(session_lines.model || '/', '/') - 1)",
  day: 'substr(opened_at, 1, 10)',
  key: 'key_id',
  tag: 'json_extract(tags, @path)',
};
const ALL_GROUPS: readonly Grouping[] = [...UNTAGGED, 'tag'];
const GROUP_OF_TAG = new RegExp(`^tag:(${TAG_KEY})$`);

const SUMS = `own, count(DISTINCT sessions.number) AS sessions, sum(session_lines.audio_ms) AS audioMs,
  sum(session_lines.connection_ms) AS connectionMs,  sum(session_lines.cost_micro_usd) AS costMicroUsd`;

export function createLedgerReports(
  { database }: TableContext,
  { balanceOf }: Pick<LedgerTransfers, 'balanceOf'>,
): LedgerReports {
  const usageBy = (group: Grouping) =>
    database
      .prepare<UsageBind, Counted<UsageRow>>(
        `SELECT ${GROUPS[group]} AS "group", ${SUMS}, sum(session_lines.counted_micro_usd) AS countedMicroUsd
         FROM sessions JOIN session_lines ON session_lines.session = number
         ${group === 'tag' ? WITH_TAGS : ''}
         WHERE organisation_id = @organisationId AND opened_at >= @from AND opened_at < @to
           AND (@keyId IS NULL OR key_id = @keyId) AND ${TAGGED}
         GROUP BY 1, own ORDER BY 1 NULLS LAST, own`,
      )
      .safeIntegers();
  const usage = new Map(ALL_GROUPS.map((group) => [group, usageBy(group)]));
  const redactions = database.prepare<Omit<UsageBind, 'path'>, { class: string; count: number }>(
    `SELECT class, sum(count) AS count
     FROM sessions INDEXED BY sessions_by_organisation CROSS JOIN session_redactions ON session_redactions.session = number
     WHERE EXISTS (SELECT 1 FROM session_redactions) AND organisation_id = @organisationId
       AND opened_at >= @from AND opened_at < @to AND (@keyId IS NULL OR key_id = @keyId) AND ${TAGGED}
     GROUP BY class ORDER BY class`,
  );
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
    usageOf({ organisationId, from, to, groupBy, keyId, tag, limit = Number.POSITIVE_INFINITY }) {
      const { grouping, path } = groupingOf(groupBy);
      const bind = { organisationId, from: isoOf(from, 'start'), to: isoOf(to, 'end'), keyId: keyId ?? null };
      const rows: UsageRow[] = [];
      for (const row of usage.get(grouping)!.iterate({ ...bind, path, ...boundTag(tag) })) {
        if (rows.length === limit) break;
        rows.push(counted<UsageRow>(row));
      }
      return rows;
    },
    redactionsOf({ organisationId, from, to, keyId, tag }) {
      const bind = { organisationId, from: isoOf(from, 'start'), to: isoOf(to, 'end'), keyId: keyId ?? null };
      return Object.fromEntries(redactions.all({ ...bind, ...boundTag(tag) }).map((row) => [row.class, row.count]));
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

function groupingOf(groupBy: UsageGroup): { grouping: Grouping; path: string | null } {
  const [, key] = GROUP_OF_TAG.exec(groupBy) ?? [];
  if (key !== undefined) return { grouping: 'tag', path: tagPath(key) };
  const grouping = UNTAGGED.find((each) => each === groupBy);
  if (grouping !== undefined) return { grouping, path: null };
  throw new StoreError('invalid', 'Usage is grouped by model, provider, day, key, or a tag such as `tag:customer`.');
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
