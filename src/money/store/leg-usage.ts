// What providers were sent, added up by day, model, mode, account and reason: what the operator compares with their bills. Written with the
// settlement of each session; of the rest nothing is kept. Runs in the caller's transaction.
import type { Mode } from '../../api/models.ts';
import { StoreError } from '../../store/store-error.ts';
import type { TableContext } from '../../store/table-context.ts';
import type { BilledLine, LedgerCalls, LegReason, LegUsageRow, SentAgain, SessionRecord } from './calls.ts';

/** Days that are kept. */
export const LEG_USAGE_DAYS = 400;

const DAY_MS = 86_400_000;
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const DAY = /^\d{4}-\d\d-\d\d$/;

interface Sent {
  model: string;
  own: boolean;
  reason: LegReason;
  legs: number;
  audioMs: number;
  connectionMs: number;
}

export interface LegUsage extends Pick<LedgerCalls, 'legUsageOf'> {
  /** Adds what was sent for a session that ended at that time: what it is charged for, and what was sent again or in vain. */
  add(session: Pick<SessionRecord, 'mode' | 'lines'>, endedAt: string, sentAgain: readonly SentAgain[]): void;
}

export function createLegUsage({ database, nowText }: TableContext): LegUsage {
  type Counts = [legs: number, audioMs: number, connectionMs: number];
  type Name = [day: string, model: string, mode: Mode, own: 0 | 1, reason: LegReason];
  const grow = database.prepare<[...Counts, ...Name]>(
    `UPDATE leg_usage SET legs = legs + ?, audio_ms = audio_ms + ?, connection_ms = connection_ms + ?
     WHERE day = ? AND model = ? AND mode = ? AND own = ? AND reason = ?`,
  );
  const insert = database.prepare<[...Counts, ...Name]>(
    `INSERT INTO leg_usage (legs, audio_ms, connection_ms, day, model, mode, own, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const sweep = database.prepare<[string]>('DELETE FROM leg_usage WHERE day < ?');
  const list = database.prepare<[string, string, string], Omit<LegUsageRow, 'own'> & { own: 0 | 1 }>(
    `SELECT day, model, mode, own, reason, legs, audio_ms AS audioMs, connection_ms AS connectionMs FROM leg_usage
     WHERE day >= ? AND day <= ? AND substr(model, 1, instr(model || '/', '/') - 1) = ?
     ORDER BY day, model, mode, own, reason`,
  );

  function addOne(day: string, mode: Mode, { model, own, reason, legs, audioMs, connectionMs }: Sent): void {
    const ownNumber = own ? 1 : 0;
    if (grow.run(legs, audioMs, connectionMs, day, model, mode, ownNumber, reason).changes > 0) return;
    insert.run(legs, audioMs, connectionMs, day, model, mode, ownNumber, reason);
    sweep.run(new Date(Date.parse(nowText()) - LEG_USAGE_DAYS * DAY_MS).toISOString().slice(0, DAY_LENGTH));
  }

  return {
    add({ mode, lines }, endedAt, sentAgain) {
      const day = endedAt.slice(0, DAY_LENGTH);
      for (const sent of servedOf(lines, sentAgain)) addOne(day, mode, sent);
      for (const sent of sentAgain) addOne(day, mode, { ...sent, connectionMs: 0 });
    },
    legUsageOf(provider, from, to) {
      if (!DAY.test(from) || !DAY.test(to)) throw new StoreError('invalid', 'A day is written YYYY-MM-DD.');
      return list.all(from, to, provider).map((row) => ({ ...row, own: row.own === 1 }));
    },
  };
}

/** What was charged and not sent before, of each model and account. */
function servedOf(lines: readonly BilledLine[], sentAgain: readonly SentAgain[]): Sent[] {
  const served = new Map<string, Sent>();
  for (const { model, own, audioMs, connectionMs = 0 } of lines) {
    const before = served.get(`${own} ${model}`);
    if (before === undefined)
      served.set(`${own} ${model}`, { model, own, reason: 'served', legs: 1, audioMs, connectionMs });
    else {
      before.audioMs += audioMs;
      before.connectionMs += connectionMs;
    }
  }
  for (const { model, own, reason, audioMs } of sentAgain) {
    const sent = served.get(`${own} ${model}`);
    if (sent !== undefined && reason === 'replayed') sent.audioMs = Math.max(0, sent.audioMs - audioMs);
  }
  return [...served.values()];
}
