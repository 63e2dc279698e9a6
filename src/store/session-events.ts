// What is kept of a session that has ended, to be told again: its events as JSON, without what was said.
import { type Asynchronous, first, notes, type Operations, reads } from './operation.ts';
import type { TableContext } from './table-context.ts';

/** A failover of a session that has ended. */
export interface KeptFailover {
  sessionId: string;
  /** ISO 8601 UTC. */
  at: string;
  /** `deepgram/nova-3 to local/commands-en: upstream_closed` */
  text: string;
}

export interface SessionEventsCalls {
  /** Keeps them for a while; the oldest of the organisation make room. Of one session once: what is kept stays. */
  keepSessionEvents(organisationId: string, sessionId: string, events: string): void;
  /** Undefined where they were never kept, or are no longer. */
  findSessionEvents(organisationId: string, sessionId: string): string | undefined;
  /** Those of kept sessions from that time on: how many, and the newest. */
  listFailovers(organisationId: string, since: string, limit: number): { count: number; newest: KeptFailover[] };
}

export type SessionEventsStore = Asynchronous<SessionEventsCalls>;

export const SESSION_EVENTS_OPERATIONS = {
  keepSessionEvents: notes(first('text', 'text', 'text')),
  findSessionEvents: reads(first('text', 'text')),
  listFailovers: reads(first('text', 'text', 'number')),
} as const satisfies Operations<SessionEventsCalls>;

export interface SessionEventsLimits {
  keptMs: number;
  /** Sessions of one organisation. */
  sessionsMax: number;
  /** Of one session; longer ones are not kept. */
  charsMax: number;
  /** Rows that are too old and go with each that comes. */
  sweptMax: number;
}

export const SESSION_EVENTS_LIMITS: SessionEventsLimits = {
  keptMs: 7 * 24 * 60 * 60 * 1000,
  sessionsMax: 500,
  charsMax: 131_072,
  sweptMax: 20,
};

export function createSessionEventsTables(
  { database, nowMs }: Pick<TableContext, 'database' | 'nowMs'>,
  { keptMs, sessionsMax, charsMax, sweptMax }: SessionEventsLimits = SESSION_EVENTS_LIMITS,
): SessionEventsCalls {
  const insert = database.prepare<{ organisationId: string; sessionId: string; events: string; now: number }>(
    `INSERT INTO session_events (organisation_id, session_id, events, kept_at_ms)
     SELECT id, @sessionId, @events, @now FROM organisations WHERE id = @organisationId
     ON CONFLICT DO NOTHING`,
  );
  const find = database
    .prepare<[string, string, number], string>(
      'SELECT events FROM session_events WHERE organisation_id = ? AND session_id = ? AND kept_at_ms > ?',
    )
    .pluck();
  const sweep = database.prepare<[number, number]>(
    `DELETE FROM session_events WHERE number IN
       (SELECT number FROM session_events WHERE kept_at_ms <= ? ORDER BY kept_at_ms, number LIMIT ?)`,
  );
  const makeRoom = database.prepare<[string, number]>(
    `DELETE FROM session_events WHERE number IN
       (SELECT number FROM session_events WHERE organisation_id = ? ORDER BY number DESC LIMIT 20 OFFSET ?)`,
  );
  // Kept at the end of the session, so not before the failover.
  const failovers = database.prepare<[string, number, string, number], KeptFailover & { count: number }>(
    `SELECT session_id AS sessionId, frame.value ->> 'at' AS at, frame.value ->> 'text' AS text, count(*) OVER () AS count
     FROM session_events, json_each(session_events.events) AS frame
     WHERE organisation_id = ? AND kept_at_ms >= ? AND frame.value ->> 'mark' = 'failover' AND frame.value ->> 'at' >= ?
     ORDER BY at DESC, session_events.number DESC, frame.key DESC LIMIT ?`,
  );
  return {
    keepSessionEvents(organisationId, sessionId, events) {
      if (events.length > charsMax) return;
      const now = nowMs();
      sweep.run(now - keptMs, sweptMax);
      insert.run({ organisationId, sessionId, events, now });
      makeRoom.run(organisationId, sessionsMax);
    },
    listFailovers(organisationId, since, limit) {
      const rows = failovers.all(organisationId, Date.parse(since), since, limit);
      return { count: rows[0]?.count ?? 0, newest: rows.map(({ count: _, ...row }) => row) };
    },
    findSessionEvents: (organisationId, sessionId) => find.get(organisationId, sessionId, nowMs() - keptMs),
  };
}
