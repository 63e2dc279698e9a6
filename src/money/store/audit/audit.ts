// Recomputes the ledger from what it rests on, in SQL alone: bills from usage and prices, balances from transfers, holds from
// their ends. A sentence for every difference. Only reads.
import type { Statement } from 'better-sqlite3';
import { usdOf } from '../../../config/prices/price.ts';
import type { TableContext } from '../../../store/table-context.ts';
import type { LedgerAudit, LedgerCalls } from '../calls.ts';

const FAULTS_MAX = 100;
const DECISIONS_MAX = 100;
/** How long a hold may outlive its lease: a lock may delay the process that releases them. */
const LEASE_GRACE_MS = 60_000;

/** One question of the audit, and the words it is written in. */
interface Check {
  /** Rows with what is wrong. `@now` is the time in epoch milliseconds. */
  sql: string;
  sentence(row: Fault): string;
}

/** Who it is about, what is there and what should be. */
interface Fault {
  who: string;
  found: bigint | null;
  wanted: bigint | null;
}

/** Sums by the same name from two sides that must agree. */
const differing = (found: string, wanted: string): string => `
  WITH found (who, sum) AS (${found}), wanted (who, sum) AS (${wanted})
  SELECT who, found.sum AS found, coalesce(wanted.sum, 0) AS wanted FROM found LEFT JOIN wanted USING (who)
    WHERE found.sum <> coalesce(wanted.sum, 0)
  UNION ALL
  SELECT who, 0, sum FROM wanted WHERE sum <> 0 AND NOT EXISTS (SELECT 1 FROM found WHERE found.who = wanted.who)`;

const CEILING = "scope || ' ' || provider || ' a ' || period";
const OWNER = (slug: string): string => `substr(${slug}, 1, instr(${slug} || '/', '/') - 1)`;

const sessionName = (who: string): string => `(SELECT id FROM sessions WHERE number = ${who})`;

/**
 * Price per minute × ms / 60 000 of the audio or of the open connection, whichever is more, rounded half-up, with whole minutes apart so that it fits 64 bits. Written a second time
 * here on purpose: billing/price.ts has no say in whether it was right.
 */
const MS = 'max(audio_ms, connection_ms)';
const AT_PRICE = `CASE WHEN ${MS} = 0 THEN 0 ELSE max(minimum_micro_usd, CASE unit
    WHEN 'session' THEN price_micro_usd
    ELSE price_micro_usd * (${MS} / 60000) + (price_micro_usd * (${MS} % 60000) * 2 + 60000) / 120000 END) END`;
const COST = `CASE WHEN own = 1 THEN 0 ELSE ${AT_PRICE} END`;

const money = (microUsd: bigint | null): string => `${usdOf(microUsd ?? 0n)} USD`;

// What the audit asks of charges: that each came out of a hold or has a reason, that a file is charged for no more than it can
// hold, that no organisation owes more than it may, and that no work was left unbilled.

const seconds = (ms: bigint | null): string => `${Number(ms) / 1000} s`;

/** Charges beyond a hold that were meant. */
const MEANT = "('never_held', 'lease_over', 'on_trust')";
/** No session lasts as long, whatever a node is set to. */
const SESSION_DAYS_MAX = 2;
/** Whoever works on a file renews its hold within half a minute, and files that nobody works on are closed within ten. */
const FILE_WITHOUT_HOLD_MS_MAX = 900_000;
/** Clocks of two processes of a machine do not differ by as much. */
const AHEAD_MS_MAX = 60_000;

/** The most that the organisation could ever owe by its limit; null where it once had none. */
const LIMIT_EVER = `(SELECT CASE WHEN count(*) = count(micro_usd) THEN max(micro_usd) END FROM (
    SELECT credit_limit_micro_usd AS micro_usd
    UNION ALL SELECT CAST(detail ->> 'fromMicroUsd' AS INTEGER) FROM audit_log
      WHERE audit_log.organisation_id = organisations.id AND action = 'credit-limit.changed'))`;
/** What it may owe beyond: by a decision of the ledger, or of the operator. */
const EXPLAINED = `(SELECT coalesce(sum(posted_micro_usd - held_micro_usd), 0) FROM charges_beyond_holds
    WHERE organisation_id = account AND reason IN ${MEANT})
  + (SELECT coalesce(sum(micro_usd), 0) FROM transfers WHERE debit = account AND kind = 'adjustment')`;

