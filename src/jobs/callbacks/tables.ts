// The table of callbacks: calls.ts says what each operation does.
import type { TableContext } from '../../store/table-context.ts';
import type { AttemptedCallback, CallbackCalls, CallbackToSend, DueCallback } from './calls.ts';

/** Organisations that are looked at in one call. */
const ORGANISATIONS_MAX = 500;
/** Of a job, compressed, with its transcript: what is sent of it may be much larger. */
const LARGE_BYTES = 256 * 1024;

type Context = Pick<TableContext, 'database' | 'nowMs'>;
type DueRow = Omit<DueCallback, 'isLarge'> & { bytes: number };

export interface CallbackTables extends CallbackCalls {
  /** In the caller's transaction. @param job its number */
  add(job: number, organisationId: string, count: number): void;
}

export function createCallbackTables({ database, nowMs }: Context): CallbackTables {
  const rows = prepare(database);

  function due(after: string, perOrganisationMax: number, max: number): DueCallback[] {
    const now = nowMs();
    const found: DueCallback[] = [];
    // Those that follow, then from the first one on.
    for (const [from, next] of [
      [after, (each: string) => rows.nextOrganisation.get(each)],
      ['', (each: string) => rows.nextBefore.get(each, after)],
    ] as const) {
      let organisationId = next(from) ?? null;
      for (let looked = 0; organisationId !== null && looked < ORGANISATIONS_MAX && found.length < max; looked++) {
        const limit = Math.min(perOrganisationMax, max - found.length);
        const page = rows.due.all({ organisationId, now, limit });
        found.push(...page.map(({ bytes, ...row }) => ({ ...row, isLarge: bytes > LARGE_BYTES })));
        organisationId = next(organisationId) ?? null;
      }
    }
    return found;
  }

  function record({ number, endedAtMs, status, retryAfterMs, isForgotten }: AttemptedCallback): void {
    const nextAtMs = retryAfterMs === null ? null : nowMs() + retryAfterMs;
    const { changes } = rows.record.run({ number, endedAtMs, status, nextAtMs });
    if (changes === 1 && isForgotten && nextAtMs === null) rows.forget.run({ number });
  }

  return {
    add(job, organisationId, count) {
      for (let position = 0; position < count; position++) rows.insert.run(job, position, organisationId);
    },
    readDueCallbacks: (after, perOrganisationMax, max) => ({
      isUsed: rows.isUsed.get() === 1,
      due: due(after, perOrganisationMax, max),
    }),
    takeCallback: database.transaction((number: number, leaseMs: number) => {
      const now = nowMs();
      const isDue = rows.lease.run({ number, now, untilMs: now + leaseMs }).changes === 1;
      return isDue ? rows.toSend.get(number) : undefined;
    }),
    recordCallback: database.transaction(record),
  };
}

function prepare(database: Context['database']) {
  const next = 'SELECT min(organisation_id) FROM job_callbacks WHERE next_at_ms IS NOT NULL AND organisation_id > ?';
  return {
    insert: database.prepare<[number, number, string]>(
      'INSERT INTO job_callbacks (job, position, organisation_id) VALUES (?, ?, ?)',
    ),
    isUsed: database.prepare<[], number>('SELECT EXISTS (SELECT 1 FROM job_callbacks)').pluck(),
    nextOrganisation: database.prepare<[string], string | null>(next).pluck(),
    nextBefore: database.prepare<[string, string], string | null>(`${next} AND organisation_id <= ?`).pluck(),
    due: database.prepare<{ organisationId: string; now: number; limit: number }, DueRow>(
      `SELECT callback.number, callback.organisation_id AS organisationId, jobs.bytes
       FROM job_callbacks AS callback JOIN jobs ON jobs.number = callback.job
       WHERE callback.organisation_id = @organisationId AND next_at_ms IS NOT NULL AND next_at_ms <= @now
       ORDER BY next_at_ms, callback.number LIMIT @limit`,
    ),
    lease: database.prepare<{ number: number; now: number; untilMs: number }>(
      'UPDATE job_callbacks SET next_at_ms = @untilMs WHERE number = @number AND next_at_ms <= @now',
    ),
    toSend: database.prepare<[number], CallbackToSend>(
      `SELECT jobs.organisation_id AS organisationId, key_id AS keyId, dialect, id, position, callback.attempts,
         ended_at_ms AS endedAtMs
       FROM job_callbacks AS callback JOIN jobs ON jobs.number = callback.job WHERE callback.number = ?`,
    ),
    record: database.prepare<Omit<AttemptedCallback, 'retryAfterMs' | 'isForgotten'> & { nextAtMs: number | null }>(
      `UPDATE job_callbacks SET attempts = attempts + 1, status = @status, next_at_ms = @nextAtMs
       WHERE number = @number AND job IN (SELECT number FROM jobs WHERE ended_at_ms = @endedAtMs)`,
    ),
    forget: database.prepare<{ number: number }>(
      `DELETE FROM jobs WHERE number = (SELECT job FROM job_callbacks WHERE number = @number)
         AND NOT EXISTS (SELECT 1 FROM job_callbacks WHERE job = jobs.number AND next_at_ms IS NOT NULL)`,
    ),
  };
}
