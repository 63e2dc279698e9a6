// What is kept of a session that has ended, to be told again: its events as JSON, without what was said.
import { first, notes, type Operations, reads } from '../operation.ts';

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

export const SESSION_EVENTS_OPERATIONS = {
  keepSessionEvents: notes(first('text', 'text', 'text')),
  findSessionEvents: reads(first('text', 'text')),
  listFailovers: reads(first('text', 'text', 'number')),
} as const satisfies Operations<SessionEventsCalls>;
