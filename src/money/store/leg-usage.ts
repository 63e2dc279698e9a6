// What providers were sent: what the operator compares with their bills. What is charged is read from the bills themselves, page by page;
// what was sent again or in vain is added up by day, model, mode, account and reason, with the settlement of each session. So a session of
// which everything was sent once costs nothing here.
import type { Mode } from '../../api/models.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { ChargedRow, LedgerCalls, LegUsageRow, SentAgain, SessionHead } from './calls.ts';

/** Days that are kept, and read of the bills. */
export const LEG_USAGE_DAYS = 400;
/** Sessions and organisations that one page looks at: about 20 ms of work. */
export const CHARGED_LOOKED_AT_MAX = 5_000;

const DAY_MS = 86_400_000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const DAY = /^\d{4}-\d\d-\d\d$/;

export interface LegUsage extends Pick<LedgerCalls, 'legUsageOf' | 'chargedUsageOf'> {
  /** Adds what was sent again or in vain for a session that ended at that time. */
  add(head: Pick<SessionHead, 'mode'>, endedAt: string, sentAgain: readonly SentAgain[]): void;
}

export function createLegUsage(context: TableContext): LegUsage {
  const { database, nowText } = context;
  type Counts = [legs: number, audioMs: number, connectionMs: number];
  type Name = [day: string, model: string, mode: Mode, own: 0 | 1, reason: SentAgain['reason']];
  const grow = database.prepare<[...Counts, ...Name]>(
    `UPDATE leg_usage SET legs = legs + ?, audio_ms = audio_ms + ?, connection_ms = connection_ms + ?
     WHERE day = ? AND model = ? AND mode = ? AND own = ? AND reason = ?`,
  );
  const insert = database.prepare<[...Counts, ...Name]>(
    'INSERT INTO leg_usage (legs, audio_ms, connection_ms, day, model, mode, own, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const sweep = database.prepare<[string]>('DELETE FROM leg_usage WHERE day < ?');
  const list = database.prepare<[string, string, string], Omit<LegUsageRow, 'own'> & { own: 0 | 1 }>(
    `SELECT day, model, mode, own, reason, legs, audio_ms AS audioMs, connection_ms AS connectionMs FROM leg_usage
     WHERE day >= ? AND day <= ? AND substr(model, 1, instr(model || '/', '/') - 1) = ?
     ORDER BY day, model, mode, own, reason`,
  );
  const oldest = (): string => dayBefore(nowText().slice(0, DAY_LENGTH), LEG_USAGE_DAYS);
  /** The first day that is read. */
  function firstOf(from: string, to: string): string {
    if (!DAY.test(from) || !DAY.test(to)) throw new StoreError('invalid', 'A day is written YYYY-MM-DD.');
    const first = oldest();
    return from > first ? from : first;
  }

  return {
    add({ mode }, endedAt, sentAgain) {
      const day = endedAt.slice(0, DAY_LENGTH);
      for (const { model, own, reason, legs, audioMs, connectionMs = 0 } of sentAgain) {
        const ownNumber = own ? 1 : 0;
        if (grow.run(legs, audioMs, connectionMs, day, model, mode, ownNumber, reason).changes > 0) continue;
        insert.run(legs, audioMs, connectionMs, day, model, mode, ownNumber, reason);
        sweep.run(oldest());
      }
    },
    legUsageOf: (provider, from, to) =>
      list.all(firstOf(from, to), to, provider).map((row) => ({ ...row, own: row.own === 1 })),
    chargedUsageOf: chargedUsage(context, firstOf),
  };
}

const dayBefore = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, DAY_LENGTH);

/** Where a session is among those of its organisation, by the time of settlement. Texts and numbers compare as in the index. */
interface Place {
  organisationId: string;
  settledAt: string;
  cost: bigint;
  session: bigint;
}

