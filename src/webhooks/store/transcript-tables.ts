// Transcripts of live sessions that wait for the event of their end, for a few minutes: sealed, and only of organisations with an
// endpoint that wants them.
import type { TableContext } from '../../store/table-context.ts';
import type { WebhookCalls, WebhookLimits } from './calls.ts';

type TranscriptCalls = Pick<WebhookCalls, 'wantsTranscripts' | 'keepWebhookTranscript' | 'findWebhookTranscript'>;

export interface TranscriptTables {
  calls: TranscriptCalls;
  /** Removes some whose time is over. Returns how many. */
  expire(max: number): number;
  hasExpired(): boolean;
}

export function createTranscriptTables(
  { database, nowMs }: Pick<TableContext, 'database' | 'nowMs'>,
  { transcriptBytesMax, transcriptsKeptMs, transcriptsOfOrganisation, sweptMax }: WebhookLimits,
): TranscriptTables {
  const wants = database
    .prepare<[string], number>(
      `SELECT EXISTS (SELECT 1 FROM webhook_endpoints WHERE organisation_id = ? AND state = 'enabled' AND transcripts = 1
         AND instr(events, '"session.ended"') > 0)`,
    )
    .pluck();
  const count = database
    .prepare<[string], number>('SELECT count(*) FROM webhook_transcripts WHERE organisation_id = ?')
    .pluck();
  const insert = database.prepare<[string, string, Uint8Array, number]>(
    `INSERT INTO webhook_transcripts (organisation_id, session_id, sealed, expires_at_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const find = database
    .prepare<[string, string], Uint8Array>(
      'SELECT sealed FROM webhook_transcripts WHERE organisation_id = ? AND session_id = ?',
    )
    .pluck();
  const sweep = database.prepare<[number, number]>(
    `DELETE FROM webhook_transcripts WHERE (organisation_id, session_id) IN
       (SELECT organisation_id, session_id FROM webhook_transcripts WHERE expires_at_ms <= ?
        ORDER BY expires_at_ms, session_id, organisation_id LIMIT ?)`,
  );
  const hasExpired = database
    .prepare<[number], number>('SELECT EXISTS (SELECT 1 FROM webhook_transcripts WHERE expires_at_ms <= ?)')
    .pluck();
  const expire = (max: number): number => sweep.run(nowMs(), max).changes;
  const wantsTranscripts = (organisationId: string): boolean => wants.get(organisationId) === 1;
  return {
    calls: {
      wantsTranscripts,
      keepWebhookTranscript(organisationId, sessionId, sealed) {
        if (sealed.length > transcriptBytesMax || !wantsTranscripts(organisationId)) return;
        expire(sweptMax);
        if ((count.get(organisationId) as number) >= transcriptsOfOrganisation) return;
        insert.run(organisationId, sessionId, sealed, nowMs() + transcriptsKeptMs);
      },
      findWebhookTranscript: (organisationId, sessionId) => find.get(organisationId, sessionId),
    },
    expire,
    hasExpired: () => hasExpired.get(nowMs()) === 1,
  };
}
