// What is kept of a session that has ended, to be told again: its events as JSON, without what was said.

export interface SessionEventsCalls {
  /** Keeps them for a while; the oldest of the organisation make room. Of one session once: what is kept stays. */
  keepSessionEvents(organisationId: string, sessionId: string, events: string): void;
  /** Undefined where they were never kept, or are no longer. */
  findSessionEvents(organisationId: string, sessionId: string): string | undefined;
}
