// Closes sessions of lost nodes at the usage that was posted until then. If such a node reports more usage later, it is billed
// separately: a bill that was made is not changed.
import { lineCostMicroUsd } from '../../config/prices/price.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { BilledLine, LedgerCalls, SessionHead, UsageLine } from './calls.ts';
import { isoOf } from './checks.ts';
import type { LedgerHolds } from './holds.ts';
import type { OwnHolds } from './own-holds.ts';
import type { SessionRow } from './postings.ts';

/** The end reason of a session whose node was lost. */
export const NODE_LOST = 'node_lost';

/** Closed in one transaction, before others have their turn. */
const AT_ONCE_MAX = 1_000;
/** Sessions younger than so many others are looked at: what is open longer was open before any of them. */
const LOOKED_AT_MAX = 200_000;
const NODE = /^[a-z0-9]{6}$/;

export function createLedgerLost(
  { database, nowText }: Pick<TableContext, 'database' | 'nowText'>,
  { end }: Pick<LedgerHolds, 'end'>,
  ownHolds: Pick<OwnHolds, 'endOfNode'>,
): Pick<LedgerCalls, 'openNodes' | 'closeLost' | 'closeLostFiles'> {
  const nodes = database
    .prepare<[number], string>(
      `SELECT DISTINCT substr(id, 5, 6) AS node FROM sessions
       WHERE number > (SELECT max(number) FROM sessions) - ? AND id GLOB 'ses_*'
         AND NOT EXISTS (SELECT 1 FROM session_ends WHERE session = number)
       ORDER BY node`,
    )
    .pluck();
  const close = database.prepare<Record<'from' | 'to' | 'endedAt' | 'now', string>>(
    `INSERT INTO session_ends (session, organisation_id, ended_at, settled_at, reason, code, audio_ms, cost_micro_usd)
     SELECT number, organisation_id, max(opened_at, @endedAt), @now, '${NODE_LOST}', NULL,
       (SELECT coalesce(sum(audio_ms), 0) FROM session_lines WHERE session = number),
       (SELECT coalesce(sum(cost_micro_usd), 0) FROM session_lines WHERE session = number)
     FROM sessions
     WHERE id > @from AND id < @to
       AND NOT EXISTS (SELECT 1 FROM session_ends WHERE session = number)
       AND NOT EXISTS (SELECT 1 FROM open_holds WHERE session = number)
       AND NOT EXISTS (SELECT 1 FROM own_holds WHERE session = number)
     ORDER BY id LIMIT ${AT_ONCE_MAX}`,
  );
  const closeFiles = database.prepare<{ untilMs: number; among: number; now: string }>(
    `INSERT INTO session_ends (session, organisation_id, ended_at, settled_at, reason, code, audio_ms, cost_micro_usd)
     SELECT number, organisation_id, max(opened_at, strftime('%Y-%m-%dT%H:%M:%fZ', lastHeldMs / 1000.0, 'unixepoch')), @now,
       '${NODE_LOST}', NULL,
       (SELECT coalesce(sum(audio_ms), 0) FROM session_lines WHERE session = number),
       (SELECT coalesce(sum(cost_micro_usd), 0) FROM session_lines WHERE session = number)
     FROM (SELECT number, organisation_id, opened_at, coalesce(
         (SELECT max(ended_at_ms) FROM holds JOIN hold_ends ON hold = holds.number WHERE holds.session = sessions.number),
         unixepoch(opened_at) * 1000) AS lastHeldMs
       FROM sessions
       WHERE number > (SELECT max(number) FROM sessions) - @among AND mode = 'batch'
         AND NOT EXISTS (SELECT 1 FROM session_ends WHERE session = sessions.number)
         AND NOT EXISTS (SELECT 1 FROM open_holds WHERE session = sessions.number)
         AND NOT EXISTS (SELECT 1 FROM own_holds WHERE session = sessions.number))
     WHERE lastHeldMs <= @untilMs
     ORDER BY number LIMIT ${AT_ONCE_MAX}`,
  );
  const held = database.prepare<[string, string, number], SessionRow>(
    `SELECT number, id, organisation_id AS organisationId, key_id AS keyId, model
     FROM sessions JOIN open_holds ON session = number WHERE id > ? AND id < ? ORDER BY id LIMIT ?`,
  );

  const closeAll = database.transaction((node: string, endedAt: string, isKilled: boolean): number => {
    // What follows the node in an id is hexadecimal.
    const [from, to] = [`ses_${node}`, `ses_${node}~`];
    if (isKilled) for (const session of held.all(from, to, AT_ONCE_MAX)) end(session, 0n);
    if (isKilled) ownHolds.endOfNode(from, to);
    return close.run({ from, to, endedAt, now: nowText() }).changes;
  });

  return {
    openNodes: () => nodes.all(LOOKED_AT_MAX).filter((node) => NODE.test(node)),
    closeLost(node, endedAt, isKilled = false) {
      if (!NODE.test(node)) throw new StoreError('invalid', 'A node is six small letters and digits.');
      return closeAll.immediate(node, isoOf(endedAt, 'time of ending'), isKilled);
    },
    closeLostFiles(untilMs, among) {
      if (!Number.isSafeInteger(untilMs) || !Number.isSafeInteger(among))
        throw new StoreError('invalid', 'The time and the number of sessions to look at are whole numbers.');
      return closeFiles.run({ untilMs, among, now: nowText() }).changes;
    },
  };
}

/** The name under which a session's late usage is billed. */
export const lateHead = (head: SessionHead): SessionHead => ({ ...head, id: lateId(head.id) });

export const lateId = (id: string): string => `${id}:late`;

/** What lines say beyond what is billed, each at exactly what it costs more: a minimum, or a price of a session, is charged once. */
export function linesBeyond(billed: readonly BilledLine[], lines: readonly UsageLine[]): UsageLine[] {
  return lines.flatMap((line) => {
    const { model, own, rate = 0 } = line;
    const before = billed.find((each) => each.model === model && each.own === own && (each.rate ?? 0) === rate);
    const audioMs = Math.max(0, line.audioMs - (before?.audioMs ?? 0));
    const connectionMs = Math.max(0, (line.connectionMs ?? 0) - (before?.connectionMs ?? 0));
    if (audioMs + connectionMs === 0) return [];
    if (before === undefined) return [line];
    const inAll = { audioMs: before.audioMs + audioMs, connectionMs: (before.connectionMs ?? 0) + connectionMs };
    const microUsd = line.counted
      ? lineCostMicroUsd({ ...before, ...inAll, own: false }) - (before.countedMicroUsd ?? 0n)
      : lineCostMicroUsd({ ...before, ...inAll }) - before.costMicroUsd;
    const more = connectionMs === 0 ? { audioMs } : { audioMs, connectionMs };
    const name: Pick<UsageLine, 'model' | 'own' | 'rate' | 'counted'> = { model, own };
    if (rate !== 0) name.rate = rate;
    if (line.counted) name.counted = true;
    return [{ ...name, ...more, price: { unit: 'session', microUsd, minimumMicroUsd: 0n } }];
  });
}