export const CHARGE_CHECKS: readonly Check[] = [
  {
    sql: `SELECT account AS who, posted_micro_usd AS found, ${LIMIT_EVER} AS wanted
      FROM balances JOIN organisations ON organisations.id = account
      WHERE posted_micro_usd < 0 AND posted_micro_usd + ${LIMIT_EVER} + ${EXPLAINED} < 0`,
    sentence: ({ who, found, wanted }) =>
      `The balance of ${who} is ${money(found)}, below its credit limit of ${money(wanted)}, without a recorded reason.`,
  },
  {
    sql: `SELECT ${sessionName('holds.session')} AS who, posted_micro_usd AS found, micro_usd AS wanted
      FROM hold_ends JOIN holds ON holds.number = hold
      WHERE posted_micro_usd > micro_usd AND NOT EXISTS (SELECT 1 FROM charges_beyond_holds AS beyond
        WHERE beyond.session = holds.session AND held_micro_usd = micro_usd
          AND beyond.posted_micro_usd = hold_ends.posted_micro_usd AND reason <> 'less_held')`,
    sentence: ({ who, found, wanted }) =>
      `Session ${who} was charged ${money(found)} on a hold of ${money(wanted)}, without a recorded reason.`,
  },
  {
    sql: `SELECT coalesce(${sessionName('who')}, who) AS who, found, wanted FROM (${differing(
      "SELECT session, sum(micro_usd) FROM transfers WHERE kind = 'usage' GROUP BY session",
      `SELECT session, sum(posted) FROM (
        SELECT session, posted_micro_usd AS posted FROM holds JOIN hold_ends ON hold = holds.number
        UNION ALL SELECT session, posted_micro_usd FROM charges_beyond_holds
          WHERE held_micro_usd = 0 AND reason <> 'less_held') GROUP BY session`,
    )})`,
    sentence: ({ who, found, wanted }) =>
      `Session ${who} was charged ${money(found)}; its holds and its charges with a recorded reason are ${money(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} AS who, audio_ms AS found, audio_ms_max AS wanted
      FROM file_charges WHERE audio_ms > audio_ms_max`,
    sentence: ({ who, found, wanted }) =>
      `File ${who} is charged for ${seconds(found)} of audio; it can contain ${seconds(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} || ' with ' || group_concat(model, ', ') AS who,
        sum(session_lines.audio_ms) AS found, file_charges.audio_ms * channels AS wanted
      FROM file_charges JOIN session_lines USING (session) GROUP BY session HAVING found <> wanted`,
    sentence: ({ who, found, wanted }) =>
      `The bill of file ${who} has ${seconds(found)} of audio; its seconds times its channels are ${seconds(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} AS who, audio_ms AS found, NULL AS wanted FROM session_ends
      WHERE reason IN ('completed', 'answer_untaken') AND audio_ms > 0 AND NOT EXISTS (SELECT 1 FROM session_lines
        WHERE session_lines.session = session_ends.session)`,
    sentence: ({ who, found }) => `Session ${who} had answers for ${seconds(found)} of audio but has no line.`,
  },
  {
    sql: `SELECT coalesce(${sessionName('session')}, session) AS who, min(count) AS found, NULL AS wanted FROM session_redactions
      GROUP BY session HAVING found < 1 OR NOT EXISTS (
        SELECT 1 FROM session_ends WHERE session_ends.session = session_redactions.session)`,
    sentence: ({ who, found }) =>
      Number(found) < 1
        ? `Session ${who} has a count of redactions below 1.`
        : `Session ${who} has counts of redactions but is not settled.`,
  },
];

export const CHARGE_CHECKS_IN_USE: readonly Check[] = [
  {
    sql: `SELECT ${sessionName('session')} AS who, made_at_ms - @now AS found, NULL AS wanted
      FROM open_holds JOIN holds USING (session) WHERE holds.number = hold AND made_at_ms > @now + ${AHEAD_MS_MAX}`,
    sentence: ({ who, found }) =>
      `The hold of session ${who} was made ${seconds(found)} in the future: a clock was set back.`,
  },
  {
    sql: `SELECT id AS who, NULL AS found, NULL AS wanted FROM sessions
      WHERE mode = 'live' AND opened_at < strftime('%Y-%m-%dT%H:%M:%fZ', @now / 1000 - ${SESSION_DAYS_MAX * 86_400}, 'unixepoch')
        AND NOT EXISTS (SELECT 1 FROM session_ends WHERE session = number)
        AND NOT EXISTS (SELECT 1 FROM open_holds WHERE session = number)`,
    sentence: ({ who }) =>
      `Session ${who} has been open for more than ${SESSION_DAYS_MAX} days and has no hold: its node is gone, and no other node closed it.`,
  },
  {
    sql: `SELECT id AS who, @now - max(ended_at_ms) AS found, NULL AS wanted
      FROM sessions JOIN holds ON holds.session = sessions.number JOIN hold_ends ON hold = holds.number
      WHERE mode = 'batch'
        AND NOT EXISTS (SELECT 1 FROM session_ends WHERE session = sessions.number)
        AND NOT EXISTS (SELECT 1 FROM open_holds WHERE session = sessions.number)
      GROUP BY sessions.number HAVING max(ended_at_ms) < @now - ${FILE_WITHOUT_HOLD_MS_MAX}`,
    sentence: ({ who, found }) =>
      `File ${who} is open and has had no hold for ${seconds(found)}: its node is gone, and no other node closed it.`,
  },
];