/** Reads bills in the order of the index of sessions that have ended: organisation by organisation, from the first day on. */
function chargedUsage(
  { database }: TableContext,
  firstOf: (from: string, to: string) => string,
): LedgerCalls['chargedUsageOf'] {
  const INDEX = 'session_ends INDEXED BY session_ends_by_organisation';
  const PLACE = '(settled_at, cost_micro_usd, session)';
  const nextOrganisation = database
    .prepare<[string], string | null>(`SELECT min(organisation_id) FROM ${INDEX} WHERE organisation_id > ?`)
    .pluck();
  const lastOfPage = database
    .prepare<Place & { offset: number }, Place>(
      `SELECT organisation_id AS organisationId, settled_at AS settledAt, cost_micro_usd AS cost, session FROM ${INDEX}
       WHERE organisation_id = @organisationId AND ${PLACE} > (@settledAt, @cost, @session)
       ORDER BY settled_at, cost_micro_usd, session LIMIT 1 OFFSET @offset`,
    )
    .safeIntegers();
  const countOf = database
    .prepare<Place, number>(
      `SELECT count(*) FROM ${INDEX} WHERE organisation_id = @organisationId AND ${PLACE} > (@settledAt, @cost, @session)`,
    )
    .pluck();
  const charged = database.prepare<
    Place & Record<'toAt' | 'first' | 'last' | 'model' | 'modelEnd', string> & Record<'toCost' | 'toSession', bigint>,
    Omit<ChargedRow, 'own'> & { own: 0 | 1 }
  >(
    `SELECT substr(ended_at, 1, ${DAY_LENGTH}) AS day, session_lines.model, mode, own, count(DISTINCT ends.session) AS legs,
       sum(session_lines.audio_ms) AS audioMs, sum(connection_ms) AS connectionMs
     FROM (SELECT session, ended_at FROM ${INDEX}
       WHERE organisation_id = @organisationId AND ${PLACE} > (@settledAt, @cost, @session)
         AND ${PLACE} <= (@toAt, @toCost, @toSession)) AS ends
     CROSS JOIN session_lines ON session_lines.session = ends.session
       AND session_lines.model >= @model AND session_lines.model < @modelEnd
     CROSS JOIN sessions ON sessions.number = ends.session
     WHERE substr(ended_at, 1, ${DAY_LENGTH}) BETWEEN @first AND @last
     GROUP BY 1, 2, 3, 4`,
  );
  const LAST = { toAt: '~', toCost: 0n, toSession: 0n };

  return (provider, from, to, after) => {
    const first = firstOf(from, to);
    // The clock of the node that ended it may be ahead of the ledger's.
    const settledFrom = dayBefore(first, 1);
    const of = { first, last: to, model: `${provider}/`, modelEnd: `${provider}0` };
    const rows: ChargedRow[] = [];
    let left = CHARGED_LOOKED_AT_MAX;
    let place = after === undefined ? undefined : placeIn(after);
    let organisationId = place?.organisationId ?? nextOrganisation.get('');
    while (organisationId !== null && organisationId !== undefined) {
      place ??= { organisationId, settledAt: settledFrom, cost: 0n, session: 0n };
      const end = lastOfPage.get({ ...place, offset: left - 1 });
      const until = end === undefined ? LAST : { toAt: end.settledAt, toCost: end.cost, toSession: end.session };
      for (const row of charged.all({ ...place, ...until, ...of })) rows.push({ ...row, own: row.own === 1 });
      if (end !== undefined)
        return { rows, next: JSON.stringify([end.organisationId, end.settledAt, `${end.cost}`, `${end.session}`]) };
      left -= 1 + countOf.get(place)!;
      organisationId = nextOrganisation.get(organisationId);
      place = undefined;
      if (left <= 0 && typeof organisationId === 'string')
        return { rows, next: JSON.stringify([organisationId, settledFrom, '0', '0']) };
    }
    return { rows, next: null };
  };
}

/** A place as a page has named it. */
function placeIn(text: string): Place {
  try {
    const [organisationId, settledAt, cost, session] = JSON.parse(text);
    if (typeof organisationId === 'string' && typeof settledAt === 'string')
      return { organisationId, settledAt, cost: BigInt(cost), session: BigInt(session) };
  } catch {}
  throw new StoreError('invalid', 'A page begins where the one before it ended: pass its `next`.');
}
