// What the audit asks of charges: that each came out of a hold or has a reason, that a file is charged for no more than it can
// hold, that no organisation owes more than it may, and that no work was left unbilled.
import { usdOf } from '../../../config/prices/price.ts';
import { type Check, differing, sessionName } from './check.ts';

const money = (microUsd: bigint | null): string => `${usdOf(microUsd ?? 0n)} USD`;
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
      `The balance of ${who} is ${money(found)}; with its credit limit of ${money(wanted)} nothing says how it came so low.`,
  },
  {
    sql: `SELECT ${sessionName('holds.session')} AS who, posted_micro_usd AS found, micro_usd AS wanted
      FROM hold_ends JOIN holds ON holds.number = hold
      WHERE posted_micro_usd > micro_usd AND NOT EXISTS (SELECT 1 FROM charges_beyond_holds AS beyond
        WHERE beyond.session = holds.session AND held_micro_usd = micro_usd
          AND beyond.posted_micro_usd = hold_ends.posted_micro_usd AND reason <> 'less_held')`,
    sentence: ({ who, found, wanted }) =>
      `Session ${who} was charged ${money(found)} out of a hold of ${money(wanted)}, and nothing says why.`,
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
      `Session ${who} was charged ${money(found)}; what was held for it, or charged without a hold for a reason, is ${money(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} AS who, audio_ms AS found, audio_ms_max AS wanted
      FROM file_charges WHERE audio_ms > audio_ms_max`,
    sentence: ({ who, found, wanted }) =>
      `File ${who} is charged for ${seconds(found)} of audio; it can hold ${seconds(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} || ' with ' || model AS who, session_lines.audio_ms AS found,
        file_charges.audio_ms * channels AS wanted
      FROM file_charges JOIN session_lines USING (session) WHERE session_lines.audio_ms <> file_charges.audio_ms * channels`,
    sentence: ({ who, found, wanted }) =>
      `The line of file ${who} has ${seconds(found)} of audio; its seconds times its channels are ${seconds(wanted)}.`,
  },
  {
    sql: `SELECT ${sessionName('session')} AS who, audio_ms AS found, NULL AS wanted FROM session_ends
      WHERE reason IN ('completed', 'answer_untaken') AND audio_ms > 0 AND NOT EXISTS (SELECT 1 FROM session_lines
        WHERE session_lines.session = session_ends.session)`,
    sentence: ({ who, found }) => `Session ${who} was answered for ${seconds(found)} of audio and has no line.`,
  },
];

export const CHARGE_CHECKS_IN_USE: readonly Check[] = [
  {
    sql: `SELECT ${sessionName('session')} AS who, made_at_ms - @now AS found, NULL AS wanted
      FROM open_holds JOIN holds USING (session) WHERE holds.number = hold AND made_at_ms > @now + ${AHEAD_MS_MAX}`,
    sentence: ({ who, found }) => `The hold of session ${who} was made ${seconds(found)} from now: a clock went back.`,
  },
  {
    sql: `SELECT id AS who, NULL AS found, NULL AS wanted FROM sessions
      WHERE mode = 'live' AND opened_at < strftime('%Y-%m-%dT%H:%M:%fZ', @now / 1000 - ${SESSION_DAYS_MAX * 86_400}, 'unixepoch')
        AND NOT EXISTS (SELECT 1 FROM session_ends WHERE session = number)
        AND NOT EXISTS (SELECT 1 FROM open_holds WHERE session = number)`,
    sentence: ({ who }) =>
      `Session ${who} is open for more than ${SESSION_DAYS_MAX} days and holds nothing: its node is gone, and nobody has closed it.`,
  },
  {
    sql: `SELECT id AS who, @now - max(ended_at_ms) AS found, NULL AS wanted
      FROM sessions JOIN holds ON holds.session = sessions.number JOIN hold_ends ON hold = holds.number
      WHERE mode = 'batch'
        AND NOT EXISTS (SELECT 1 FROM session_ends WHERE session = sessions.number)
        AND NOT EXISTS (SELECT 1 FROM open_holds WHERE session = sessions.number)
      GROUP BY sessions.number HAVING max(ended_at_ms) < @now - ${FILE_WITHOUT_HOLD_MS_MAX}`,
    sentence: ({ who, found }) =>
      `File ${who} is open and has held nothing for ${seconds(found)}: its node is gone, and nothing closed it.`,
  },
];

const REASONS: Readonly<Record<string, string>> = {
  never_held: 'nothing was ever held for it, since the ledger could not be asked when it began, or it was told of late',
  lease_over: 'the hold had ended with its lease, since nobody renewed it',
  on_trust: 'the ledger did not answer, and it went on for a while on trust',
  not_kept: 'that was before the reasons were written down',
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