const REASONS: Readonly<Record<string, string>> = {
  never_held: 'it never had a hold, because the ledger was unavailable when it began, or was informed late',
  lease_over: 'its hold had expired, because no node renewed it',
  on_trust: 'the ledger did not answer, and it continued on trust',
  not_kept: 'reasons were not recorded at that time',
};

interface Decision {
  who: string;
  reason: string;
  found: bigint;
  wanted: bigint;
}

/** What was decided, the newest first. `@limit` is the most of them. */
export const DECISIONS = {
  sql: `SELECT ${sessionName('session')} AS who, reason, posted_micro_usd AS found, held_micro_usd AS wanted
    FROM charges_beyond_holds WHERE reason <> 'less_held' ORDER BY number DESC LIMIT @limit`,
  sentence: ({ who, reason, found, wanted }: Decision): string =>
    `Session ${who} was charged ${money(found)} with ${money(wanted)} held: ${REASONS[reason] ?? reason}.`,
};

const OPEN = 'SELECT number FROM holds WHERE NOT EXISTS (SELECT 1 FROM hold_ends WHERE hold = number)';

const CHECKS: readonly Check[] = [
  ...[
    { which: 'connection_ms <= audio_ms', what: 'audio' },
    { which: 'connection_ms > audio_ms', what: 'open connection' },
  ].map(
    ({ which, what }): Check => ({
      sql: `SELECT ${sessionName('session')} || ' with ' || model || iif(rate = 0, '', ' at rate ' || rate) AS who, cost_micro_usd AS found, ${COST} AS wanted
        FROM session_lines WHERE ${which} AND cost_micro_usd <> ${COST}`,
      sentence: ({ who, found, wanted }) =>
        `The line of session ${who} is billed ${money(found)}; its ${what} costs ${money(wanted)}.`,
    }),
  ),
  {
    sql: `SELECT coalesce(${sessionName('who')}, who) AS who, found, wanted FROM (${differing(
      "SELECT session, sum(micro_usd) FROM transfers WHERE kind = 'usage' GROUP BY session",
      `SELECT session, sum(${COST}) FROM session_lines GROUP BY session`,
    )})`,
    sentence: ({ who, found, wanted }) =>
      `The transfers of session ${who} are ${money(found)} in all; its lines cost ${money(wanted)}.`,
  },
  {
    sql: `SELECT coalesce(${sessionName('who')}, who) AS who, found, wanted FROM (${differing(
      'SELECT session, cost_micro_usd FROM session_ends',
      `SELECT session, sum(${COST}) FROM session_lines
        WHERE session IN (SELECT session FROM session_ends) GROUP BY session`,
    )})`,
    sentence: ({ who, found, wanted }) =>
      `Session ${who} was settled at ${money(found)}; its lines cost ${money(wanted)}.`,
  },
  {
    sql: differing(
      'SELECT account, posted_micro_usd FROM balances',
      `SELECT account, sum(amount) FROM (SELECT credit AS account, micro_usd AS amount FROM transfers
        UNION ALL SELECT debit, -micro_usd FROM transfers) GROUP BY account`,
    ),
    sentence: ({ who, found, wanted }) =>
      `The balance of ${who} is ${money(found)}; its transfers come to ${money(wanted)}.`,
  },
  {
    sql: differing(
      'SELECT account, held_micro_usd FROM balances',
      `SELECT organisation_id, sum(micro_usd) FROM holds WHERE number IN (${OPEN}) GROUP BY organisation_id`,
    ),
    sentence: ({ who, found, wanted }) => `${money(found)} is held for ${who}; its open holds are ${money(wanted)}.`,
  },
  {
    sql: differing(
      'SELECT key_id, micro_usd FROM key_holds',
      `SELECT key_id, sum(micro_usd) FROM holds WHERE number IN (${OPEN}) GROUP BY key_id`,
    ),
    sentence: ({ who, found, wanted }) =>
      `${money(found)} is held for key ${who}; its open holds are ${money(wanted)}.`,
  },
  {
    sql: differing(
      "SELECT key_id || ' on ' || day, micro_usd FROM key_spend",
      `SELECT key_id || ' on ' || substr(at, 1, 10), sum(micro_usd)
        FROM transfers JOIN sessions ON sessions.number = session GROUP BY 1`,
    ),
    sentence: ({ who, found, wanted }) =>
      `The spend of key ${who} is ${money(found)}; its transfers come to ${money(wanted)}.`,
  },
  {
    sql: differing(
      `SELECT ${CEILING}, held_micro_usd FROM spend_ceilings`,
      `SELECT who, sum(micro_usd) FROM (SELECT ${CEILING} AS who, holds.micro_usd FROM spend_ceilings JOIN holds
          ON scope IN ('gateway', holds.organisation_id, holds.key_id) JOIN sessions ON sessions.number = session
          WHERE holds.number IN (${OPEN}) AND (provider = ''
            OR instr(coalesce(providers, ' ' || ${OWNER('model')} || ' '), ' ' || provider || ' ') > 0)
        UNION ALL SELECT ${CEILING}, own_holds.micro_usd FROM spend_ceilings JOIN own_holds
          ON scope IN ('gateway', own_holds.organisation_id, own_holds.key_id)
          WHERE provider = '' OR instr(providers, ' ' || provider || ' ') > 0) GROUP BY 1`,
    ),
    sentence: ({ who, found, wanted }) =>
      `${money(found)} is held under the ceiling of ${who}; its open holds are ${money(wanted)}.`,
  },
  {
    // A clock that went back may have left more there, never less.
    sql: `SELECT who, found, wanted FROM (SELECT ${CEILING} AS who, spent_micro_usd AS found, sum(spend.micro_usd) AS wanted
        FROM spend_ceilings JOIN (SELECT micro_usd, session, at, note AS slug FROM transfers WHERE kind = 'usage'
          UNION ALL SELECT micro_usd, session, at, model FROM own_spend) AS spend JOIN sessions ON sessions.number = session
        WHERE scope IN ('gateway', sessions.organisation_id, key_id) AND (provider = '' OR provider = ${OWNER('slug')})
          AND substr(at, 1, length(span)) = span GROUP BY 1) WHERE found < wanted`,
    sentence: ({ who, found, wanted }) =>
      `The spend under the ceiling of ${who} is ${money(found)}; its transfers and what own keys used come to ${money(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} || ' with ' || model AS who, counted_micro_usd AS found, ${AT_PRICE} AS wanted
      FROM session_lines WHERE counted_micro_usd NOT IN (0, ${AT_PRICE})`,
    sentence: ({ who, found, wanted }) =>
      `The line of session ${who} counts ${money(found)} for an own key; at its price that is ${money(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('who')} AS who, found, wanted FROM (${differing(
      'SELECT session, sum(micro_usd) FROM own_spend GROUP BY session',
      'SELECT session, sum(counted_micro_usd) FROM session_lines WHERE counted_micro_usd > 0 GROUP BY session',
    )})`,
    sentence: ({ who, found, wanted }) =>
      `Own keys of session ${who} count ${money(found)} under ceilings; its lines count ${money(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} AS who, own_holds.micro_usd AS found, NULL AS wanted
      FROM own_holds JOIN session_ends USING (session)`,
    sentence: ({ who, found }) => `Session ${who} is settled and ${money(found)} is held for its own key.`,
  },
  {
    sql: `SELECT debit AS who, transfers.number AS found, NULL AS wanted
      FROM transfers JOIN sessions ON sessions.number = session WHERE debit <> organisation_id`,
    sentence: ({ who, found }) => `Transfer ${found} takes usage of another organisation's session from ${who}.`,
  },
  {
    sql: `SELECT '' AS who, count(*) AS found, max(number) AS wanted FROM transfers HAVING count(*) <> coalesce(max(number), 0)`,
    sentence: ({ found, wanted }) => `There are ${found} transfers, numbered up to ${wanted}: some are missing.`,
  },
  {
    sql: `SELECT id AS who, count(*) AS found, 1 AS wanted FROM transfers GROUP BY id HAVING count(*) > 1`,
    sentence: ({ who, found }) => `The transfer ${who} happened ${found} times.`,
  },
  {
    sql: `SELECT hold AS who, count(*) AS found, 1 AS wanted FROM hold_ends GROUP BY hold HAVING count(*) > 1`,
    sentence: ({ who, found }) => `Hold ${who} ended ${found} times.`,
  },
  {
    sql: `SELECT hold AS who, NULL AS found, NULL AS wanted FROM hold_ends
      WHERE NOT EXISTS (SELECT 1 FROM holds WHERE number = hold)`,
    sentence: ({ who }) => `Hold ${who} ended but was never made.`,
  },
  {
    sql: `SELECT number AS who, 0 AS found, 1 AS wanted FROM (${OPEN})
        WHERE NOT EXISTS (SELECT 1 FROM open_holds WHERE hold = number)
      UNION ALL SELECT hold, 1, 0 FROM open_holds WHERE hold NOT IN (${OPEN})`,
    sentence: ({ who, found }) =>
      found === 0n ? `Hold ${who} is open but not listed as open.` : `Hold ${who} is listed as open but is not.`,
  },
  {
    sql: `SELECT ${sessionName('session')} AS who, hold AS found, NULL AS wanted
      FROM open_holds JOIN session_ends USING (session)`,
    sentence: ({ who, found }) => `Session ${who} is settled and hold ${found} of it is open.`,
  },
  {
    sql: 'SELECT NULL AS who, sum(posted_micro_usd) AS found, 0 AS wanted FROM balances HAVING sum(posted_micro_usd) <> 0',
    sentence: ({ found }) => `All accounts come to ${money(found)} in all; they must come to 0.`,
  },
  ...CHARGE_CHECKS,
];

