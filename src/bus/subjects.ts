// Every name on the bus, in one place: services, topics and actor ids.

/** The service that opens a leg: answered by a node with the `upstream` role. */
export const OPEN_LEG = 'upstream.open';

/** The actor id of one leg of a session. A generation is never used twice by a session. */
export const legActor = (sessionId: string, generation: number): string => `leg.${sessionId}.${generation}`;

/** The topic that tells every node of a revoked key. */
export const KEY_REVOKED = 'key.revoked';

/** The topic that tells every node of a key that is not what it was: nothing that is remembered of it holds. */
export const KEY_CHANGED = 'key.changed';

/** The topic that tells every node of an organisation that was suspended, or reinstated. */
export const SUSPENSION = 'organisation.suspension';

export interface Suspension {
  type: typeof SUSPENSION;
  organisationId: string;
  suspended: boolean;
}

export interface KeyNews {
  type: typeof KEY_REVOKED | typeof KEY_CHANGED;
  keyId: string;
}