/** In a ledger in use, a gateway releases expired holds. In a copy they stay as they were. */
const CHECKS_IN_USE: readonly Check[] = [
  ...CHECKS,
  {
    sql: `SELECT ${sessionName('session')} AS who, @now - lease_end_ms AS found, NULL AS wanted
      FROM (SELECT session, lease_end_ms FROM open_holds UNION ALL SELECT session, lease_end_ms FROM own_holds)
      WHERE lease_end_ms < @now - ${LEASE_GRACE_MS}`,
    sentence: ({ who, found }) => `The hold of session ${who} is open ${found} ms after its lease.`,
  },
  ...CHARGE_CHECKS_IN_USE,
];

/** @param isCopy a copy of the database that no gateway uses */
export function createLedgerAudit(
  { database, nowMs }: Pick<TableContext, 'database' | 'nowMs'>,
  isCopy = false,
): Pick<LedgerCalls, 'auditLedger'> {
  const checks = isCopy ? CHECKS : CHECKS_IN_USE;
  const figures = database
    .prepare<[], { sessions: bigint; transfers: bigint; openHolds: bigint; oldest: bigint | null; sum: bigint | null }>(
      `SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM transfers) AS transfers,
         (SELECT count(*) FROM open_holds) AS openHolds,
         (SELECT min(made_at_ms) FROM open_holds JOIN holds ON number = hold) AS oldest,
         (SELECT sum(posted_micro_usd) FROM balances) AS sum`,
    )
    .safeIntegers();

  let prepared: { sentence: Check['sentence']; rows: Statement<{ now: bigint; limit: number }, Fault> }[] | undefined;
  /** Prepared for the first audit: most connections make none. */
  const preparedChecks = () =>
    (prepared ??= checks.map(({ sql, sentence }) => ({
      sentence,
      rows: database
        .prepare<{ now: bigint; limit: number }, Fault>(`SELECT * FROM (${sql}) LIMIT @limit`)
        .safeIntegers(),
    })));

  const decided = database
    .prepare<{ limit: number }, Parameters<typeof DECISIONS.sentence>[0]>(DECISIONS.sql)
    .safeIntegers();

  // One transaction, so that every check looks at the same moment.
  const audit = database.transaction((): LedgerAudit => {
    const now = nowMs();
    const { sessions, transfers, openHolds, oldest, sum } = figures.get()!;
    const faults: string[] = [];
    for (const { rows, sentence } of preparedChecks()) {
      if (faults.length === FAULTS_MAX) break;
      faults.push(...rows.all({ now: BigInt(now), limit: FAULTS_MAX - faults.length }).map(sentence));
    }
    return {
      ok: faults.length === 0,
      sessions: Number(sessions),
      transfers: Number(transfers),
      openHolds: Number(openHolds),
      oldestHoldMs: oldest === null ? null : now - Number(oldest),
      sumMicroUsd: sum ?? 0n,
      faults,
      decisions: decided.all({ limit: DECISIONS_MAX }).map(DECISIONS.sentence),
    };
  });
  return { auditLedger: () => audit.deferred() };
}
